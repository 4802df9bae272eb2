"""SQL of pools: candidates for a next edition, with their texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from storage.models.pools import Pool, PoolCandidate


class PoolView(NamedTuple):
    """A pool. `facts`: counts by source, licence and category. `report`: of its filter, None without one."""

    id: int
    name: str
    folder: str
    candidates: str
    sha256: str
    pairs: int
    facts: dict[str, Any]
    report: dict[str, Any] | None
    reason: str
    imported_by: str
    imported_at: float


class NewPool(NamedTuple):
    """A pool to be recorded; fields as in `PoolView`."""

    name: str
    folder: str
    candidates: str
    sha256: str
    pairs: int
    facts: dict[str, Any]
    report: dict[str, Any] | None
    reason: str
    imported_by: str


class Candidate(NamedTuple):
    """A pair of a pool. Responses, `draft` and `gold`: A and B as everywhere.

    `draft_shown_first`: a or b, the response that the model saw first; None where that is not known.
    """

    item: str  # key
    query: str
    response_a: str
    response_b: str
    image: str
    draft: str | None
    rationale: str | None
    drafted_by: str | None
    gold: str | None
    draft_shown_first: str | None = None


_COLUMNS = tuple(getattr(Pool, name) for name in PoolView._fields)
_CANDIDATE = tuple(getattr(PoolCandidate, name) for name in Candidate._fields)


def record(session: Session, benchmark: str, *, new: NewPool, candidates: Sequence[Candidate]) -> int:
    """Return the number of a new pool. Raises IntegrityError where the name is taken."""
    row = insert(Pool).values(benchmark=benchmark, **new._asdict())
    pool = session.execute(row.returning(Pool.id)).scalar_one()
    rows = [{"pool_id": pool, "place": place, **row._asdict()} for place, row in enumerate(candidates, start=1)]
    session.execute(insert(PoolCandidate), rows)
    return pool


def pools(session: Session, benchmark: str) -> list[PoolView]:
    """Return all pools, the newest first."""
    wanted = select(*_COLUMNS).where(Pool.benchmark == benchmark).order_by(Pool.id.desc())
    return [PoolView(*row) for row in session.execute(wanted)]


def pool(session: Session, benchmark: str, *, pool_id: int) -> PoolView | None:
    """Return one pool."""
    row = session.execute(select(*_COLUMNS).where(Pool.benchmark == benchmark, Pool.id == pool_id)).first()
    return None if row is None else PoolView(*row)


def candidates(session: Session, pool_id: int) -> list[Candidate]:
    """Return the pairs of a pool, by place."""
    wanted = select(*_CANDIDATE).where(PoolCandidate.pool_id == pool_id).order_by(PoolCandidate.place)
    return [Candidate(*row) for row in session.execute(wanted)]


def candidate(session: Session, pool_id: int, *, item: str) -> Candidate | None:
    """Return one pair of a pool."""
    wanted = select(*_CANDIDATE).where(PoolCandidate.pool_id == pool_id, PoolCandidate.item == item)
    row = session.execute(wanted).first()
    return None if row is None else Candidate(*row)
