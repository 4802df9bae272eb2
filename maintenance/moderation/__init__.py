"""Entries as maintainers search and see them, and their section of the maintain page."""
