"""`python -m leaderboard`. Everything else is imported where Ctrl-C ends it quietly."""

from __future__ import annotations

import sys

from vlrb.common.command_line import exit_code


def main(arguments: list[str]) -> int:
    """Run one command; returns its exit code."""
    return exit_code(lambda: _run(arguments))


def _run(arguments: list[str]) -> int:
    from leaderboard.command_line import run

    return run(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
