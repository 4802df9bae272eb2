"""Subcommands of `python -m curate`."""
