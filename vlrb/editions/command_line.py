"""`vlrb edition pool|filter|build|verify|freeze|signatures|upload|power`: from a pool to the next edition."""

from __future__ import annotations

import argparse
import os

from vlrb.common.command_line import CommandParser, complain
from vlrb.common.messages import _
from vlrb.editions.errors import CurateError, UnfinishedError

OPEN, USAGE = 1, 2  # as of `vlrb judge`


def run(arguments: list[str]) -> int:
    """Run one command; returns the exit code."""
    parsed = command_line().parse_args(arguments)
    parsed.variables = os.environ
    try:
        return int(parsed.run(parsed))
    except UnfinishedError as error:
        complain(error)
        return OPEN
    except CurateError as error:
        complain(error)
        return USAGE
    except BrokenPipeError:
        raise
    except OSError as error:
        complain(f"{error.filename or _('The command')}: {error.strerror or error}.")
        return USAGE


def command_line() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    from vlrb.editions.commands.build_command import add_build_command
    from vlrb.editions.commands.duplicates_command import add_pool_commands
    from vlrb.editions.commands.edition_command import add_edition_command
    from vlrb.editions.commands.filter_command import add_filter_command
    from vlrb.editions.commands.power_command import add_power_command
    from vlrb.editions.commands.signatures_command import add_signatures_command
    from vlrb.editions.commands.upload_command import add_upload_command
    from vlrb.editions.commands.verify_command import add_verify_commands

    parser = CommandParser(
        prog="vlrb edition",
        description=_(
            "`vlrb edition pool|filter|build|verify|freeze|signatures|upload|power`: from a pool of pairs "
            "to the next edition."
        ),
    )
    names = "pool|filter|build|verify|freeze|signatures|upload|power"
    commands = parser.add_subparsers(dest="command", required=True, metavar=names)
    add_pool_commands(commands)
    add_filter_command(commands)
    add_build_command(commands)
    add_verify_commands(commands)
    add_edition_command(commands)
    add_signatures_command(commands)
    add_upload_command(commands)
    add_power_command(commands)
    return parser
