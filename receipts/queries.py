"""SQL of receipts and of the activity list."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

from sqlalchemy import exists, select
from sqlalchemy.orm import Session

from storage.integrity import audit, row_commitments
from storage.integrity.integrity_check import ACCEPTED
from storage.integrity.row_commitments import ScoreFacts
from storage.labels import label_imports, label_levels
from storage.models.core import AuditEvent, EventSubject, RegisteredLabelSet, Score, Submission
from storage.models.moderation import ImportedLabels
from vlrb.disclosure import PUBLIC


class ReceiptRow(NamedTuple):
    """A submission as far as its receipts go."""

    id: str
    owner: str
    model: str
    version: str
    created_at: float  # seconds since 1970 UTC
    hidden_at: float | None
    held_back_at: float | None
    anonymous_until: float | None
    approval: str | None

    @property
    def published(self) -> bool:
        """Whether it may be on the board."""
        return self.hidden_at is None and self.held_back_at is None


class Scored(NamedTuple):
    """A score as it is stored, by the order in which scores were made."""

    benchmark: str
    submission_id: str
    label_revision: str
    scorer_version: str
    tally: str
    created_at: float
    salt: str
    content_sha256: str

    @property
    def facts(self) -> ScoreFacts:
        """What was scored, by which rules."""
        return ScoreFacts(
            self.benchmark, self.submission_id, self.content_sha256, self.label_revision, self.scorer_version
        )

    @property
    def commitment(self) -> str:
        """As the event that recorded it holds it."""
        return row_commitments.of_score(self.facts, tally=self.tally, salt=self.salt)


class Labels(NamedTuple):
    """A label revision as a receipt opens it. `level`: vlrb.disclosure; `salt`: None where it is not revealed."""

    digest: str
    salt: str | None
    level: str


def receipts_of_submission(session: Session, benchmark: str, *, submission: str) -> ReceiptRow | None:
    """Return a submission; None if there is no such one."""
    row = session.execute(_select_receipts(benchmark).where(Submission.id == submission)).one_or_none()
    return ReceiptRow._make(row) if row else None


def receipts_of_account(session: Session, benchmark: str, *, owner: str, most: int) -> list[ReceiptRow]:
    """Return what an account has submitted, the newest first."""
    mine = _select_receipts(benchmark).where(Submission.owner == owner)
    rows = session.execute(mine.order_by(Submission.created_at.desc(), Submission.id).limit(most))
    return [*map(ReceiptRow._make, rows)]


def _select_receipts(benchmark: str) -> Any:
    return select(*(getattr(Submission, name) for name in ReceiptRow._fields)).where(Submission.benchmark == benchmark)


def acceptance(session: Session, submission: str) -> audit.Recorded | None:
    """Return the event by which a submission was accepted."""
    accepted = audit.newest(session, [ACCEPTED], subjects=[submission])
    return audit.recorded(session, accepted[-1].seq) if accepted else None


def scores(session: Session, submissions: Collection[str]) -> list[Scored]:
    """Return all scores of some submissions, but those under drafts: of these nobody may know."""
    draft = exists().where(
        ImportedLabels.benchmark == Score.benchmark,
        ImportedLabels.revision == Score.label_revision,
        ImportedLabels.published_at.is_(None),
    )
    rows = session.execute(
        select(*(getattr(Score, name) for name in Scored._fields[:-1]), Submission.content_sha256)
        .join(Submission, Submission.id == Score.submission_id)
        .where(Score.submission_id.in_(submissions), ~draft)
        .order_by(Score.created_at, Score.id)
    )
    return [Scored._make(row) for row in rows]


def event_of(session: Session, score: Scored) -> audit.Recorded | None:
    """Return the event that committed to a score, alone or with others; None where none did that still holds."""
    under = audit.labels(score.label_revision, score.benchmark)
    about = select(EventSubject.seq).where(EventSubject.subject.in_((score.submission_id, under)))
    committed = select(AuditEvent.__table__).where(
        AuditEvent.kind.in_((audit.SCORED, audit.SCORES_RECORDED)),
        AuditEvent.seq.in_(about),
        AuditEvent.body.contains(f'"{score.commitment}"'),
    )
    event = session.execute(committed).first()
    there = event is not None and audit.holds(session, [event])
    return audit.Recorded(event.body, event.prev_hash, hash=event.hash) if event and there else None


def labels(session: Session, benchmark: str) -> dict[str, Labels]:
    """Return every label revision of a benchmark that is no draft."""
    levels = label_levels.levels(session, benchmark)
    drafts = label_imports.drafts(session, benchmark)
    columns = (RegisteredLabelSet.revision, RegisteredLabelSet.digest, RegisteredLabelSet.salt, ImportedLabels.salt)
    same = (ImportedLabels.benchmark == benchmark) & (ImportedLabels.revision == RegisteredLabelSet.revision)
    rows = session.execute(
        select(*columns, ImportedLabels.revision)
        .outerjoin(ImportedLabels, same)
        .where(RegisteredLabelSet.benchmark == benchmark)
    )
    return {
        name: Labels(digest, salt if imported else own_salt, levels.get(name, PUBLIC))
        for name, digest, own_salt, salt, imported in rows
        if name not in drafts
    }
