"""SQL of anomaly cases, and the activity of unapproved accounts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from sqlalchemy import delete, exists, func, select, update
from sqlalchemy.orm import Session, aliased

from storage.clock import database_now
from storage.models.anomalies import AnomalyCase, AnomalyScanCursor
from storage.models.core import Score, Submission
from storage.models.quota import Attempt
from storage.models.visibility import Approval

LISTED = 200
_NO_ACCOUNT = "local"  # owner of submissions without sign-in, where users are not distinguished


class AnomalyRow(NamedTuple):
    """A suspicion with the entry's name. Instants are seconds since 1970, UTC."""

    id: int
    entry: str
    owner: str
    model: str
    version: str
    kind: str
    subject: str
    evidence: dict[str, Any]
    found_at: float
    decision: str | None
    reason: str | None
    decided_by: str | None
    decided_at: float | None


class AccountActivity(NamedTuple):
    """Scored submissions of accounts of which a maintainer has not yet let any submission through."""

    scored: int
    accounts: int


class ScoredOutcome(NamedTuple):
    """A scored submission, whose it is, and its tally under one label revision, as JSON."""

    submission: str
    owner: str
    tally: str
    abstaining: float  # the share of its votes or pairs that counts for neither response
    policy: dict[str, Any]  # the rules that it was submitted under


def list_anomalies(session: Session, benchmark: str, *, decided: bool = False) -> list[AnomalyRow]:
    """Return the newest LISTED first: those that nobody has decided about, or (``decided``) all."""
    columns = (Submission.id, Submission.owner, Submission.model, Submission.version)
    wanted = (
        select(
            AnomalyCase.id,
            *columns,
            AnomalyCase.kind,
            AnomalyCase.subject,
            AnomalyCase.evidence,
            AnomalyCase.found_at,
            AnomalyCase.decision,
            AnomalyCase.reason,
            AnomalyCase.decided_by,
            AnomalyCase.decided_at,
        )
        .join(Submission, Submission.id == AnomalyCase.submission_id)
        .where(Submission.benchmark == benchmark)
        .order_by(AnomalyCase.id.desc())
        .limit(LISTED)
    )
    if not decided:
        wanted = wanted.where(AnomalyCase.decision.is_(None))
    return [AnomalyRow._make(row) for row in session.execute(wanted)]


def number_open(session: Session, benchmark: str) -> int:
    """Return the number of open cases."""
    return session.execute(
        select(func.count())
        .select_from(AnomalyCase)
        .join(Submission, Submission.id == AnomalyCase.submission_id)
        .where(Submission.benchmark == benchmark, AnomalyCase.decision.is_(None))
    ).scalar_one()


def decide(session: Session, suspicion: int, *, decision: str, reason: str, account: str) -> bool | None:
    """Close a suspicion. False where it is closed already, None where there is none."""
    row = session.execute(
        select(AnomalyCase.decision).where(AnomalyCase.id == suspicion).with_for_update()
    ).one_or_none()
    if row is None or row.decision is not None:
        return None if row is None else False
    values = {"decision": decision, "reason": reason, "decided_by": account, "decided_at": database_now()}
    session.execute(update(AnomalyCase).where(AnomalyCase.id == suspicion).values(**values))
    return True


def reset(session: Session) -> int:
    """Forget what nobody has decided about and have the workers look at everything again; return how many it forgot."""
    cursors = select(AnomalyScanCursor.through_seq).order_by(AnomalyScanCursor.benchmark)
    session.execute(cursors.with_for_update())
    gone = session.execute(delete(AnomalyCase).where(AnomalyCase.decision.is_(None)).returning(AnomalyCase.id)).all()
    session.execute(update(AnomalyScanCursor).values(through_seq=0))
    return len(gone)


def account_activity(session: Session, seconds: float) -> AccountActivity:
    """Return what accounts without an approved submission have had scored in the last so many seconds."""
    earlier = aliased(Submission)
    approved = (
        exists()
        .where(Approval.submission_id == earlier.id, Approval.state == "approved", earlier.owner == Submission.owner)
        .correlate(Submission)
    )
    scored = exists().where(Score.submission_id == Attempt.submission_id)
    row = session.execute(
        select(func.count(), func.count(Submission.owner.distinct()))
        .select_from(Attempt)
        .join(Submission, Submission.id == Attempt.submission_id)
        .where(Attempt.at > database_now() - seconds, Submission.owner != _NO_ACCOUNT, scored, ~approved)
    ).one()
    return AccountActivity(*row)


def outcomes(session: Session, seconds: float, *, least: int) -> Iterator[ScoredOutcome]:
    """Return what accounts have had scored in the last so many seconds, approved or not, if they sent so many
    submissions."""
    lately = (Attempt.at > database_now() - seconds, Submission.owner != _NO_ACCOUNT)
    sent = select(Submission.owner).join(Attempt, Attempt.submission_id == Submission.id).where(*lately)
    busy_ones = sent.group_by(Submission.owner).having(func.count() >= least)
    rows = session.execute(
        select(Submission.id, Submission.owner, Score.tally, Submission.report, Submission.parse_rate, Attempt.policy)
        .join(Attempt, Attempt.submission_id == Submission.id)
        .join(Score, Score.submission_id == Submission.id)
        .where(*lately, Submission.owner.in_(busy_ones))
        .execution_options(yield_per=200)
    )
    # Submissions of before the share was recorded have the rate of their votes alone.
    return (
        ScoredOutcome(name, owner, tally=tally, abstaining=report.get("abstaining", 1 - parse_rate), policy=policy)
        for name, owner, tally, report, parse_rate, policy in rows
    )
