"""SQL of receipts and of the activity list."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, exists, select
from sqlalchemy.orm import Session

from receipts.payload import Labels
from storage.integrity import audit, row_commitments
from storage.labels import label_imports
from storage.models.core import RegisteredLabelSet, Score, Submission
from storage.models.moderation import ImportedLabels, Moderation
from storage.models.receipts import LabelCommitment
from vlrb.disclosure import PUBLIC, merged


class ReceiptRow(NamedTuple):
    """A submission as far as its receipts go."""

    id: str
    owner: str
    model: str
    version: str
    content_sha256: str
    created_at: float  # seconds since 1970 UTC
    receipt: dict[str, Any]
    hidden: bool


class Scored(NamedTuple):
    """A score as it is stored, by the order in which scores were made."""

    submission_id: str
    label_revision: str
    scorer_version: str
    tally: str
    created_at: float
    salt: str | None

    @property
    def tally_sha256(self) -> str:
        """Of the stored text."""
        return row_commitments.sha256(self.tally)

    @property
    def commitment(self) -> str | None:
        """As the event that recorded it holds it."""
        return self.salt and row_commitments.of_score(
            self.submission_id,
            self.label_revision,
            version=self.scorer_version,
            tally_sha256=self.tally_sha256,
            salt=self.salt,
        )


def receipts_of_submission(session: Session, benchmark: str, *, submission: str) -> ReceiptRow | None:
    """Return a submission; None if there is no such one."""
    row = session.execute(_select_receipts(benchmark).where(Submission.id == submission)).one_or_none()
    return _receipt_row(row) if row else None


def receipts_of_account(session: Session, benchmark: str, *, owner: str, most: int) -> list[ReceiptRow]:
    """Return what an account has submitted, the newest first."""
    rows = session.execute(
        _select_receipts(benchmark)
        .where(Submission.owner == owner)
        .order_by(Submission.created_at.desc(), Submission.id)
        .limit(most)
    )
    return [_receipt_row(row) for row in rows]


def _select_receipts(benchmark: str) -> Any:
    columns = (Submission.id, Submission.owner, Submission.model, Submission.version, Submission.content_sha256)
    return (
        select(*columns, Submission.created_at, Submission.receipt, Moderation.hidden_at)
        .outerjoin(Moderation, Moderation.submission_id == Submission.id)
        .where(Submission.benchmark == benchmark)
    )


def _receipt_row(row: Any) -> ReceiptRow:
    return ReceiptRow._make((*row[:-1], row[-1] is not None))


def scores(session: Session, submissions: Collection[str]) -> list[Scored]:
    """Return all scores of some submissions, but those under drafts: of these nobody may know."""
    draft = exists().where(
        ImportedLabels.benchmark == Score.benchmark,
        ImportedLabels.revision == Score.label_revision,
        ImportedLabels.published_at.is_(None),
    )
    rows = session.execute(
        select(*(getattr(Score, name) for name in Scored._fields))
        .where(Score.submission_id.in_(submissions), ~draft)
        .order_by(Score.created_at, Score.id)
    )
    return [Scored(*row) for row in rows]


def labels(session: Session, benchmark: str, *, hidden: Mapping[str, str]) -> dict[str, Labels]:
    """Return every label revision of a benchmark that is no draft. `hidden`: the configured ones that are not public,
    and their levels."""
    levels = merged(hidden, label_imports.hidden_revisions(session, benchmark))
    drafts = label_imports.drafts(session, benchmark)
    rows = session.execute(
        select(
            RegisteredLabelSet.revision,
            RegisteredLabelSet.items,
            RegisteredLabelSet.digest,
            LabelCommitment.commitment,
            LabelCommitment.salt,
            ImportedLabels.commitment,
            ImportedLabels.salt,
        )
        .outerjoin(LabelCommitment, _same_revision(LabelCommitment))
        .outerjoin(ImportedLabels, _same_revision(ImportedLabels))
        .where(RegisteredLabelSet.benchmark == benchmark)
    )
    return {
        name: Labels(
            name,
            items,
            level=levels.get(name, PUBLIC),
            digest=digest,
            commitment=imported or own,
            salt=salt if imported else own_salt,
        )
        for name, items, digest, own, own_salt, imported, salt in rows
        if name not in drafts
    }


def _same_revision(table: type[LabelCommitment] | type[ImportedLabels]) -> ColumnElement[bool]:
    return (table.benchmark == RegisteredLabelSet.benchmark) & (table.revision == RegisteredLabelSet.revision)


def in_chunk(score: Scored, chunk: audit.StoredEvent) -> bool:
    """Return whether a score was recorded with this chunk of a re-score."""
    same = {"label_revision": score.label_revision, "scorer_version": score.scorer_version}
    values = {**same, "recorded_at": score.created_at}
    return all(chunk.body.get(name) == value for name, value in values.items()) and _holds(chunk, score)


def _holds(chunk: audit.StoredEvent, score: Scored) -> bool:
    return score.commitment in chunk.body.get("commitments", ())
