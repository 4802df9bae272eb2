"""Subcommands of `python -m judge`."""
