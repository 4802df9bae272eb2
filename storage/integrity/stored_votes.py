"""Stored votes, for everything that computes from them: compared first with what their acceptance committed to.

Nothing else reads the column (tests/test_architecture.py). Whoever can write to the database could otherwise exchange
votes, have them counted, and put them back: the count would be a true event.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import groupby
from typing import Any

from sqlalchemy import Row, select

from storage.database import Database, any_text
from storage.integrity import audit, integrity_alarms, row_commitments
from storage.integrity.integrity_check import ACCEPTED, Ledger, Mismatch, record_of
from storage.models.core import AuditEvent, EventSubject, Submission
from vlrb.votes import Matrix, packed_size, unpack_many

_PAGE = 500  # submissions whose votes are compared at a time


def read(database: Database, submissions: Collection[str]) -> list[Row[Any]]:
    """Return the rows (``row_commitments.submissions``) of those of some submissions that are there, by votes per item.

    Raises RecordChanged, and alarms, where the votes of one are not those that were accepted.
    """
    ordered, result = sorted(submissions), list[Row[Any]]()
    for start in range(0, len(ordered), _PAGE):
        result += _read_page(database, ordered[start : start + _PAGE])
    return sorted(result, key=lambda row: row.votes_per_item)


def matrices(
    database: Database, submissions: Collection[str], *, items: int, page: int = _PAGE
) -> Iterator[tuple[list[Row[Any]], Matrix]]:
    """Yield the stored votes of some submissions with their matrix, entries x items x K: those of a page that have as
    many votes per item together. Left out are votes of the wrong length. Raises RecordChanged."""
    ordered = sorted(submissions)
    for start in range(0, len(ordered), page):
        for k, group in groupby(read(database, ordered[start : start + page]), key=lambda entry: entry.votes_per_item):
            if same := [entry for entry in group if len(entry.votes) == packed_size(items, k)]:
                yield same, unpack_many([entry.votes for entry in same], items, k=k)


def _read_page(database: Database, submissions: Sequence[str]) -> Sequence[Row[Any]]:
    with database.read() as session, any_text(session):
        rows = session.execute(row_commitments.submissions().where(Submission.id.in_(submissions))).all()
        about = select(EventSubject.seq).where(EventSubject.subject.in_(submissions))
        events = select(AuditEvent.__table__).where(AuditEvent.kind == ACCEPTED, AuditEvent.seq.in_(about))
        accepted = session.execute(events.order_by(AuditEvent.seq)).all()
        ledger = Ledger(accepted)
        wrong = [found for row in rows for found in ledger.differences("submissions", row.id, parts=record_of(row))]
        if not wrong and not audit.holds(session, accepted):
            wrong = [Mismatch("events", "of acceptance", event=None, why="the audit chain is broken there")]
    if wrong:
        integrity_alarms.refuse(database, wrong[0], subject=wrong[0].row)
    return rows
