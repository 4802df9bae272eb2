"""`python -m workers`. Everything else is imported where Ctrl-C ends it quietly."""

from __future__ import annotations

from collections.abc import Sequence

from common.exit_deadline import WORKER_SECONDS, run_until_signal
from vlrb.common.command_line import exit_code


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code."""
    return exit_code(lambda: _run(arguments))


def _run(arguments: Sequence[str] | None) -> int:
    from workers.command_line import run

    return run(arguments)


if __name__ == "__main__":
    run_until_signal(main, WORKER_SECONDS)
