"""Notifications about one's own entries by e-mail and webhook, for those who asked for them."""
