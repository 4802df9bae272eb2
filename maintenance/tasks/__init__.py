"""The section of the maintain page about what workers were asked."""
