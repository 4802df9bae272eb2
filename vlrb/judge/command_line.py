"""`vlrb judge run|status|submit`: from a model to predictions, and into the service."""

from __future__ import annotations

import argparse
from pathlib import Path

from vlrb.common.command_line import CommandParser, complain
from vlrb.common.messages import _
from vlrb.judge import JudgeError

USAGE = 2


def run(arguments: list[str]) -> int:
    """Run one command; returns its exit code."""
    parser = command_line()
    parsed, rest = parser.parse_known_args(arguments)
    if rest and parsed.command != "submit":  # which hands further options on
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    parsed.rest = rest
    try:
        return int(parsed.run(parsed))
    except JudgeError as error:
        complain(error)
        return USAGE
    except BrokenPipeError:
        raise
    except OSError as error:
        complain(f"{error.filename or _('The command')}: {error.strerror or error}.")
        return USAGE


def _run(arguments: argparse.Namespace) -> int:
    from vlrb.judge.commands.run_command import run_command  # the client library; only this needs it

    return run_command(arguments)


def command_line() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    from vlrb.judge.commands import status_command, submit_command
    from vlrb.judge.options import add_endpoint_options, add_question_options

    parser = CommandParser(prog="vlrb judge", description=_("From a model to predictions, and into the service."))
    commands = parser.add_subparsers(dest="command", required=True, metavar="run|status|submit")
    run = commands.add_parser("run", help=_("ask a model; with a journal in DIR, go on"), allow_abbrev=False)
    add_question_options(run)
    add_endpoint_options(run)
    run.set_defaults(run=_run)
    status = commands.add_parser("status", help=_("how far a run is"))
    status.add_argument("directory", type=Path, metavar="DIR")
    status.add_argument("--json", action="store_true", help=_("print JSON only"))
    status.set_defaults(run=status_command.status_command)
    submit = commands.add_parser("submit", help=_("submit the predictions of a run"), allow_abbrev=False)
    submit.add_argument("directory", type=Path, metavar="DIR")
    submit.add_argument("--model", required=True, metavar="NAME", help=_("name of the judge on the board"))
    submit.set_defaults(run=submit_command.submit_command)
    return parser
