"""The browser of pairs."""
