"""`vlrb edition power`: how many pairs each category needs until neighbours on today's board separate."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from vlrb.editions.errors import CurateError
from vlrb.editions.pools.pool import read_json
from vlrb.statistics.power import pairs_to_separate
from vlrb.statistics.uncertainty import wilson


def add_power_command(commands: Any) -> None:
    """Add `power`."""
    parser = commands.add_parser("power", help="pairs that a category needs", allow_abbrev=False)
    board = "of /api/v1/leaderboard, or judge -> category -> share"
    parser.add_argument("board", type=Path, nargs="?", metavar="FILE", help=board)
    parser.add_argument("--category", action="append", default=[], metavar="KEY", help="(all; repeatable)")
    parser.add_argument(
        "--pairs", type=int, action="append", default=[], metavar="N", help="width of an interval for N"
    )
    parser.add_argument("--accuracy", type=float, default=0.6, metavar="SHARE", help="of the judge in question (0.6)")
    parser.add_argument("--width", type=float, metavar="SHARE", help="pairs for an interval at most so wide")
    discordant = "pairs on which one of two judges is right"
    parser.add_argument("--discordant", type=float, metavar="SHARE", help=discordant)
    parser.add_argument("--power", type=float, default=0.8, metavar="SHARE", help="(0.8)")
    parser.add_argument("--top", type=int, default=10, metavar="N", help="judges that are compared (10)")
    parser.add_argument("--json", action="store_true", help="print JSON only")
    parser.set_defaults(run=power_command)


def power_command(arguments: argparse.Namespace) -> int:
    """Print what a benchmark of some size can tell. Returns the exit code."""
    _check(arguments)
    accuracy: float = arguments.accuracy
    found: list[dict[str, Any]] = []
    for category, scores in _scores(arguments.board, arguments.category).items() if arguments.board else ():
        best = dict(sorted(scores.items(), key=lambda item: -item[1])[: arguments.top])
        found += neighbours(category, best, discordant=arguments.discordant, power=arguments.power)
    widths = {n: interval_width(accuracy, n) for n in arguments.pairs}
    wanted = pairs_for_width(accuracy, arguments.width) if arguments.width is not None else None
    if arguments.json:
        print(json.dumps({"neighbours": found, "widths": widths, "pairs_for_width": wanted}))
        return 0
    for one in found:
        high, low = one["accuracies"]
        result = "are equal" if one["pairs"] is None else f"separate from {one['pairs']:,} pairs on"
        print(f"{one['category']}: {one['better']} ({high:.1%}) and {one['worse']} ({low:.1%}) {result}")
    for n, width in widths.items():
        print(f"{n:,} pairs: the 95% interval of {accuracy:.1%} is {100 * width:.1f} points wide")
    if wanted is not None:
        print(f"An interval of {100 * arguments.width:.1f} points at {accuracy:.1%} takes {wanted:,} pairs")
    return 0


def _check(arguments: argparse.Namespace) -> None:
    if arguments.board is None and not arguments.pairs and arguments.width is None:
        raise CurateError("Give a board, --pairs or --width.")
    for name in ("accuracy", "power", "width", "discordant"):
        value = getattr(arguments, name)
        if value is not None and not 0 < value < 1:
            raise CurateError(f"--{name} {value}: give a share between 0 and 1, such as 0.6.")
    if any(n < 1 for n in arguments.pairs) or arguments.top < 2:
        raise CurateError("--pairs takes numbers from 1, --top from 2.")


def _scores(path: Path, wanted: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return category -> judge -> accuracy."""
    data = read_json(path)
    judges = _of_board(data["entries"]) if isinstance(data.get("entries"), list) else data
    scores: dict[str, dict[str, float]] = {}
    for judge, values in judges.items():
        for category, value in values.items() if isinstance(values, Mapping) else ():
            if type(value) is float and 0 <= value <= 1 and (not wanted or category in wanted):
                scores.setdefault(category, {})[judge] = value
    if not scores or set(wanted) - set(scores):
        names = sorted({name for values in judges.values() if isinstance(values, Mapping) for name in values})
        raise CurateError(f"{path} has no scores of {', '.join(wanted) or 'any category'}; it has {', '.join(names)}.")
    return scores


def _of_board(entries: Sequence[Any]) -> dict[str, dict[str, Any]]:
    """Return the shares of scored entries: what has an interval, since a cost or a time may be below 1, too."""
    judges = {}
    for entry in entries:
        if isinstance(entry, Mapping) and isinstance(entry.get("interval"), Mapping) and "model" in entry:
            shares = {name: entry.get(name) for name in entry["interval"]}
            judges[f"{entry['model']} {entry.get('version') or ''}".strip()] = shares
    return judges


def interval_width(accuracy: float, pairs: int) -> float:
    """Return the width of the 95% Wilson interval of an accuracy on so many pairs."""
    low, high = wilson(accuracy * pairs, pairs)
    return float(high - low)


def pairs_for_width(accuracy: float, width: float) -> int:
    """Return the smallest number of pairs with an interval at most so wide, a share between 0 and 1."""
    low, high = 0, 1
    while interval_width(accuracy, high) > width:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if interval_width(accuracy, middle) > width else (low, middle)
    return high


def neighbours(
    category: str, scores: Mapping[str, float], *, discordant: float | None, power: float = 0.8
) -> Iterator[dict[str, Any]]:
    """Yield, for the judges of a category from the best on, what separates each from the next one.

    Without ``discordant`` they are taken as independent, which has more discordant pairs than real judges have.
    """
    ordered = sorted(scores.items(), key=lambda score: -score[1])
    for (better, high), (worse, low) in pairwise(ordered):
        usual = high * (1 - low) + low * (1 - high)
        share = usual if discordant is None else max(discordant, high - low)
        yield {
            "category": category, "better": better, "worse": worse, "accuracies": (high, low), "discordant": share,
            "pairs": pairs_to_separate(high - low, discordant=share, power=power),
        }  # fmt: skip
