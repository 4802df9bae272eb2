"""Stored rows compared with the audit events that hold them: what was changed beside the service is found and named.

Which event is authoritative: for votes and what never changes of a submission, its acceptance; for the owner, the last
transfer, else the acceptance; for the description, the last edit, else the acceptance; for a score, the event that
recorded it; for a label revision, its registration, import and retirement, the later one first; for the board, the
last activation event. Merges, withdrawals and anonymity change none of these rows. A snapshot must have the
digest that its event names, and the current one the tallies and descriptions of the rows.

No label is needed. The chain itself is checked by ``audit.verify``.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import orjson
from sqlalchemy import select
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from storage import stored_rows
from storage.boards import snapshots, stored_relations
from storage.boards.stored_relations import RelationsContent
from storage.integrity import audit, row_commitments
from storage.integrity.row_commitments import DESCRIPTION, ScoreFacts
from storage.labels.label_sets import ACTIVATED, REGISTERED
from storage.metadata import IDENTIFYING
from storage.models.core import AuditEvent, BoardState, RegisteredLabelSet, Score, Snapshot, Submission
from storage.models.moderation import ImportedLabels
from storage.models.receipts import EventSubject, LabelCommitment
from vlrb.commitments import commit, sha256

ACCEPTED, EDITED, TRANSFERRED = "submission.accepted", "entry.edited", "entry.transferred"
PUBLISHED, COMPUTED = "snapshot.published", "relations.computed"
_LABELS = "labels."
_ABOUT_SUBMISSIONS = (ACCEPTED, EDITED, TRANSFERRED, audit.SCORED)
_KINDS = (*_ABOUT_SUBMISSIONS, audit.SCORES_RECORDED, PUBLISHED, COMPUTED, ACTIVATED)
_UNREADABLE = (TypeError, ValueError, KeyError, AttributeError, LookupError, zlib.error)
_PAGE = 500


class Mismatch(NamedTuple):
    """A row that says something else than the event that holds it."""

    table: str
    row: str
    event: int | None  # seq; None: there is no event for this row
    why: str

    @property
    def sentence(self) -> str:
        """In words."""
        where = "" if self.event is None else f" (event {self.event})"
        return f"{self.table} {self.row}: {self.why}{where}."


class RecordedScore(NamedTuple):
    """The event that recorded a score."""

    seq: int
    recorded_at: float
    submission: str | None  # None: an event about many


@dataclass(slots=True)
class _Expected:
    """Content of a submission's row according to events, and the event for each column."""

    accepted: int
    record: str | None
    owner: str | None
    owner_event: int
    description: str | None
    description_event: int


_Key = tuple[str, str]  # benchmark, label revision


@dataclass(slots=True)
class Ledger:
    """Expected content of rows according to events, which are added in order."""

    submissions: dict[str, _Expected] = field(default_factory=dict)
    scores: dict[tuple[str, str, str], RecordedScore] = field(default_factory=dict)  # revision, version, commitment
    labels: dict[_Key, dict[str, Any]] = field(default_factory=dict)  # benchmark and revision -> facts of its events
    registered: dict[_Key, int] = field(default_factory=dict)
    snapshots: dict[str, int] = field(default_factory=dict)
    relations: dict[tuple[str, str, str], dict[str | None, int]] = field(default_factory=dict)  # by summary
    activated: dict[str, tuple[int, Mapping[str, Any]]] = field(default_factory=dict)  # by benchmark
    published: dict[str, tuple[int, str]] = field(default_factory=dict)
    first: str = ""  # the benchmark of the first label set, which events need not name (audit.scope)

    @classmethod
    def of(cls, events: Iterable[Any]) -> Ledger:
        """Return a ledger from rows with seq, kind and body, by seq. A body that is no JSON is skipped."""
        ledger = cls()
        for seq, kind, text in events:
            try:
                ledger._add(seq, kind, body=orjson.loads(text))
            except _UNREADABLE:
                continue
        return ledger

    def place(self, score: Any) -> RecordedScore | None:
        """Return the event of a score; None where none has it."""
        return self.scores.get(_key(score))

    def _add(self, seq: int, kind: str, *, body: dict[str, Any]) -> None:
        if kind == ACCEPTED:
            owner, description = body.get("owner"), body.get("description_commitment")
            known = _Expected(
                seq,
                body.get("record_commitment"),
                owner=owner,
                owner_event=seq,
                description=description,
                description_event=seq,
            )
            self.submissions.setdefault(body["submission"], known)  # the first one: nobody accepts twice
        elif kind == EDITED and body["entry"] in self.submissions:
            expected = self.submissions[body["entry"]]
            expected.description, expected.description_event = body.get("description_commitment"), seq
        elif kind == TRANSFERRED and body["entry"] in self.submissions:
            expected = self.submissions[body["entry"]]
            expected.owner, expected.owner_event = body["to"], seq
        elif kind in (audit.SCORED, audit.SCORES_RECORDED):
            place = RecordedScore(seq, body["recorded_at"], submission=body.get("submission"))
            for commitment in body["commitments"]:
                self.scores[body["label_revision"], body["scorer_version"], commitment] = place
        elif kind.startswith(_LABELS) and isinstance(body.get("revision"), str):
            if kind == REGISTERED:
                self.first = self.first or body["benchmark"]
            key = (body.get("benchmark", self.first), body["revision"])
            self.labels.setdefault(key, {}).update(body)
            if kind == REGISTERED:
                self.registered[key] = seq
        else:
            self._add_board(seq, kind, body=body)

    def _add_board(self, seq: int, kind: str, *, body: dict[str, Any]) -> None:
        benchmark = body.get("benchmark", self.first)
        if kind == PUBLISHED:
            self.snapshots[body["snapshot"]] = seq
            self.published[benchmark] = (seq, body["snapshot"])
        elif kind == COMPUTED:
            for revision, name in body["relations"].items():
                summary = body.get("summaries_sha256", {}).get(revision)
                self.relations.setdefault((benchmark, revision, name), {})[summary] = seq
        elif kind == ACTIVATED:
            self.activated[benchmark] = (seq, body["to"])


