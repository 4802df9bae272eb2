"""SQL of the maintainers' digest: what came between two audit events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from storage.models.core import AuditEvent, Submission
from storage.models.review import Dispute

_SUBMITTED, _DISPUTED, _FLAGGED = "submission.accepted", "dispute.opened", "entry.flagged"
_AT_ONCE = 500  # ids in one query


class News(NamedTuple):
    """What came: names of submissions, numbers of disputes and of entries that were given a public note."""

    submissions: tuple[str, ...]
    disputes: int
    notes: int


def news(session: Session, benchmark: str, *, after: int, through: int) -> News:
    """Return what came to a benchmark after one audit event and up to another."""
    kinds = (_SUBMITTED, _DISPUTED, _FLAGGED)
    between = (AuditEvent.seq > after, AuditEvent.seq <= through, AuditEvent.kind.in_(kinds))
    wanted = select(AuditEvent.kind, AuditEvent.body).where(*between).order_by(AuditEvent.seq)
    about: dict[str, list[Any]] = {kind: [] for kind in kinds}
    for kind, body in session.execute(wanted):
        facts = json.loads(body)
        about[kind].append(facts.get("submission") or facts.get("dispute") or facts.get("entry"))
    return News(
        tuple(name for ids in _parts(about[_SUBMITTED]) for name in _names(session, benchmark, ids=ids)),
        sum(_disputes(session, benchmark, ids=ids) for ids in _parts(about[_DISPUTED])),
        notes=sum(_entries(session, benchmark, ids=ids) for ids in _parts(list(dict.fromkeys(about[_FLAGGED])))),
    )


def _parts(ids: list[Any]) -> Iterator[list[Any]]:
    return (ids[start : start + _AT_ONCE] for start in range(0, len(ids), _AT_ONCE))


def _names(session: Session, benchmark: str, *, ids: list[str]) -> list[str]:
    rows = select(Submission.model, Submission.version).where(Submission.benchmark == benchmark, Submission.id.in_(ids))
    return [" ".join(filter(None, row)) for row in session.execute(rows.order_by(Submission.created_at, Submission.id))]


def _entries(session: Session, benchmark: str, *, ids: list[str]) -> int:
    own = (Submission.benchmark == benchmark, Submission.id.in_(ids))
    return session.execute(select(func.count()).select_from(Submission).where(*own)).scalar_one()


def _disputes(session: Session, benchmark: str, *, ids: list[int]) -> int:
    own = (Dispute.benchmark == benchmark, Dispute.id.in_(ids))
    return session.execute(select(func.count()).select_from(Dispute).where(*own)).scalar_one()
