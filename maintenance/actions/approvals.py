"""Use cases about first submissions. No label is used before a submission is approved."""

from __future__ import annotations

from dataclasses import dataclass

from maintenance import approval_queries
from maintenance.types import ActionResult, Conflict, Identity, NotFound, clean_reason, require_maintainer
from storage import audit, job_queue, visibility
from storage.database import Database
from storage.visibility import APPROVED, REJECTED

LET_THROUGH, TURNED_DOWN = "submission.approved", "submission.rejected"


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
    abstaining: float | None  # share of its votes or pairs that count for neither response; None: not recorded
    content_sha256: str


def waiting(database: Database, user: Identity, benchmark: str) -> list[PendingApproval]:
    """Return what waits, the oldest first. For maintainers."""
    require_maintainer(user)
    with database.read() as session:
        return [PendingApproval(**row) for row in approval_queries.waiting(session, benchmark)]


def approve(database: Database, user: Identity, submission: str, reason: str) -> ActionResult:
    """Let a first submission through; it is scored at once, and the account's next ones need no approval."""
    return _decide(database, user, submission, reason, APPROVED)


def reject(database: Database, user: Identity, submission: str, reason: str) -> ActionResult:
    """Turn a first submission down; its owner reads the reason, and the slot in the quota is given back."""
    return _decide(database, user, submission, reason, REJECTED)


def _decide(database: Database, user: Identity, submission: str, reason: str, wanted: str) -> ActionResult:
    require_maintainer(user)
    why = clean_reason(reason)
    with database.write() as session:
        state = approval_queries.locked(session, submission)
        if state is None:
            raise NotFound(f"No submission {submission[:40]!r} has ever waited for approval.")
        if state == wanted:
            return ActionResult(False, f"Submission {submission} is {wanted} already.")
        if state == APPROVED:
            raise Conflict("already-approved", "It was let through and scored. Withdraw or hide the entry instead.")
        visibility.record_decision(session, submission, wanted, user.account, why)
        if wanted == APPROVED:
            job_queue.enqueue_current(session, submission)
        facts = {"submission": submission, "by": user.account, "via": user.auth_method, "reason": why}
        seq = audit.append(session, LET_THROUGH if wanted == APPROVED else TURNED_DOWN, facts)
    return ActionResult(True, f"Submission {submission} is {wanted}.", seq)
