"""Subcommands of `vlrb.judge`."""
