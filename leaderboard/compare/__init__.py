"""Comparison of two to five entries: page and JSON."""
