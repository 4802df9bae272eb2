"""The board's entries, their counts and their ranks, for previews and re-scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import orjson
from sqlalchemy import select
from sqlalchemy.orm import Session

from storage.clock import iso
from storage.models.core import Score, Submission
from storage.visibility import REMOVED, UNPUBLISHED
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.protocols import accuracies, ratios
from vlrb.scoring import fields, slices
from vlrb.statistics.ranking import RankingEntry, standings

_FEW = 500  # ids that a query may name


class BoardEntry(NamedTuple):
    """An entry that the public sees."""

    id: str
    model: str
    version: str
    created_at: float


def entries_on_board(session: Session, benchmark: str, *, revision: str, version: str) -> list[BoardEntry]:
    """Return the entries with a score under a revision that are published and neither hidden nor withdrawn;
    by age."""
    on_board = (~REMOVED, ~UNPUBLISHED)
    rows = session.execute(
        select(*(getattr(Submission, name) for name in BoardEntry._fields))
        .join(Score, Score.submission_id == Submission.id)
        .where(
            Score.benchmark == benchmark, Score.label_revision == revision, Score.scorer_version == version, *on_board
        )
        .order_by(Submission.created_at, Submission.id)
    )
    return [BoardEntry(*row) for row in rows]


def stored_counts(
    session: Session, ids: Sequence[str], *, spec: BenchmarkSpec, revision: str, version: str
) -> npt.NDArray[np.int64]:
    """Return entries x CELLS x FIELDS of the ids given. Raises KeyError where one has no score."""
    wanted = select(Score.submission_id, Score.tally).where(
        Score.benchmark == spec.id, Score.label_revision == revision, Score.scorer_version == version
    )
    if len(ids) <= _FEW:  # one new entry must not cost reading ten thousand tallies
        wanted = wanted.where(Score.submission_id.in_(ids))
    rows = session.execute(wanted)
    places = {name: index for index, name in enumerate(ids)}
    counts = np.empty((len(ids), len(slices(spec)), len(fields(spec))), dtype=np.int64)
    # Copied one by one: ten thousand lists of lists at once would keep the garbage collector busier than us.
    for name, text in rows:
        place = places.pop(name, None)
        if place is not None:
            counts[place] = np.array(orjson.loads(text)["counts"], dtype=np.int64)
    if places:
        raise KeyError(min(places))
    return counts


class RankedBoard(NamedTuple):
    """Entries of one board, in the order given: shares (entries, scores) headline first, ranks, and display order."""

    shares: npt.NDArray[np.float64]
    ranks: tuple[int | None, ...]
    order: tuple[int, ...]


def rank_entries(entries: Sequence[BoardEntry], counts: npt.NDArray[np.int64], *, spec: BenchmarkSpec) -> RankedBoard:
    """Rank as on the default board (ranking rule, official grouping). ``counts``: entries x CELLS x FIELDS."""
    counted = ratios(counts, spec)
    shares = accuracies(counted)[:, [spec.index(name) for name in spec.headline_first]]
    ordering = [spec.headline_first.index(name) for name in spec.tie_breaks]
    fractions = np.concatenate([counted.right, counted.total], axis=-1).tolist()
    contenders = [
        RankingEntry(
            entry.id,
            tuple(None if row[at] != row[at] else row[at] for at in ordering),
            counts=tuple(numbers),
            submitted=iso(entry.created_at),
        )
        for entry, row, numbers in zip(entries, shares.tolist(), fractions, strict=True)
    ]
    ranks = standings(contenders)
    return RankedBoard(shares, tuple(ranks[index] for index in range(len(entries))), order=tuple(ranks))


def rank_both(
    entries: Sequence[BoardEntry], counts: Sequence[npt.NDArray[np.int64]], *, specs: Sequence[BenchmarkSpec]
) -> tuple[RankedBoard, RankedBoard]:
    """Rank entries before and after a change, each by its own rules; shares of both in the order of those after."""
    before, after = (rank_entries(entries, counted, spec=spec) for counted, spec in zip(counts, specs, strict=True))
    columns = [specs[0].headline_first.index(name) for name in specs[1].headline_first]
    return before._replace(shares=before.shares[:, columns]), after
