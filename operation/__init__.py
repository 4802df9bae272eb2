"""Operation of an installation: replica, restore, checks of stored files, metrics, status."""
