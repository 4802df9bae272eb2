"""Stored rows compared with the audit events that hold them: what was changed beside the service is found and named.

Which event is authoritative: for votes and what never changes of a submission, its acceptance; for the owner, the last
transfer, else the acceptance; for the description, the last edit, else the acceptance; for a score, the event that
recorded it; for a label revision, its registration, import and retirement, the later one first; for the board, the
last activation event. Merges, withdrawals and anonymity change none of these rows. A snapshot must have the
digest that its event names, and the current one the tallies and descriptions of the rows.

No label is needed. ``verify`` is the whole check, of the chain and of the rows: a worker runs it once a day, and the
command `audit verify` whenever a maintainer likes.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import orjson
from sqlalchemy import select
from sqlalchemy.orm import Session

from storage.boards import snapshots
from storage.database import any_text
from storage.integrity import audit, row_commitments
from storage.integrity.row_commitments import DESCRIPTION, ScoreFacts
from storage.metadata import IDENTIFYING
from storage.models.core import AuditEvent, BoardState, RegisteredLabelSet, Score, StoredRelations, Submission
from storage.models.moderation import ImportedLabels
from vlrb.commitments import commit, sha256

ACCEPTED, EDITED, TRANSFERRED = "submission.accepted", "entry.edited", "entry.transferred"
PUBLISHED, COMPUTED = "snapshot.published", "relations.computed"
_LABELS = "labels."
_KINDS = (ACCEPTED, EDITED, TRANSFERRED, audit.SCORED, audit.SCORES_RECORDED, PUBLISHED, COMPUTED, audit.ACTIVATED)
_UNREADABLE = (TypeError, ValueError, KeyError, AttributeError, LookupError, zlib.error)
_PAGE = 500
_WHY = {
    "record": "votes, or another column that never changes, are not what was accepted",
    "owner": "the owner is another one",
    "description": "the description is not what it was made last",
    "labels": "it shows other labels or another scorer version than was decided",
    "rules": "it is ordered by other rules than was decided",
    "snapshot": "its snapshot is not the one that was published last",
    "recorded_at": "its date is not when it was recorded",
}


class Mismatch(NamedTuple):
    """A row that says something else than the event that holds it."""

    table: str
    row: str
    event: int | None  # seq; None: there is no event for this row
    why: str

    @property
    def sentence(self) -> str:
        """In words; of what is no text, the bytes."""
        where = "" if self.event is None else f" (event {self.event})"
        return f"{self.table} {self.row}: {self.why}{where}.".encode(errors="backslashreplace").decode()


class ChainCheck(NamedTuple):
    """Result of the whole check. `broken_at`: the seq of the first event that is missing or was changed."""

    events: int  # that hold
    broken_at: int | None
    head_holds: bool | None  # whether an older head is part of this chain; None: none was given, or this is broken
    why: str = ""  # what is wrong with that event
    newer_head: int | None = None  # the number that the given head names, where the chain ends before it
    rows: tuple[str, ...] = ()  # stored rows that are not what their events say, a sentence each

    @property
    def ok(self) -> bool:
        """Whether everything that was checked holds."""
        return self.head_holds is not False and not self.problems

    @property
    def problems(self) -> list[str]:
        """Return a sentence for the first broken event, and one for each row that differs from its event."""
        return [*([self._of_chain] if self.broken_at is not None else []), *self.rows]

    @property
    def sentence(self) -> str:
        """Return the same in words: a line about the chain, and one for each row."""
        count = f"{len(self.rows)} stored {'row is' if len(self.rows) == 1 else 'rows are'} not what events say:"
        return "\n".join([f"{self._of_chain} {count}", *self.rows]) if self.rows else self._of_chain

    @property
    def _of_chain(self) -> str:
        if self.broken_at is not None:
            return f"The chain is broken at event {self.broken_at}: {self.why}."
        if self.newer_head is not None:
            return (
                f"All {self.events} events hold, but this head is newer than the copy: it names event "
                f"{self.newer_head}, and the copy ends with event {self.events}. After a restore that is "
                "expected, and an older head shows whether the rest is the same; otherwise the end of the chain "
                "is gone."
            )
        if self.head_holds is False:
            return "The chain holds in itself, but it is not the one that the given head belongs to."
        return f"All {self.events} events hold{', and so does the given head' if self.head_holds else ''}."


class RecordedFact(NamedTuple):
    """The event that is authoritative for a part of a row, and what it says of it."""

    seq: int
    value: Any


class Ledger:
    """Content of rows according to events, which are read in order: by table, key and part of the row."""

    def __init__(self, events: Iterable[Any]) -> None:
        """Read rows with seq, kind and body, by seq. A body that is no JSON, or says nothing of a row, is skipped."""
        self._facts: dict[tuple[str, Hashable], dict[str, RecordedFact]] = {}
        for event in events:
            try:
                for table, key, part, value in self._said(event.kind, orjson.loads(event.body)):
                    self._facts.setdefault((table, key), {})[part] = RecordedFact(event.seq, value)
            except _UNREADABLE:
                continue

    def of_row(self, table: str, key: Hashable) -> Mapping[str, RecordedFact]:
        """Return what events say of a row, by part."""
        return self._facts.get((table, key), {})

    def rows(self, table: str, part: str) -> dict[Any, RecordedFact]:
        """Return the rows of a table of which events say this part, by their keys."""
        return {key: facts[part] for (of, key), facts in self._facts.items() if of == table and part in facts}

    def differences(self, table: str, key: str, *, parts: Mapping[str, Any]) -> Iterator[Mismatch]:
        """Yield the parts of a row that are not what events say."""
        facts = self.of_row(table, key)
        for part, value in parts.items():
            fact = facts.get(part)
            if value != (fact and fact.value):
                why = _WHY[part] if fact else "no event says what it should be"
                yield Mismatch(table, key, event=fact and fact.seq, why=why)

    def _said(self, kind: str, body: Mapping[str, Any]) -> Iterator[tuple[str, Hashable, str, Any]]:
        """Yield table, key, part and value of what an event says of rows."""
        if kind == ACCEPTED and not self.of_row("submissions", body["submission"]):  # nobody accepts twice
            yield "submissions", body["submission"], "record", body.get("record_commitment")
            yield "submissions", body["submission"], "owner", body.get("owner")
        if kind in (ACCEPTED, EDITED):
            yield "submissions", body.get("entry") or body["submission"], "description", body["description_commitment"]
        elif kind == TRANSFERRED:
            yield "submissions", body["entry"], "owner", body["to"]
        elif kind in (audit.SCORED, audit.SCORES_RECORDED):
            for commitment in body["commitments"]:
                key = (body["label_revision"], body["scorer_version"], commitment)
                yield "scores", key, "recorded_at", body["recorded_at"]
        else:
            yield from self._said_of_board(kind, body)

    def _said_of_board(self, kind: str, body: Mapping[str, Any]) -> Iterator[tuple[str, Hashable, str, Any]]:
        benchmark = body["benchmark"]
        if kind == PUBLISHED:
            yield "snapshots", body["snapshot"], "content", body["snapshot"]
            yield "board", benchmark, "snapshot", body["snapshot"]
        elif kind == COMPUTED:
            for revision, name in body["relations"].items():
                yield "relations", (benchmark, revision, name), body["summaries_sha256"][revision], name
        elif kind == audit.ACTIVATED:
            yield "board", benchmark, "labels", (body["to"]["label_revision"], body["to"]["scorer_version"])
            yield "board", benchmark, "rules", body["rules_sha256"]
        elif kind.startswith(_LABELS):
            yield "label_sets", (benchmark, body["revision"]), kind, True
            for name, value in body.items():
                yield "label_sets", (benchmark, body["revision"]), name, value


def verify(session: Session, kept: audit.Head | None = None) -> ChainCheck:
    """Recompute every link, compare stored rows with their events, and the chain with a head that was kept elsewhere.

    A chain alone does not show that its last events are gone; a kept head does.
    """
    broken = audit.verify(session)
    rows = tuple(mismatch.sentence for mismatch in check(session))
    if broken is not None:
        return ChainCheck(broken.seq - 1, broken.seq, head_holds=None, why=broken.why, rows=rows)
    last = audit.head(session).seq
    if kept is None:
        return ChainCheck(last, None, head_holds=None, rows=rows)
    there = session.scalars(select(AuditEvent.hash).where(AuditEvent.seq == kept.seq)).first()
    holds = kept.hash == (audit.GENESIS if kept.seq == 0 else there)  # a head may be older than the first event
    return ChainCheck(last, None, head_holds=holds, newer_head=kept.seq if kept.seq > last else None, rows=rows)


def check(session: Session) -> Iterator[Mismatch]:
    """Yield every row that differs from its event, and every event whose row is gone."""
    with any_text(session):
        of_rows = AuditEvent.kind.in_(_KINDS) | AuditEvent.kind.startswith(_LABELS)
        events = session.execute(
            select(AuditEvent.seq, AuditEvent.kind, AuditEvent.body).where(of_rows).order_by(AuditEvent.seq)
        )
        ledger = Ledger(events.yield_per(_PAGE))
        for table, rule in _RULES.items():
            yield from _readable(table, rule(session, ledger))


def _readable(table: str, mismatches: Iterator[Mismatch]) -> Iterator[Mismatch]:
    """Yield the mismatches of a table, of which a row may hold anything."""
    try:
        yield from mismatches
    except _UNREADABLE as error:
        why = f"a row cannot be read ({type(error).__name__})"
        yield Mismatch(table, "of unknown number", event=None, why=why)


def check_submissions(session: Session, ledger: Ledger) -> Iterator[Mismatch]:
    """Yield votes, what never changes, owner and description."""
    missing = ledger.rows("submissions", "record")
    for row in session.execute(row_commitments.submissions()).yield_per(_PAGE):
        missing.pop(row.id, None)
        parts = {**record_of(row), "owner": row.owner, "description": _computed(row_commitments.of_description, row)}
        yield from ledger.differences("submissions", row.id, parts=parts)
    for name, fact in sorted(missing.items()):
        yield Mismatch("submissions", name, event=fact.seq, why="the row is missing")


def record_of(row: Any) -> dict[str, str]:
    """Return the part of a submission's row that never changes, as its acceptance committed to it."""
    return {"record": _computed(row_commitments.of_record, row)}


