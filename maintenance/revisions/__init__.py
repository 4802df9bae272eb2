"""The section of the maintain page about label revisions: import, preview, apply, undo, retire."""
