"""`vlrb edition power`: how many pairs a category needs until neighbours on today's board separate."""

from __future__ import annotations

import argparse
from itertools import pairwise
from pathlib import Path
from typing import Any

from vlrb.common.command_line import CommandError
from vlrb.common.json_files import read_object
from vlrb.statistics.power import pairs_to_separate

_TOP = 10  # judges that are compared


def add_power_command(commands: Any) -> None:
    """Add `power`."""
    parser = commands.add_parser("power", help="pairs that a category needs", allow_abbrev=False)
    parser.add_argument("board", type=Path, metavar="FILE", help="JSON of /api/v1/leaderboard")
    discordant = "pairs on which one of two judges is right (as of independent judges, which is more)"
    parser.add_argument("--discordant", type=float, metavar="SHARE", help=discordant)
    parser.set_defaults(run=power_command)


def power_command(options: argparse.Namespace) -> int:
    """Print what separates neighbours among the best judges of each category. Returns the exit code."""
    if not 0 < (0.5 if options.discordant is None else options.discordant) < 1:
        raise CommandError("--discordant takes a share between 0 and 1.")
    for category, scores in _scores(options.board).items():
        for (better, high), (worse, low) in pairwise(sorted(scores.items(), key=lambda score: -score[1])[:_TOP]):
            independent = high * (1 - low) + low * (1 - high)
            share = independent if options.discordant is None else max(options.discordant, high - low)
            pairs = pairs_to_separate(high - low, discordant=share)
            result = "are equal" if pairs is None else f"separate from {pairs:,} pairs on"
            print(f"{category}: {better} ({high:.1%}) and {worse} ({low:.1%}) {result}")
    return 0


def _scores(path: Path) -> dict[str, dict[str, float]]:
    """Return category -> judge -> accuracy of what has an interval: scores, reported ones too, and no cost."""
    scores: dict[str, dict[str, float]] = {}
    for entry in read_object(path, "entries")["entries"]:
        judge = f"{entry.get('model')} {entry.get('version') or ''}".strip()
        for name in entry.get("interval") or ():
            if entry.get(name) is not None:
                scores.setdefault(name, {})[judge] = entry[name]
    if not scores:
        raise CommandError(f"{path} has no scores. Save the JSON of /api/v1/leaderboard.")
    return scores