def _computed(commitment: Callable[[Any], str], row: Any) -> str:
    try:
        return commitment(row._mapping)
    except _UNREADABLE:  # anyone who changes rows may leave anything in them
        return ""


def check_scores(session: Session, ledger: Ledger) -> Iterator[Mismatch]:
    """Tallies, whose they are, and when they were recorded."""
    columns = (Score.benchmark, Score.submission_id, Score.label_revision, Score.scorer_version, Score.tally)
    wanted = select(Score.id, *columns, Score.salt, Score.created_at, Submission.content_sha256)
    wanted = wanted.outerjoin(Submission, Submission.id == Score.submission_id)
    missing = ledger.rows("scores", "recorded_at")
    for row in session.execute(wanted).yield_per(_PAGE):
        key = _score_key(row)
        fact = ledger.of_row("scores", key).get("recorded_at")
        missing.pop(key, None)
        if fact is None or fact.value != row.created_at:
            why = _WHY["recorded_at"] if fact else "the tally is not the one that was recorded"
            name = f"{row.id} (entry {row.submission_id}, label revision {key[0]}, scorer version {key[1]})"
            yield Mismatch("scores", name, event=fact and fact.seq, why=why)
    for (revision, _, _), fact in missing.items():
        why = "no row has a score that was recorded"
        yield Mismatch("scores", f"under label revision {revision}", event=fact.seq, why=why)


