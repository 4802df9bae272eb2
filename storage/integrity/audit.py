"""Append-only audit events in a hash chain; vlrb/common/canonical_json.py defines the hash.

A chain in the same database shows partial tampering only; publish its head elsewhere.

Appending locks the head row until the caller's transaction ends, so seq has no gaps and grows in the order of commits.
Append last in a transaction: it is the lock everybody shares.

Bodies are private, their digests and the hashes are public. So that nobody can try out what a body says (an account, a
digest, a count), each holds a random nonce.
"""

import hashlib
import json
import secrets
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from sqlalchemy import insert, select, update
from sqlalchemy.exc import DatabaseError
from sqlalchemy.orm import Session

from storage.clock import exact, instant, iso, read_clock
from storage.database import any_text
from storage.models.core import AuditEvent, AuditHead, EventSubject
from vlrb.common.canonical_json import GENESIS as GENESIS
from vlrb.common.canonical_json import body_sha256 as body_sha256
from vlrb.common.canonical_json import canonical_json as canonical_json
from vlrb.common.canonical_json import link as link

RESERVED = ("seq", "ev", "at", "nonce")
REGISTERED, ACTIVATED = "labels.registered", "board.pointed"
SCORED, SCORES_RECORDED = "submission.scored", "scores.recorded"  # one score; a chunk of a re-score
_ABOUT_THE_BOARD = (ACTIVATED, "rescore.applied", "rescore.undone")
_ENTRIES = ("submission", "entry", "result")  # the names under which events hold the id of an entry or result
_NONCE_BYTES = 16
_RECORDED = (AuditEvent.seq, AuditEvent.hash, AuditEvent.kind, AuditEvent.body)
_PAGE = 500  # events that a check reads at a time


class Head(NamedTuple):
    """The last link of the chain: number and hash (GENESIS before the first)."""

    seq: int
    hash: str


class HeadMissing(LookupError):
    """The audit chain has lost its head: table audit_head has no row 1. Restore a copy of the database."""

    def __init__(self) -> None:
        super().__init__(HeadMissing.__doc__)


class ChainError(NamedTuple):
    """Break of a chain: the first event that is missing or was changed, and what is wrong with it."""

    seq: int
    why: str


class StoredEvent(NamedTuple):
    """An event as it was recorded. `at`: seconds since 1970 UTC, of the body: that is what is hashed."""

    seq: int
    hash: str
    kind: str
    at: float
    body: dict[str, Any]


class ChainLink(NamedTuple):
    """Public part of every event: hash = SHA-256(prev || body_sha256), so anybody can recompute it."""

    seq: int
    prev: str
    body_sha256: str
    hash: str


def acquire_chain_lock(session: Session) -> None:
    """Put writers in a line until their transactions end, so that what one has read still holds when it writes.

    On both databases: SQLite has one writer anyway, and on PostgreSQL the row is the one that `append` locks a moment
    later, so that no two wait for one another.
    """
    session.execute(select(AuditHead.id).with_for_update())


def append(session: Session, event: str, *, data: Mapping[str, Any]) -> int:
    """Add an event to the chain in the caller's transaction; returns its seq.

    The body is `data` with seq, ev (the event's kind), at (database clock, UTC) and nonce. Raises ValueError where
    `data` has a key of that name.
    """
    taken = sorted(set(data) & set(RESERVED))
    if taken:
        raise ValueError(f"audit data may not set {', '.join(taken)}")
    # The lock comes first; the clock is read under it, so that times do not run backwards along the chain.
    locked = select(AuditHead.seq, AuditHead.hash).where(AuditHead.id == 1).with_for_update()
    last = session.execute(locked).first()
    if last is None:
        raise HeadMissing
    seq, previous = last.seq + 1, last.hash
    at = exact(read_clock(session))
    body = canonical_json({**data, "seq": seq, "ev": event, "at": at, "nonce": secrets.token_hex(_NONCE_BYTES)})
    digest = link(previous, body)
    session.execute(
        insert(AuditEvent).values(seq=seq, prev_hash=previous, hash=digest, kind=event, body=body),
    )
    if subjects := _subjects(event, data):
        session.execute(insert(EventSubject), [{"subject": subject, "seq": seq} for subject in sorted(subjects)])
    session.execute(update(AuditHead).where(AuditHead.id == 1).values(seq=seq, hash=digest))
    return int(seq)


