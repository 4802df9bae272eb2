"""`vlrb edition pool|filter|build|verify|freeze|power`: from a pool to the next edition."""

from __future__ import annotations

import argparse

from vlrb.editions.building import add_build_command
from vlrb.editions.compared_editions import add_pool_commands
from vlrb.editions.edition import add_freeze_command
from vlrb.editions.filtering import add_filter_command
from vlrb.editions.power import add_power_command
from vlrb.editions.verification import add_verify_commands


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add all commands, which are in English: curators are few."""
    names = "pool|filter|build|verify|freeze|power"
    commands = parser.add_subparsers(dest="command", required=True, metavar=names)
    add_pool_commands(commands)
    add_filter_command(commands)
    add_build_command(commands)
    add_verify_commands(commands)
    add_freeze_command(commands)
    add_power_command(commands)