def check(session: Session) -> Iterator[Mismatch]:
    """Yield every row that differs from its event, and every event whose row is gone."""
    wanted = select(AuditEvent.seq, AuditEvent.kind, AuditEvent.body)
    wanted = wanted.where(AuditEvent.kind.in_(_KINDS) | AuditEvent.kind.startswith(_LABELS)).order_by(AuditEvent.seq)
    ledger = Ledger.of(session.execute(wanted).yield_per(_PAGE))
    for table, rule in _RULES.items():
        yield from _readable(table, lambda rule=rule: rule(session, ledger))  # type: ignore[misc]


def about(session: Session, submission: str) -> tuple[Ledger, list[Mismatch]]:
    """Return the events about one submission and about labels, and what does not agree with them of its rows and
    theirs."""
    recorded_under = select(Score.benchmark, Score.label_revision, Score.created_at)
    recorded_under = recorded_under.where(Score.submission_id == submission)
    scores = session.execute(recorded_under).all()
    about_it = select(EventSubject.seq).where(EventSubject.subject == submission)
    ours = AuditEvent.kind.startswith(_LABELS) | (
        AuditEvent.kind.in_(_ABOUT_SUBMISSIONS) & AuditEvent.seq.in_(about_it)
    )
    for benchmark, revision, created_at in scores:
        subject = audit.labels(revision, **audit.scope(session, benchmark))
        chunks = select(EventSubject.seq).where(EventSubject.subject == subject)
        recorded = AuditEvent.body.contains(f'"recorded_at":{json.dumps(created_at)}', autoescape=True)
        ours |= (AuditEvent.kind == audit.SCORES_RECORDED) & AuditEvent.seq.in_(chunks) & recorded
    columns = (AuditEvent.seq, AuditEvent.kind, AuditEvent.body, AuditEvent.prev_hash, AuditEvent.hash)
    events = session.execute(select(*columns).where(ours).order_by(AuditEvent.seq)).all()
    ledger = Ledger.of((event.seq, event.kind, event.body) for event in events)
    wrong = list(_links(session, events))
    only = (submission,)
    for table, rule in (("submissions", check_submissions), ("scores", check_scores)):
        wrong += _readable(table, lambda rule=rule: rule(session, ledger, only))  # type: ignore[misc]
    under = {(benchmark, revision) for benchmark, revision, _ in scores}
    return ledger, wrong + list(_readable("label_sets", lambda: check_labels(session, ledger, only=under)))


