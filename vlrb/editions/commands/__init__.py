"""Subcommands of `vlrb.editions`."""
