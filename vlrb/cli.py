"""The command line `vlrb`. Each command imports what it needs, so that all start fast."""

from __future__ import annotations

import gc
import os
import sys
from importlib import import_module

from vlrb.common.command_line import MISUSED, CommandError, CommandParser, complain, exit_code
from vlrb.common.messages import _

COMMANDS = {
    "check": ("vlrb.commands.check", _("check a prediction file without labels")),
    "score": ("vlrb.commands.score", _("score a prediction file offline")),
    "submit": ("vlrb.client.submit", _("upload predictions to a server")),
    "status": ("vlrb.client.status", _("state, position and result of a submission")),
    "edit": ("vlrb.client.edit", _("change what an entry of yours says, publish it, or move its anonymity")),
    "withdraw": ("vlrb.client.withdraw", _("take an entry of yours off the board; date and reason stay public")),
    "verify": ("vlrb.client.verify", _("check a receipt offline: signature, file, place in the audit chain")),
    "board": ("vlrb.client.board", _("print the board of a server")),
    "items": ("vlrb.client.items", _("write the pairs of a revision, from the Hub, to a file; without labels")),
    "numbers": ("vlrb.commands.numbers", _("check published percentages")),
    "judge": ("vlrb.judge.command_line", _("ask a model about every pair")),
    "edition": ("vlrb.editions.command_line", _("make the next edition of a benchmark from a pool of pairs")),
    "completion": (
        "vlrb.commands.completion",
        _("print what completes commands and options in bash, and in zsh after bashcompinit"),
    ),
}
"""Command -> module with `add_options(parser)`, and `run(options) -> exit code` if the parser names none; its use."""


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns its exit code. `arguments`: those of the process if left out."""
    # Before numpy is imported: matrices are small, and on a busy machine several BLAS threads wait for one another.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    given = sys.argv[1:] if arguments is None else arguments
    return exit_code(lambda: _run(given))


def command_line(name: str) -> CommandParser:
    """Return the parser of a command."""
    path, about = COMMANDS[name]
    module, parser = import_module(path), CommandParser(prog=f"vlrb {name}", description=about)
    parser.set_defaults(run=getattr(module, "run", None))
    module.add_options(parser)
    return parser


def _run(arguments: list[str]) -> int:
    if arguments and arguments[0] in COMMANDS:
        return _run_command(*arguments)
    parser = CommandParser(prog="vlrb", description=_("Check, score and judge vision-language reward benchmarks."))
    commands = parser.add_subparsers(required=True, metavar="|".join(COMMANDS))
    for name, (_module, about) in COMMANDS.items():
        commands.add_parser(name, help=about)
    parser.parse_args(arguments)
    return 0


def _run_command(name: str, *arguments: str) -> int:
    if name in ("check", "score"):
        gc.disable()  # a short process that makes no cycles; looking for them takes a tenth of its time
    try:
        options = command_line(name).parse_args(arguments)
        return int(options.run(options))
    except CommandError as error:
        complain(error)
        return MISUSED
    except BrokenPipeError:
        raise
    except FileNotFoundError as error:
        complain(_("{filename} does not exist.", filename=error.filename))
        return MISUSED
    except OSError as error:
        complain(f"{error.filename or _('The command')}: {error.strerror or error}.")
        return MISUSED
    finally:
        gc.enable()