def accepted(session: Session, submissions: Collection[str]) -> tuple[list[Any], list[Mismatch]]:
    """Return the rows of submissions, and what of their votes is not what the events of their acceptance hold."""
    about_them = select(EventSubject.seq).where(EventSubject.subject.in_(submissions))
    columns = (AuditEvent.seq, AuditEvent.kind, AuditEvent.body, AuditEvent.prev_hash, AuditEvent.hash)
    chosen = select(*columns).where(AuditEvent.kind == ACCEPTED, AuditEvent.seq.in_(about_them))
    events = session.execute(chosen.order_by(AuditEvent.seq)).all()
    ledger = Ledger.of((event.seq, event.kind, event.body) for event in events)
    rows: list[Any] = []

    def compare() -> Iterator[Mismatch]:
        rows.extend(session.execute(stored_rows.submissions().where(Submission.id.in_(submissions))))
        for row in rows:
            yield from _record_differs(row, ledger.submissions.get(row.id))

    return rows, [*_readable("submissions", compare), *_links(session, events)]


def _readable(table: str, rows: Callable[[], Iterator[Mismatch]]) -> Iterator[Mismatch]:
    """Yield the mismatches of a table, of which a row may hold what no client can decode."""
    try:
        yield from rows()
    except OperationalError as error:
        if "UTF-8" not in str(error):
            raise
        yield Mismatch(
            table,
            "of unknown number",
            event=None,
            why="a row cannot be read, it holds something that is not text",
        )
    except _UNREADABLE as error:
        yield Mismatch(
            table,
            "of unknown number",
            event=None,
            why=f"a row cannot be read ({type(error).__name__})",
        )


def _links(session: Session, events: Collection[Any]) -> Iterator[Mismatch]:
    """Yield events that do not hold between their neighbours."""
    following = select(AuditEvent.seq, AuditEvent.prev_hash).where(
        AuditEvent.seq.in_([event.seq + 1 for event in events])
    )
    after: dict[int, str] = {seq - 1: previous for seq, previous in session.execute(following)}
    try:
        head = audit.head(session)
    except audit.HeadMissing:
        yield Mismatch("audit_head", "1", event=None, why="the row is missing")
        return
    for event in events:
        last = head.hash if head.seq == event.seq else None
        try:
            holds = audit.link(event.prev_hash, event.body) == event.hash == after.get(event.seq, last)
        except _UNREADABLE:
            holds = False
        if not holds:
            yield Mismatch("events", str(event.seq), event=None, why="the audit chain is broken there")


def check_submissions(session: Session, ledger: Ledger, only: Collection[str] | None = None) -> Iterator[Mismatch]:
    """Yield votes, what never changes, owner and description."""
    wanted = stored_rows.submissions()
    rows = session.execute(wanted if only is None else wanted.where(Submission.id.in_(only)))
    seen = set()
    for row in rows.yield_per(_PAGE):
        seen.add(row.id)
        yield from _differences(row, ledger.submissions.get(row.id))
    for name in sorted((set(ledger.submissions) if only is None else set(only) & set(ledger.submissions)) - seen):
        yield Mismatch("submissions", name, event=ledger.submissions[name].accepted, why="the row is missing")


def _differences(row: Any, expected: _Expected | None) -> Iterator[Mismatch]:
    yield from _record_differs(row, expected)
    if expected is None:
        return
    if _computed(row_commitments.of_description, row) != expected.description:
        why = "the description is not what it was made last"
        yield Mismatch("submissions", row.id, event=expected.description_event, why=why)
    if row.owner != expected.owner:
        yield Mismatch("submissions", row.id, event=expected.owner_event, why="the owner is another one")


def _record_differs(row: Any, expected: _Expected | None) -> Iterator[Mismatch]:
    """Yield what is wrong with the votes, and what never changes, of a submission."""
    if expected is None:
        yield Mismatch("submissions", row.id, event=None, why="no event says that it was accepted")
    elif _computed(row_commitments.of_record, row) != expected.record:
        why = "votes, or another column that never changes, are not what was accepted"
        yield Mismatch("submissions", row.id, event=expected.accepted, why=why)


def _computed(commitment: Callable[[Any], str], row: Any) -> str:
    try:
        return commitment(row._mapping)
    except _UNREADABLE:  # anyone who changes rows may leave anything in them
        return ""


