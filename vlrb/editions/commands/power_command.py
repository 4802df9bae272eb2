"""`vlrb edition power`: how many pairs each category needs until neighbours on today's board separate."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from vlrb.common.command_line import say
from vlrb.common.messages import _
from vlrb.editions.errors import CurateError
from vlrb.editions.power import NeighbourPower, interval_width, neighbours, pairs_for_width

_NO_CATEGORY = frozenset(
    {"rank", "interval", "decided_rate", "votes_per_item", "parameters_b", "price_usd", "wall_seconds"}
)


def add_power_command(commands: Any) -> None:
    """Add `power`."""
    parser = commands.add_parser("power", help=_("pairs that a category needs"), allow_abbrev=False)
    parser.add_argument(
        "board", type=Path, nargs="?", metavar="FILE", help=_("of /api/v1/leaderboard, or judge -> category -> share")
    )
    parser.add_argument("--category", action="append", default=[], metavar="KEY", help=_("(all; repeatable)"))
    parser.add_argument(
        "--pairs", type=int, action="append", default=[], metavar="N", help=_("width of an interval for N")
    )
    parser.add_argument(
        "--accuracy", type=float, default=0.6, metavar="SHARE", help=_("of the judge in question (0.6)")
    )
    parser.add_argument("--width", type=float, metavar="SHARE", help=_("pairs for an interval at most so wide"))
    parser.add_argument(
        "--discordant", type=float, metavar="SHARE", help=_("pairs on which one of two judges is right")
    )
    parser.add_argument("--power", type=float, default=0.8, metavar="SHARE", help="(0.8)")
    parser.add_argument("--top", type=int, default=10, metavar="N", help=_("judges that are compared (10)"))
    parser.add_argument("--json", action="store_true", help=_("print JSON only"))
    parser.set_defaults(run=power_command)


def power_command(arguments: argparse.Namespace) -> int:
    """Print what a benchmark of some size can tell. Returns the exit code."""
    _check(arguments)
    powers: list[NeighbourPower] = []
    if arguments.board is not None:
        for category, scores in _scores(arguments.board, arguments.category).items():
            best = dict(sorted(scores.items(), key=lambda item: -item[1])[: arguments.top])
            powers += neighbours(category, list(best.items()), discordant=arguments.discordant, power=arguments.power)
    widths = {n: interval_width(arguments.accuracy, n) for n in arguments.pairs}
    wanted = pairs_for_width(arguments.accuracy, arguments.width) if arguments.width is not None else None
    if arguments.json:
        print(
            json.dumps(
                {
                    "neighbours": [asdict(power) for power in powers],
                    "widths": widths,
                    "pairs_for_width": wanted,
                }
            )
        )
        return 0
    for power in powers:
        say(_line(power))
    for n, width in widths.items():
        say(
            _(
                "{n:,} pairs: the 95% interval of {accuracy:.1%} is {points:.1f} points wide",
                n=n,
                accuracy=arguments.accuracy,
                points=100 * width,
            )
        )
    if wanted is not None:
        say(
            _(
                "An interval of {points:.1f} points at {accuracy:.1%} takes {wanted:,} pairs",
                points=100 * arguments.width,
                accuracy=arguments.accuracy,
                wanted=wanted,
            )
        )
    return 0


def _check(arguments: argparse.Namespace) -> None:
    if arguments.board is None and not arguments.pairs and arguments.width is None:
        raise CurateError(_("Give a board, --pairs or --width."))
    shares = {"--accuracy": arguments.accuracy, "--power": arguments.power, "--width": arguments.width}
    for name, value in (shares | {"--discordant": arguments.discordant}).items():
        if value is not None and not 0 < value < 1:
            raise CurateError(_("{name} {value}: give a share between 0 and 1, such as 0.6.", name=name, value=value))
    if any(n < 1 for n in arguments.pairs) or arguments.top < 2:
        raise CurateError(_("--pairs takes numbers from 1, --top from 2."))


def _line(power: NeighbourPower) -> str:
    high, low = power.accuracies
    names: dict[str, Any] = {
        "category": power.category,
        "better": power.better,
        "high": high,
        "worse": power.worse,
        "low": low,
    }
    if power.pairs is None:
        return _("{category}: {better} ({high:.1%}) and {worse} ({low:.1%}) are equal", **names)
    return _(
        "{category}: {better} ({high:.1%}) and {worse} ({low:.1%}) separate from {pairs:,} pairs on",
        pairs=power.pairs,
        **names,
    )


def _scores(path: Path, wanted: list[str]) -> dict[str, dict[str, float]]:
    """Return category -> judge -> accuracy."""
    try:
        data = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        why = error.strerror if isinstance(error, OSError) else _("this is not JSON")
        raise CurateError(
            _("{path} cannot be read ({error}). Save the JSON of /api/v1/leaderboard.", path=path, error=why)
        ) from None
    judges = _of_board(data) if isinstance(data, Mapping) and isinstance(data.get("entries"), list) else data
    scores: dict[str, dict[str, float]] = {}
    for judge, values in judges.items() if isinstance(judges, Mapping) else ():
        for category, value in values.items() if isinstance(values, Mapping) else ():
            if isinstance(value, float | int) and not isinstance(value, bool) and 0 <= value <= 1:
                scores.setdefault(category, {})[judge] = float(value)
    chosen = {key: score for key, score in scores.items() if key in wanted} if wanted else scores
    if not chosen or set(wanted) - set(scores):
        raise CurateError(
            _(
                "{path} has no scores of {categories}; it has {names}.",
                path=path,
                categories=", ".join(wanted) or _("any category"),
                names=", ".join(scores) or _("no shares from 0 to 1"),
            )
        )
    return chosen


def _of_board(data: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    entries = [entry for entry in data["entries"] if isinstance(entry, Mapping) and "model" in entry]
    scored = [entry for entry in entries if entry.get("tier", "scored") == "scored"]
    return {f"{entry['model']} {entry.get('version') or ''}".strip(): _accuracies(entry) for entry in scored}


def _accuracies(entry: Mapping[str, Any]) -> dict[str, float]:
    """Return the shares of an entry: what has an interval, since a cost or a time may be below 1, too."""
    given = entry.get("interval")
    names = set(given) if isinstance(given, Mapping) and given else set(entry) - _NO_CATEGORY
    return {name: value for name, value in entry.items() if isinstance(value, float) and name in names}
