"""Replica of an installation: the database by Litestream, its files, and the key, in a place that outlives the disk."""