def _score_key(score: Any) -> tuple[str, str, str]:
    """Return under what the ledger has a score, as a row; nothing that it has for a row with other content."""
    revision, version = score.label_revision, score.scorer_version
    facts = ScoreFacts(score.benchmark, score.submission_id, score.content_sha256, revision, version)
    try:
        return revision, version, row_commitments.of_score(facts, tally=score.tally, salt=score.salt)
    except _UNREADABLE:
        return revision, version, ""


_LABEL_COLUMNS: dict[Any, tuple[str, ...]] = {
    RegisteredLabelSet: ("digest", "items", "commitment"),
    # The event has the salt once the revision is retired.
    ImportedLabels: ("items", "digest", "commitment", "difference", "salt", "disclosure"),
}


def check_labels(session: Session, ledger: Ledger) -> Iterator[Mismatch]:
    """Digests, commitments, salts and disclosure of label revisions. The labels themselves are not in the database."""
    missing = ledger.rows("label_sets", audit.REGISTERED)
    for table, names in _LABEL_COLUMNS.items():
        for row in session.scalars(select(table)):
            key = (row.benchmark, row.revision)
            if table is RegisteredLabelSet:
                missing.pop(key, None)
            facts = {part: fact.value for part, fact in ledger.of_row("label_sets", key).items()}
            if any(getattr(row, name) != facts.get(name) for name in names) or not _opens(facts, row):
                why = "the row is not what its events say" if facts else "no event says that there is such a revision"
                yield Mismatch(table.__tablename__, row.revision, event=facts.get("seq"), why=why)
    for (_, revision), fact in sorted(missing.items()):
        yield Mismatch("label_sets", revision, event=fact.seq, why="the row is missing")


