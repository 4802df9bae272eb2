"""Needs of a comparison that is to tell two judges apart: pairs, and more than one vote. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from math import sqrt
from statistics import median
from typing import Any

from leaderboard.ranking.differences import Pair
from leaderboard.site.cache import BoardVersion
from vlrb.common.messages import Message, _
from vlrb.common.rounding import one_decimal
from vlrb.protocols import category_counts
from vlrb.scoring import Tally
from vlrb.statistics.power import pairs_to_separate, smallest_gap
from vlrb.statistics.reliability import rerun_error
from vlrb.statistics.uncertainty import Z

_SEVERAL = 3  # votes, from which on a judge tells how it differs from itself
_MOST_ASKED = 50  # judges whose votes are looked at


@dataclass(frozen=True, slots=True)
class Separation:
    """Pairs that separate two judges with a power of 80%, from the share on which exactly one is right.

    ``pairs``: that there are. ``needed``: None where they are equally good. ``smallest_gap``: that is separated; None
    where they differ on too few.
    """

    pairs: int
    discordant: float
    needed: int | None
    smallest_gap: float | None


def separation(pair: Pair) -> Separation | None:
    """Return what separates two judges by all pairs; None where they were not compared pair by pair as a count."""
    known = pair.of(pair.spec.pooled)
    if known is None or known.only_first is None or known.only_second is None or not known.n:
        return None
    share = (known.only_first + known.only_second) / known.n
    if not share:
        return None
    needed = pairs_to_separate(known.delta, discordant=share)
    return Separation(known.n, share, needed=needed, smallest_gap=smallest_gap(known.n, discordant=share))


def separation_json(pair: Pair) -> dict[str, Any] | None:
    """Return the same for programs, as fractions."""
    known = separation(pair)
    return None if known is None else asdict(known)


def sentences(board_version: BoardVersion, pair: Pair, *, revision: str = "") -> Iterator[Message]:
    """Yield how many pairs it takes, and that one vote may not be enough."""
    known, pooled = separation(pair), pair.of(pair.spec.pooled)
    if known is not None and pooled is not None:
        yield _(
            "Exactly one of them is right on {share:.1%} of {pairs:,} pairs.", share=known.discordant, pairs=known.pairs
        )
        if known.needed is not None:
            yield _(
                "A gap of {gap} points takes about {needed:,} pairs to separate (power 80%).",
                gap=one_decimal(100 * abs(pooled.delta)),
                needed=known.needed,
            )
        if known.smallest_gap is not None:
            yield _("These pairs separate {gap} points.", gap=one_decimal(100 * known.smallest_gap))
    if pooled is not None and 1 in (pair.first.votes_per_item, pair.second.votes_per_item):
        within = typical_rerun_variance(board_version, revision or str(board_version.snapshot["label_revision"]))
        size = board_version.board(revision=revision).sizes.get(pair.spec.pooled)
        if within is not None and size and abs(pooled.delta) < (most := Z * sqrt(2 * within / size)):
            yield _(
                "With one vote per pair, two runs of one judge differ by up to {most} points by chance (in 95 of 100 "
                "cases, by the judges here with several votes): this difference is within that.",
                most=one_decimal(100 * most),
            )


def typical_rerun_variance(board_version: BoardVersion, revision: str) -> float | None:
    """Return the median variance of a vote about its pair, of judges with several votes; None without one."""
    if board_version.is_redacted(revision):
        return None
    several = (
        Tally.from_json(entry["tallies"][revision], board_version.spec)
        for entry in board_version.snapshot["entries"]
        if entry["votes_per_item"] >= _SEVERAL and revision in entry["tallies"]
    )
    errors = [
        rerun_error(category_counts(tally.agreeing, tally.spec).sum(axis=0)) for tally in islice(several, _MOST_ASKED)
    ]
    return median([error.within for error in errors if error]) if any(errors) else None
