"""The board's entries as previews and re-scores compare them: who is on it, and the counts stored about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import orjson
from sqlalchemy import ColumnElement, and_, exists, or_, select
from sqlalchemy.orm import Session

from benchmark.revisions import Standing, standing
from benchmark.scoring import CELLS, FIELDS
from storage import scopes
from storage.clock import iso
from storage.moderation import off_board
from storage.tables import Score, Submission
from storage.visibility import held, unnamed, unpublished

_FEW = 500  # ids that a query may name


class BoardEntry(NamedTuple):
    """An entry that the public sees."""

    id: str
    model: str
    version: str
    organisation: str | None
    judge_type: str | None
    base_model: str | None
    owner: str
    created_at: float


def entries_on_board(session: Session, benchmark: str, revision: str, version: str) -> list[BoardEntry]:
    """The entries with a score under a revision that are published and neither hidden, withdrawn nor merged; by age."""
    shown = (Submission.id.not_in(off_board()), Submission.id.not_in(unpublished()))
    return _entries(session, benchmark, revision, version, and_(*shown))


def entries_off_board(session: Session, benchmark: str, revision: str, version: str) -> list[BoardEntry]:
    """The entries with a score under a revision that the public does not see, but for those not named; by age."""
    away = or_(Submission.id.in_(off_board()), Submission.id.in_(unpublished()))
    return _entries(session, benchmark, revision, version, and_(away, Submission.id.not_in(unnamed())))


def _entries(
    session: Session, benchmark: str, revision: str, version: str, which: ColumnElement[bool]
) -> list[BoardEntry]:
    rows = session.execute(
        select(*(getattr(Submission, name) for name in BoardEntry._fields))
        .join(Score, Score.submission_id == Submission.id)
        .where(
            Submission.benchmark == benchmark, Score.label_revision == revision, Score.scorer_version == version, which
        )
        .order_by(Submission.created_at, Submission.id)
    )
    return [BoardEntry(*row) for row in rows]


def unscored(session: Session, benchmark: str, revision: str, version: str, scope: Mapping[str, Any]) -> list[str]:
    """The submissions in scope that have no score under a revision and scorer version, by id; on the board or not."""
    has_score = exists().where(
        Score.submission_id == Submission.id, Score.label_revision == revision, Score.scorer_version == version
    )
    rows = session.execute(
        select(Submission.id, *(getattr(Submission, name) for name in scopes.FILTERS))
        .where(Submission.benchmark == benchmark, ~has_score, Submission.id.not_in(held()))
        .order_by(Submission.id)
    )
    return [row.id for row in rows if scopes.matches(row._mapping, scope)]


def stored_counts(session: Session, ids: Sequence[str], revision: str, version: str) -> npt.NDArray[np.int64]:
    """Entries x CELLS x FIELDS of the ids given. Raises KeyError where one has no score."""
    wanted = select(Score.submission_id, Score.tally).where(
        Score.label_revision == revision, Score.scorer_version == version
    )
    if len(ids) <= _FEW:  # one new entry must not cost reading ten thousand tallies
        wanted = wanted.where(Score.submission_id.in_(ids))
    rows = session.execute(wanted)
    places = {name: index for index, name in enumerate(ids)}
    counts = np.empty((len(ids), len(CELLS), len(FIELDS)), dtype=np.int64)
    # Copied one by one: ten thousand lists of lists at once would keep the garbage collector busier than us.
    for name, text in rows:
        place = places.pop(name, None)
        if place is not None:
            counts[place] = orjson.loads(text)["counts"]
    if places:
        raise KeyError(min(places))
    return counts


def standing_of(entries: Sequence[BoardEntry], counts: npt.NDArray[np.int64]) -> Standing:
    """Where the entries stand, given their counts."""
    return standing(counts, [entry.id for entry in entries], [iso(entry.created_at) for entry in entries])
