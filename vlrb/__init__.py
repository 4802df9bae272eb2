"""Judgements of vision-language judges: readers of prediction files, scoring, statistics, published numbers.

`read`, `score`, `compare`, `board` and `check_numbers` are those of vlrb/commands/interface.py, imported at first use.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vlrb.commands.interface import JudgeVotes, Scorecard, board, check_numbers, compare, read, score

__all__ = ["JudgeVotes", "Scorecard", "board", "check_numbers", "compare", "read", "score"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'vlrb' has no attribute '{name}'")
    from vlrb.commands import interface

    return getattr(interface, name)
