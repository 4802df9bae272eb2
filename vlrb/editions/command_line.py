"""`vlrb edition pool|filter|build|verify|freeze|upload|power`: from a pool to the next edition."""

from __future__ import annotations

import argparse
import os

from vlrb.common.command_line import CommandParser


def run(arguments: list[str]) -> int:
    """Run one command; returns the exit code."""
    parsed = command_line().parse_args(arguments)
    parsed.variables = os.environ
    return int(parsed.run(parsed))


def command_line() -> argparse.ArgumentParser:
    """Return the parser of all commands, which are in English: curators are few."""
    from vlrb.editions.building import add_build_command
    from vlrb.editions.compared_editions import add_pool_commands
    from vlrb.editions.edition import add_freeze_command
    from vlrb.editions.filtering import add_filter_command
    from vlrb.editions.hub import add_upload_command
    from vlrb.editions.power import add_power_command
    from vlrb.editions.verification import add_verify_commands

    names = "pool|filter|build|verify|freeze|upload|power"
    about = f"`vlrb edition {names}`: from a pool of pairs to the next edition."
    parser = CommandParser(prog="vlrb edition", description=about)
    commands = parser.add_subparsers(dest="command", required=True, metavar=names)
    for add in (
        add_pool_commands, add_filter_command, add_build_command, add_verify_commands, add_freeze_command,
        add_upload_command, add_power_command,
    ):  # fmt: skip
        add(commands)
    return parser