def _opens(facts: Mapping[str, Any], row: Any) -> bool:
    """Return whether the salt of a row, if it has one, opens the commitment."""
    salt = getattr(row, "salt", None)
    try:
        return salt is None or bool(commit(facts["digest"], bytes.fromhex(salt)) == facts["commitment"])
    except _UNREADABLE:
        return False


def check_board(session: Session, ledger: Ledger) -> Iterator[Mismatch]:
    """Yield boards that point to something else than was decided."""
    for row in session.scalars(select(BoardState).order_by(BoardState.benchmark)):
        parts = {"labels": (row.label_revision, row.scorer_version), "snapshot": row.snapshot_id}
        parts["rules"] = hashlib.sha256(row.rules.encode()).hexdigest()
        yield from ledger.differences("board", row.benchmark, parts=parts)


def check_snapshots(session: Session, ledger: Ledger) -> Iterator[Mismatch]:
    """Yield whether every snapshot is the one that was published, and the current one shows what the rows say."""
    published = ledger.rows("snapshots", "content")
    current = {fact.value: fact.seq for fact in ledger.rows("board", "snapshot").values()}
    for name, content in snapshots.contents(session):
        is_current = current.pop(name, None) is not None
        if name not in published:
            yield Mismatch("snapshots", name, event=None, why="no event says that it was published")
        elif content is None or hashlib.sha256(content).hexdigest() != name:
            why = "the content is not what was published"
            yield Mismatch("snapshots", name, event=published[name].seq, why=why)
        elif is_current:
            for why in _shown_otherwise(session, ledger, content=orjson.loads(content)):
                yield Mismatch("snapshots", name, event=published[name].seq, why=why)
    for name, seq in current.items():
        yield Mismatch("snapshots", name, event=seq, why="the row is missing")


def _shown_otherwise(session: Session, ledger: Ledger, *, content: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the current snapshot shows otherwise than the rows: it may have been made while they were changed."""
    tallies = select(Score.submission_id, Score.label_revision, Score.tally)
    tallies = tallies.where(Score.scorer_version == content["scorer_version"])
    stored = {(name, revision): tally for name, revision, tally in session.execute(tallies)}
    described = {row.id: row for row in session.execute(row_commitments.submissions())}
    for entry in content["entries"]:
        shown = {revision: orjson.dumps(tally).decode() for revision, tally in entry["tallies"].items()}
        if any(stored.get((entry["id"], revision)) != text for revision, text in shown.items()):
            yield f"it shows other scores of entry {entry['id']} than are stored"
        fact = ledger.of_row("submissions", entry["id"]).get("description")
        if fact is None or fact.seq > content["audit_seq"]:
            continue  # edited since: the next snapshot will show it
        if entry["id"] in described and not _same_description(entry, described[entry["id"]]):
            yield f"it describes entry {entry['id']} otherwise than its row"


def _same_description(entry: Mapping[str, Any], row: Any) -> bool:
    """Return whether an entry of a snapshot describes the row; an anonymous one lacks what identifies its owner."""
    secret = IDENTIFYING if entry.get("anonymous_until") is not None else ()
    return all(entry.get(name) == getattr(row, name) for name in DESCRIPTION if name not in secret)


def check_relations(session: Session, ledger: Ledger) -> Iterator[Mismatch]:
    """Check stored relations between judges: content and summary, which tells how many variants a judge has."""
    in_order = select(StoredRelations).order_by(StoredRelations.benchmark, StoredRelations.inputs)
    for row in session.scalars(in_order).yield_per(1):
        key = (row.benchmark, row.label_revision, row.id)
        if hashlib.sha256(row.body).hexdigest() != row.id or sha256(row.summary) not in ledger.of_row("relations", key):
            name = f"{row.id} (label revision {row.label_revision})"
            yield Mismatch("relations", name, event=None, why="the content is not what was computed")


_RULES: dict[str, Callable[[Session, Ledger], Iterator[Mismatch]]] = {
    "submissions": check_submissions,
    "scores": check_scores,
    "label_sets": check_labels,
    "board": check_board,
    "snapshots": check_snapshots,
    "relations": check_relations,
}