class Recorded(NamedTuple):
    """An event as whoever holds a receipt checks it: hash = SHA-256(prev || SHA-256(event)), raw bytes."""

    event: str  # the body, as it was hashed
    prev: str
    hash: str


def recorded(session: Session, seq: int) -> Recorded:
    """Return an event that is there, with its link."""
    columns = (AuditEvent.body, AuditEvent.prev_hash, AuditEvent.hash)
    return Recorded(*session.execute(select(*columns).where(AuditEvent.seq == seq)).one())


def labels(revision: str, benchmark: str) -> str:
    """Return the subject of events about scores under a label revision."""
    return f"labels:{benchmark}/{revision}"


def board(benchmark: str) -> str:
    """Return the subject of events that change which scores a board shows."""
    return f"board:{benchmark}"


def _subjects(event: str, data: Mapping[str, Any]) -> set[str]:
    """Return what an event is about, for finding it again."""
    if event == SCORES_RECORDED and "label_revision" in data:
        return {labels(data["label_revision"], data.get("benchmark", ""))}
    if event in _ABOUT_THE_BOARD:
        return {board(data.get("benchmark", ""))}
    return {data[name] for name in _ENTRIES if isinstance(data.get(name), str)}


def last_standing(
    session: Session, subject: str, *, kinds: Collection[str], undone: str, benchmark: str
) -> dict[str, Any] | None:
    """Return the newest event of some kinds about a subject that none of the kind `undone` takes back: they alternate
    like brackets. None: there is none."""
    taken_back = 0
    for event in newest(session, (*kinds, undone), subjects=[subject]):
        if event.body.get("benchmark") != benchmark:
            continue
        if event.kind == undone:
            taken_back += 1
        elif taken_back:
            taken_back -= 1
        else:
            return event.body
    return None


def newest(
    session: Session,
    kinds: Collection[str],
    *,
    before: int | None = None,
    limit: int = 1000,
    subjects: Collection[str] | None = None,
) -> list[StoredEvent]:
    """Return the events of some kinds, the newest first; `before` a seq; `subjects`: only those about one of them."""
    result = select(*_RECORDED).where(AuditEvent.kind.in_(kinds))
    if subjects is not None:
        result = result.where(AuditEvent.seq.in_(select(EventSubject.seq).where(EventSubject.subject.in_(subjects))))
    if before is not None:
        result = result.where(AuditEvent.seq < before)
    return [_recorded(row) for row in session.execute(result.order_by(AuditEvent.seq.desc()).limit(limit))]


def _recorded(row: Any) -> StoredEvent:
    body = json.loads(row.body)
    return StoredEvent(row.seq, row.hash, kind=row.kind, at=instant(body["at"]), body=body)


def links(session: Session, after: int = 0, *, limit: int | None = None) -> Iterator[ChainLink]:
    """Yield the public chain in its order, from the event after `after`: no body, no kind, no time."""
    wanted = (
        select(AuditEvent.seq, AuditEvent.prev_hash, AuditEvent.body, AuditEvent.hash)
        .where(AuditEvent.seq > after)
        .order_by(AuditEvent.seq)
    )
    for seq, previous, body, digest in session.execute(wanted if limit is None else wanted.limit(limit)).yield_per(
        1000
    ):
        yield ChainLink(seq, previous, body_sha256=hashlib.sha256(str(body).encode()).hexdigest(), hash=digest)


