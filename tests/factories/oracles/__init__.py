"""Slow, obviously right ways to the same numbers."""
