"""Command line `python -m leaderboard check-numbers`: counts that fit published percentages."""

from __future__ import annotations

import argparse
import json
import sys

from benchmark.spec import DEFAULT_BENCHMARK, load_spec
from leaderboard.pages import number_check

FITS, DOES_NOT, USAGE = 0, 1, 2


def main(arguments: list[str]) -> int:
    """Run one command; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m leaderboard", description="Tools for readers of the board.")
    commands = parser.add_subparsers(required=True, metavar="check-numbers")
    command = commands.add_parser(
        "check-numbers", help="do published percentages add up, and under which categories", epilog=_EPILOG
    )
    for name in load_spec(DEFAULT_BENCHMARK).score_names:
        command.add_argument(f"--{name}", default="", metavar="PERCENT", help="as printed: 71.9 is not 71.90")
    command.add_argument("--json", action="store_true", help="print the answer as JSON")
    command.set_defaults(run=check_numbers)
    parsed = parser.parse_args(arguments)
    return int(parsed.run(parsed))


_EPILOG = "Exit code: 0 the figures fit all items of some grouping, 1 they do not, 2 they cannot be read."


def check_numbers(arguments: argparse.Namespace) -> int:
    """Print what arithmetic says about the figures."""
    try:
        spec = load_spec(DEFAULT_BENCHMARK)
        given = {name: getattr(arguments, name) for name in spec.score_names}
        found = number_check.answer(number_check.read(given, spec))
    except number_check.BadFigures as wrong:
        print(f"--{wrong.field}: {wrong}" if wrong.field else str(wrong), file=sys.stderr)
        return USAGE
    print(
        json.dumps(number_check.to_json(found))
        if arguments.json
        else "\n".join([number_check.headline(found), *found.sentences])
    )
    return FITS if found.verdict == "fits" else DOES_NOT


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
