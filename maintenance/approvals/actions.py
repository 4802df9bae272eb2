"""What maintainers do about submissions that wait for them. No label is touched before one is let through."""

from __future__ import annotations

from dataclasses import dataclass

from maintenance.approvals import queries
from maintenance.values import Done, Identity, NotFound, NotPossible, require_maintainer, words
from storage import audit, job_queue, visibility
from storage.database import Database
from storage.visibility import APPROVED, REJECTED

LET_THROUGH, TURNED_DOWN = "submission.approved", "submission.rejected"


@dataclass(frozen=True, slots=True)
class Waiting:
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


def waiting(database: Database, who: Identity, benchmark: str) -> list[Waiting]:
    """What waits, the oldest first. For maintainers."""
    require_maintainer(who)
    with database.read() as session:
        return [Waiting(**row) for row in queries.waiting(session, benchmark)]


def approve(database: Database, who: Identity, submission: str, reason: str) -> Done:
    """Let a first submission through; it is scored at once, and the account's next ones need no approval."""
    return _decide(database, who, submission, reason, APPROVED)


def reject(database: Database, who: Identity, submission: str, reason: str) -> Done:
    """Turn a first submission down; its owner reads the reason, and the slot in the quota is given back."""
    return _decide(database, who, submission, reason, REJECTED)


def _decide(database: Database, who: Identity, submission: str, reason: str, wanted: str) -> Done:
    require_maintainer(who)
    why = words(reason)
    with database.write() as session:
        state = queries.locked(session, submission)
        if state is None:
            raise NotFound(f"No submission {submission[:40]!r} has ever waited for approval.")
        if state == wanted:
            return Done(False, f"Submission {submission} is {wanted} already.")
        if state == APPROVED:
            raise NotPossible("already-approved", "It was let through and scored. Withdraw or hide the entry instead.")
        visibility.decide(session, submission, wanted, who.account, why)
        if wanted == APPROVED:
            job_queue.enqueue_current(session, submission)
        facts = {"submission": submission, "by": who.account, "via": who.via, "reason": why}
        seq = audit.append(session, LET_THROUGH if wanted == APPROVED else TURNED_DOWN, facts)
    return Done(True, f"Submission {submission} is {wanted}.", seq)