def head(session: Session) -> Head:
    """Return the last link as this session sees it. Raises HeadMissing."""
    row = session.execute(select(AuditHead.seq, AuditHead.hash).where(AuditHead.id == 1)).first()
    if row is None:
        raise HeadMissing
    return Head(*row)


def dated_head(session: Session) -> dict[str, Any]:
    """Return the last link and when this was, as it is kept elsewhere. Raises HeadMissing."""
    return {**head(session)._asdict(), "at": iso(read_clock(session))}


def verify(session: Session) -> ChainError | None:
    """Return the first event that is missing or was changed; None if the whole chain holds.

    Every column of an event is compared with what was hashed, and so is what the index says that it is about. A
    tampered row may contain anything: no value makes this raise.
    """
    with any_text(session):
        last = Head(0, GENESIS)
        for row in _rows(session):
            expected = last.seq + 1
            if row.event.seq != expected:
                return ChainError(expected, "it is missing")
            wrong = "prev_hash" if row.event.prev_hash != last.hash else _changed(row)
            if wrong is not None:
                return ChainError(expected, f"{wrong} was changed")
            last = Head(row.event.seq, row.event.hash)
        return _end(session, last)


def holds(session: Session, events: Collection[Any]) -> bool:
    """Return whether some events, rows of the table, are what was hashed, and hold between their neighbours. Raises
    HeadMissing."""
    next_ones = AuditEvent.seq.in_([event.seq + 1 for event in events])
    following = select(AuditEvent.seq - 1, AuditEvent.prev_hash).where(next_ones)
    after = {**dict([head(session)]), **dict(session.execute(following).all())}
    return all(_hash(event) == event.hash == after.get(event.seq) for event in events)


def _hash(event: Any) -> str | None:
    """Return the hash of a stored link and body; None where these are no text, or not ASCII."""
    try:
        return link(event.prev_hash, event.body)
    except (AttributeError, TypeError, ValueError):
        return None


class _Row(NamedTuple):
    event: Any  # all columns
    subjects: set[str]  # what the index says that it is about


def _rows(session: Session) -> Iterator[_Row]:
    """Yield all events in their order."""
    events = session.execute(select(AuditEvent.__table__).order_by(AuditEvent.seq).execution_options(yield_per=_PAGE))
    for page in events.partitions():
        of_page = EventSubject.seq.between(page[0].seq, page[-1].seq)
        subjects: dict[int, set[str]] = {}
        for seq, subject in session.execute(select(EventSubject.seq, EventSubject.subject).where(of_page)):
            subjects.setdefault(seq, set()).add(subject)
        yield from (_Row(event, subjects.get(event.seq, set())) for event in page)


def _changed(row: _Row) -> str | None:
    """Return the first column that says something else than what was hashed; None where all say the same."""
    event = row.event
    try:
        body = json.loads(event.body) if _hash(event) == event.hash else None
    except (TypeError, ValueError, RecursionError):  # no text, not JSON, nested without end
        body = None
    if not isinstance(body, dict):
        return "body or hash"
    if body.get("seq") != event.seq or body.get("ev") != event.kind:
        return "kind"
    return None if row.subjects == _subjects(event.kind, body) else "event_subjects"


def _end(session: Session, last: Head) -> ChainError | None:
    """Return whether the chain ends where its head says."""
    try:
        end = head(session)
    except (HeadMissing, DatabaseError) as error:
        if "audit_head" not in str(getattr(error, "orig", error)):  # there may be no such table
            raise
        return ChainError(last.seq + 1, "nothing says whether there was one, for audit_head has lost its row")
    if end == last:
        return None
    if not isinstance(end.seq, int) or end.seq == last.seq:
        return ChainError(max(last.seq, 1), "audit_head was changed")
    first = min(end.seq, last.seq) + 1
    why = f"audit_head says that the chain ends with event {end.seq}, and it ends with {last.seq}"
    return ChainError(first, why)
