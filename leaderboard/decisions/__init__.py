"""The public decision log."""
