"""SQL of pending submissions, and the lock under which one is decided."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from storage import visibility
from storage.clock import iso, read_clock
from storage.models.core import Account, Submission
from storage.visibility import WAITING

_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class PendingApproval:
    """A submission that waits. `account_age_days`: as the sign-in tells, else since the first sign-in here."""

    submission: str
    model: str
    version: str
    organisation: str | None
    account: str
    name: str
    organisations: tuple[str, ...]
    account_age_days: int | None
    submitted_at: str
    file: str  # format, items, votes per item
    reasons: tuple[str, ...]  # codes of why it waits; none of what came before they were kept
    content_sha256: str

    @property
    def why(self) -> str:
        """The reasons in words."""
        return visibility.approval_words(self.reasons)


def locked(session: Session, submission: str) -> str | None:
    """Return the state of an approval, which nobody else changes until the transaction ends; None where there is
    none."""
    wanted = select(Submission.approval).where(Submission.id == submission)
    return session.execute(wanted.with_for_update()).scalar_one_or_none()


def waiting(session: Session, benchmark: str) -> list[PendingApproval]:
    """Return what waits, with what is known of its account, the oldest first."""
    now = read_clock(session)
    rows = session.execute(
        select(Submission, Account)
        .outerjoin(Account, Account.id == Submission.owner)
        .where(Submission.approval == WAITING, Submission.benchmark == benchmark)
        .order_by(Submission.created_at, Submission.id)
    )
    return [_described(submission, account, now=now) for submission, account in rows]


def numbers_waiting(session: Session) -> dict[str, int]:
    """Return how many submissions wait, by benchmark; without those where none waits."""
    waiting = select(Submission.benchmark, func.count()).where(Submission.approval == WAITING)
    rows = session.execute(waiting.group_by(Submission.benchmark))
    return dict(sorted(rows.all()))


def _described(submission: Submission, account: Account | None, *, now: float) -> PendingApproval:
    since = [at for at in (account.issuer_created_at, account.first_seen_at) if at is not None] if account else []
    organisations = account.organisations if account else ()
    return PendingApproval(
        submission.id,
        submission.model,
        submission.version,
        submission.organisation,
        account=submission.owner,
        name=account.name if account else submission.owner,
        organisations=tuple(str(organisation["name"] or organisation["id"]) for organisation in organisations),
        account_age_days=int((now - min(since)) // _DAY) if since else None,
        submitted_at=iso(submission.created_at),
        file=f"{submission.format}, {submission.revision}, K={submission.votes_per_item}",
        reasons=tuple(submission.report.get("approval", ())),
        content_sha256=submission.content_sha256,
    )