def check_scores(session: Session, ledger: Ledger, only: Collection[str] | None = None) -> Iterator[Mismatch]:
    """Tallies, whose they are, and when they were recorded."""
    columns = (Score.benchmark, Score.submission_id, Score.label_revision, Score.scorer_version, Score.tally)
    wanted = select(Score.id, *columns, Score.salt, Score.created_at, Submission.content_sha256)
    wanted = wanted.outerjoin(Submission, Submission.id == Score.submission_id)
    if only is not None:
        wanted = wanted.where(Score.submission_id.in_(only))
    left = dict(ledger.scores)
    changed: dict[tuple[str, str], int] = {}
    for row in session.execute(wanted).yield_per(_PAGE):
        place = left.pop(_key(row), None)
        if place is not None and place.recorded_at == row.created_at:
            continue
        rules = (row.label_revision, row.scorer_version)
        changed[rules] = changed.get(rules, 0) + (place is None)
        why = "the tally is not the one that was recorded" if place is None else "its date is not when it was recorded"
        name = f"{row.id} (entry {row.submission_id}, label revision {rules[0]}, scorer version {rules[1]})"
        yield Mismatch("scores", name, event=place and place.seq, why=why)
    if only is None:
        yield from _missing_scores(left, changed)


def _missing_scores(
    left: Mapping[tuple[str, str, str], RecordedScore], changed: dict[tuple[str, str], int]
) -> Iterator[Mismatch]:
    """Return recorded scores without a row, beside those whose row was changed."""
    for (revision, version, _tally), place in left.items():
        if changed.get((revision, version), 0) > 0:
            changed[revision, version] -= 1
            continue
        whose = f" of entry {place.submission}" if place.submission else ""
        about = f"under label revision {revision}{whose}"
        yield Mismatch("scores", about, event=place.seq, why="a row is missing")


def _key(score: Any) -> tuple[str, str, str]:
    """Return under what the ledger has a score, as a row; nothing that it has for a row with other content."""
    revision, version = score.label_revision, score.scorer_version
    facts = ScoreFacts(score.benchmark, score.submission_id, score.content_sha256, revision, version)
    try:
        return revision, version, row_commitments.of_score(facts, tally=score.tally, salt=score.salt)
    except _UNREADABLE:
        return revision, version, ""


def check_labels(session: Session, ledger: Ledger, *, only: Collection[_Key] | None = None) -> Iterator[Mismatch]:
    """Digests, commitments, salts and disclosure of label revisions. The labels themselves are not in the database."""
    registered = set(ledger.registered) if only is None else set(ledger.registered) & set(only)
    for table, differs in _LABEL_TABLES.items():
        for row in session.scalars(select(table)):
            key = (row.benchmark, row.revision)
            if only is None or key in only:
                registered -= {key} if table is RegisteredLabelSet else set()
                facts = ledger.labels.get(key, {})
                if differs(row, facts):
                    unknown = "no event says that there is such a revision"
                    why = "the row is not what its events say" if facts else unknown
                    yield Mismatch(table.__tablename__, row.revision, event=facts.get("seq"), why=why)
    for key in sorted(registered):
        yield Mismatch("label_sets", key[1], event=ledger.registered[key], why="the row is missing")


def _set_differs(row: Any, facts: Mapping[str, Any]) -> bool:
    return any(getattr(row, name) != facts.get(name) for name in ("benchmark", "digest", "items"))


def _commitment_differs(row: Any, facts: Mapping[str, Any]) -> bool:
    return row.commitment != facts.get("commitment") or not _opens(facts, row.salt)


def _import_differs(row: Any, facts: Mapping[str, Any]) -> bool:
    """Return whether a row differs from its event, which has the salt once the revision is retired."""
    names = ("benchmark", "items", "digest", "commitment", "difference", "salt", "disclosure")
    differs = any(getattr(row, name) != facts.get(name) for name in names)
    return differs or not (row.salt is None or _opens(facts, row.salt))


_LABEL_TABLES: dict[Any, Callable[[Any, Mapping[str, Any]], bool]] = {
    RegisteredLabelSet: _set_differs,
    LabelCommitment: _commitment_differs,
    ImportedLabels: _import_differs,
}


def _opens(facts: Mapping[str, Any], salt: str) -> bool:
    try:
        return bool(commit(facts["digest"], bytes.fromhex(salt)) == facts["commitment"])
    except _UNREADABLE:
        return False


def check_board(session: Session, ledger: Ledger) -> Iterator[Mismatch]:
    """Yield boards that point to something else than was decided."""
    columns = (BoardState.benchmark, BoardState.label_revision, BoardState.scorer_version, BoardState.snapshot_id)
    for row in session.execute(select(*columns).order_by(BoardState.benchmark)):
        seq, to = ledger.activated.get(row.benchmark) or (None, {})
        if (row.label_revision, row.scorer_version) != (to.get("label_revision"), to.get("scorer_version")):
            why = "it shows other labels or another scorer version than was decided"
            yield Mismatch("board", row.benchmark, event=seq, why=why)
        seq, snapshot = ledger.published.get(row.benchmark) or (None, None)
        if row.snapshot_id != snapshot:
            yield Mismatch("board", row.benchmark, event=seq, why="its snapshot is not the one that was published last")


