"""Notifications about one's own entries by e-mail, for those who asked for them."""
