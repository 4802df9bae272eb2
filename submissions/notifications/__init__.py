"""E-mail to submitters about their own entries, for those who asked for it."""