def check_snapshots(session: Session, ledger: Ledger) -> Iterator[Mismatch]:
    """Yield whether every snapshot is the one that was published, and the current one shows what the rows say."""
    for name, content in snapshots.contents(session):
        if name not in ledger.snapshots:
            yield Mismatch("snapshots", name, event=None, why="no event says that it was published")
        elif content is None or hashlib.sha256(content).hexdigest() != name:
            yield Mismatch("snapshots", name, event=ledger.snapshots[name], why="the content is not what was published")
    for seq, name in ledger.published.values():
        yield from _current_snapshot(session, ledger, seq=seq, name=name)


def _current_snapshot(session: Session, ledger: Ledger, *, seq: int, name: str) -> Iterator[Mismatch]:
    """Yield the last one against the rows: it may have been made while they were changed."""
    if session.execute(select(Snapshot.id).where(Snapshot.id == name)).first() is None:
        yield Mismatch("snapshots", name, event=seq, why="the row is missing")
        return
    try:
        text = snapshots.content(session, name)
    except snapshots.UNREADABLE:
        return  # said already
    if hashlib.sha256(text).hexdigest() != name:
        return  # said already
    content = orjson.loads(text)
    stored = _stored_tallies(session, content["scorer_version"])
    described = {row.id: row for row in session.execute(_descriptions())}
    for entry in content["entries"]:
        tallies = {revision: orjson.dumps(tally).decode() for revision, tally in entry["tallies"].items()}
        if any(stored.get((entry["id"], revision)) != text for revision, text in tallies.items()):
            yield Mismatch(
                "snapshots",
                name,
                event=seq,
                why=f"it shows other scores of entry {entry['id']} than are stored",
            )
        expected = ledger.submissions.get(entry["id"])
        if expected is None or expected.description_event > content["audit_seq"]:
            continue  # edited since: the next snapshot will show it
        if entry["id"] in described and not _same_description(entry, described[entry["id"]]):
            yield Mismatch(
                "snapshots",
                name,
                event=seq,
                why=f"it describes entry {entry['id']} otherwise than its row",
            )


def _stored_tallies(session: Session, version: str) -> dict[tuple[str, str], str]:
    wanted = select(Score.submission_id, Score.label_revision, Score.tally).where(Score.scorer_version == version)
    return {(name, revision): tally for name, revision, tally in session.execute(wanted)}


def _descriptions() -> Any:
    return select(Submission.id, *(getattr(Submission, name) for name in DESCRIPTION))


def _same_description(entry: Mapping[str, Any], row: Any) -> bool:
    """Return whether an entry of a snapshot describes the row; an anonymous one lacks what identifies its owner."""
    secret = IDENTIFYING if entry.get("anonymous_until") is not None else ()
    return all(entry.get(name) == getattr(row, name) for name in DESCRIPTION if name not in secret)


def check_relations(session: Session, ledger: Ledger) -> Iterator[Mismatch]:
    """Check stored relations between judges: content and summary."""
    for row, content in stored_relations.contents(session):
        # One content may have several summaries, which tell how many variants a judge has.
        summaries = ledger.relations.get((row.benchmark, row.label_revision, row.id), {})
        name = f"{row.id} (label revision {row.label_revision})"
        if not summaries:
            yield Mismatch("relations", name, event=None, why="no event says that they were computed")
        elif content is None or not _is_recorded(row.id, content, summaries=summaries):
            yield Mismatch("relations", name, event=max(summaries.values()), why="the content is not what was computed")


def _is_recorded(name: str, content: RelationsContent, *, summaries: Collection[str | None]) -> bool:
    known = sha256(content.summary.decode(errors="replace")) in summaries
    return known and hashlib.sha256(content.arrays).hexdigest() == name


_RULES: dict[str, Callable[[Session, Ledger], Iterator[Mismatch]]] = {
    "submissions": check_submissions,
    "scores": check_scores,
    "label_sets": check_labels,
    "board": check_board,
    "snapshots": check_snapshots,
    "relations": check_relations,
}
