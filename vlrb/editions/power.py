"""`vlrb edition power`: how many pairs a category needs until neighbours on today's board separate."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from vlrb.common.json_files import read_object
from vlrb.editions.errors import CurateError
from vlrb.statistics.power import pairs_to_separate
from vlrb.statistics.uncertainty import wilson

_TOP = 10  # judges that are compared
_ACCURACY = 0.6  # of a judge whose interval is told


def add_power_command(commands: Any) -> None:
    """Add `power`."""
    parser = commands.add_parser("power", help="pairs that a category needs", allow_abbrev=False)
    parser.add_argument("board", type=Path, nargs="?", metavar="FILE", help="JSON of /api/v1/leaderboard")
    pairs = f"width of an interval at {_ACCURACY:.0%} for N pairs (repeatable)"
    parser.add_argument("--pairs", type=int, action="append", default=[], metavar="N", help=pairs)
    discordant = "pairs on which one of two judges is right"
    parser.add_argument("--discordant", type=float, metavar="SHARE", help=discordant)
    parser.set_defaults(run=power_command)


def power_command(arguments: argparse.Namespace) -> int:
    """Print what a benchmark of some size can tell. Returns the exit code."""
    board, share, sizes = arguments.board, arguments.discordant, arguments.pairs
    if (board is None and not sizes) or min(sizes, default=1) < 1 or not 0 < (share or 0.5) < 1:
        raise CurateError("Give a board or --pairs, numbers from 1; --discordant takes a share between 0 and 1.")
    for category, scores in (_scores(board) if board else {}).items():
        for one in neighbours(scores, discordant=share):
            high, low = one["accuracies"]
            result = "are equal" if one["pairs"] is None else f"separate from {one['pairs']:,} pairs on"
            print(f"{category}: {one['better']} ({high:.1%}) and {one['worse']} ({low:.1%}) {result}")
    for n in sizes:
        low, high = wilson(_ACCURACY * n, n)
        print(f"{n:,} pairs: the 95% interval of {_ACCURACY:.1%} is {100 * (high - low):.1f} points wide")
    return 0


def _scores(path: Path) -> dict[str, dict[str, float]]:
    """Return category -> judge -> accuracy of scored entries: what has an interval, which no cost has."""
    scores: dict[str, dict[str, float]] = {}
    for entry in read_object(path, "entries")["entries"]:
        if isinstance(entry, Mapping) and isinstance(entry.get("interval"), Mapping) and "model" in entry:
            judge = f"{entry['model']} {entry.get('version') or ''}".strip()
            for name in entry["interval"]:
                if type(entry.get(name)) is float:
                    scores.setdefault(name, {})[judge] = entry[name]
    if not scores:
        raise CurateError(f"{path} has no scores. Save the JSON of /api/v1/leaderboard.")
    return scores


def neighbours(scores: Mapping[str, float], *, discordant: float | None) -> Iterator[dict[str, Any]]:
    """Yield, for the best judges of a category from the first on, what separates each from the next one.

    Without ``discordant`` they are taken as independent, which has more discordant pairs than real judges have.
    """
    ordered = sorted(scores.items(), key=lambda score: -score[1])[:_TOP]
    for (better, high), (worse, low) in pairwise(ordered):
        share = high * (1 - low) + low * (1 - high) if discordant is None else max(discordant, high - low)
        pairs = pairs_to_separate(high - low, discordant=share)
        yield {"better": better, "worse": worse, "accuracies": (high, low), "pairs": pairs}
