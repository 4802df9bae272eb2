"""Accounts, as maintainers find and name them, and their section of the maintain page."""
