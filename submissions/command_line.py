"""``python -m submissions submit|status|publish|anonymity|verify``.

Starts fast: each command imports what it needs.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from vlrb.common.command_line import CommandParser
from vlrb.common.messages import _

USAGE = 2


def run(arguments: list[str]) -> int:
    """Run one command; returns the exit code."""
    parsed = command_line(arguments).parse_args(arguments)
    return int(parsed.run(parsed))


def command_line(arguments: list[str]) -> argparse.ArgumentParser:
    """Return the commands, with the options of those that the arguments may mean."""
    about = _("Submit prediction files, and check receipts.")
    parser = CommandParser(prog="python -m submissions", description=about)
    names = "submit|status|publish|anonymity|verify"
    commands = parser.add_subparsers(dest="command", required=True, metavar=names)
    _add_verify(commands, arguments)
    if arguments[:1] != ["verify"]:
        from submissions import client  # the HTTP client's options; `verify` need not wait for them

        client.add_commands(commands, os.environ)
    return parser


def _add_verify(commands: Any, arguments: list[str]) -> None:
    verify = commands.add_parser("verify", help=_("check a receipt offline: signature, file, place in the audit chain"))
    if arguments[:1] != ["verify"]:
        return  # its options need the signature library, for which nobody else should wait
    from receipts import cli
    from vlrb.commands.score import count_file
    from vlrb.scoring import Tally

    cli.add_options(verify)

    def count(*arguments: Any, **named: Any) -> Tally:
        try:
            return count_file(*arguments, **named)
        except (ValueError, OSError) as error:
            raise cli.UnusableInput(str(error)) from None

    def run(options: argparse.Namespace) -> int:
        output = cli.run(options, count)
        print(output.text, file=sys.stderr if output.code == USAGE else sys.stdout)
        return output.code

    verify.set_defaults(run=run)
