"""SQL of submissions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import Select, exists, func, insert, select
from sqlalchemy.orm import Session

from storage.labels import label_sets
from storage.models.core import QuotaCharge, Score, Submission
from storage.models.queue import Job, State
from storage.visibility import LET_THROUGH, REJECTED, WAITING
from submissions.quota import YEAR


class SubmissionFacts(NamedTuple):
    """Name of a submission, what was decided about it, and its attempt number under the labels of that time."""

    id: str
    owner: str
    model: str
    version: str
    file_name: str
    created_at: float
    revision: str  # of the file
    report: dict[str, Any]
    approval: str | None
    approval_reason: str | None
    anonymous_until: float | None
    held_back_at: float | None
    hidden_at: float | None
    withdrawn_reason: str | None
    attempt: int | None
    attempt_revision: str | None


def find(session: Session, benchmark: str, *, owner: str, **same: str) -> str | None:
    """Return the id of the submission of an owner with these values: its bytes, or its model and version."""
    found = select(Submission.id).filter_by(benchmark=benchmark, owner=owner, **same)
    return session.execute(found).scalar_one_or_none()


def described(session: Session, benchmark: str, *, submission: str) -> SubmissionFacts | None:
    """Return what a submission is called; None if there is no such one."""
    row = session.execute(
        _described().where(Submission.id == submission, Submission.benchmark == benchmark)
    ).one_or_none()
    return SubmissionFacts(*row) if row else None


def owned(session: Session, benchmark: str, *, owner: str, most: int) -> list[SubmissionFacts]:
    """Return what an account has submitted, the newest first."""
    rows = session.execute(
        _described()
        .where(Submission.benchmark == benchmark, Submission.owner == owner)
        .order_by(Submission.created_at.desc(), Submission.id)
        .limit(most)
    )
    return [SubmissionFacts(*row) for row in rows]


def _described() -> Select[*tuple[Any, ...]]:
    return select(*(getattr(Submission, name) for name in SubmissionFacts._fields))


def is_approved(session: Session, benchmark: str, *, owner: str) -> bool:
    """Return whether anything of an account was ever taken to be scored, by a maintainer or because nobody had to
    ask one."""
    any_taken = select(Submission.id).where(Submission.benchmark == benchmark, Submission.owner == owner, LET_THROUGH)
    return session.execute(any_taken.limit(1)).first() is not None


def waiting(session: Session, benchmark: str, *, owner: str) -> str | None:
    """Return the submission of an account that waits for a maintainer."""
    rule = (Submission.benchmark == benchmark, Submission.owner == owner, Submission.approval == WAITING)
    return session.execute(select(Submission.id).where(*rule).limit(1)).scalar_one_or_none()


def current_revision(session: Session, benchmark: str) -> str | None:
    """Return the label revision that the benchmark's board shows; None before a worker has said so."""
    pointer = label_sets.current(session, benchmark)
    return pointer.label_revision if pointer else None


def quota_used(session: Session, benchmark: str, *, subject: str, now: float) -> list[float]:
    """Return when what counts against a quota of a benchmark was taken: attempts of the last 365 days.

    That is whichever labels the board showed, but not those that the service failed to score, under every label
    revision that it tried, or that a maintainer rejected.
    """
    failed = exists().where(Job.submission_id == Submission.id, Job.state == State.FAILED.value)
    to_come = (State.QUEUED.value, State.RUNNING.value)
    still_tried = exists().where(Job.submission_id == Submission.id, Job.state.in_(to_come))
    scored = exists().where(Score.submission_id == Submission.id)
    rows = session.scalars(
        select(Submission.attempted_at)
        .join(QuotaCharge, QuotaCharge.submission_id == Submission.id)
        .where(
            Submission.benchmark == benchmark,
            QuotaCharge.subject == subject,
            Submission.attempted_at > now - YEAR,
            ~(failed & ~still_tried & ~scored),
            Submission.approval.is_distinct_from(REJECTED),
        )
    )
    return list(rows)


def count_attempts(session: Session, benchmark: str, *, subject: str, label_revision: str) -> int:
    """Return how many attempts a subject has made at a label revision of a benchmark, ever."""
    attempts = select(func.count()).select_from(Submission)
    attempts = attempts.join(QuotaCharge, QuotaCharge.submission_id == Submission.id)
    same = (Submission.benchmark == benchmark, Submission.attempt_revision == label_revision)
    return session.execute(attempts.where(QuotaCharge.subject == subject, *same)).scalar_one()


def charge(session: Session, submission: str, *, subjects: Sequence[str]) -> None:
    """Record whose quotas a submission takes from."""
    session.execute(insert(QuotaCharge), [{"submission_id": submission, "subject": subject} for subject in subjects])


def benchmark_of(session: Session, submission: str) -> str | None:
    """Return the benchmark of a submission; None where there is no such one."""
    return session.scalars(select(Submission.benchmark).where(Submission.id == submission)).first()
