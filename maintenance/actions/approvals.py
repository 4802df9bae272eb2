"""Use cases about first submissions. No label is used before a submission is approved."""

from __future__ import annotations

from typing import Annotated

from maintenance import views
from maintenance.action_context import ActionContext
from maintenance.database import approval_queries
from maintenance.database.approval_queries import PendingApproval
from maintenance.registry import ParamInfo, Reason, action
from maintenance.types import ActionResult, Conflict, NotFound, clean_reason
from storage import visibility
from storage.integrity import audit
from storage.jobs import job_queue
from storage.visibility import APPROVED, REJECTED

SUBMISSION_APPROVED, SUBMISSION_REJECTED = "submission.approved", "submission.rejected"
SubmissionId = Annotated[str, ParamInfo("Submission", "e followed by eleven characters", metavar="SUBMISSION")]


@action("approvals.list", "GET /api/v1/maintenance/approvals", help="what waits", view=views.approvals)
def waiting(ctx: ActionContext) -> list[PendingApproval]:
    """Return submissions to a benchmark that wait, the oldest first, with what is known of each account.
    `health` has the number of all benchmarks. For maintainers."""
    with ctx.database.read() as session:
        return approval_queries.waiting(session, ctx.benchmark)


@action(
    "approvals.approve",
    "POST /api/v1/maintenance/approvals/{entry}/approve",
    audit=SUBMISSION_APPROVED,
    help="approve a first submission: it is scored at once",
    owner="A maintainer approved it.",
    button="Approve",
)
def approve(ctx: ActionContext, entry: SubmissionId, reason: Reason) -> ActionResult:
    """Score the submission; later ones of this account need no approval. For maintainers."""
    return _decide(ctx, entry, reason=reason, wanted=APPROVED)


@action(
    "approvals.reject",
    "POST /api/v1/maintenance/approvals/{entry}/reject",
    audit=SUBMISSION_REJECTED,
    help="reject it; its owner reads the reason",
    owner="A maintainer rejected it: {reason}",
    button="Reject the submission",
    danger=True,
)
def reject(ctx: ActionContext, entry: SubmissionId, reason: Reason) -> ActionResult:
    """Show the reason to the owner and return the quota. For maintainers."""
    return _decide(ctx, entry, reason=reason, wanted=REJECTED)


def _decide(ctx: ActionContext, submission: str, *, reason: str, wanted: str) -> ActionResult:
    why = clean_reason(reason)
    with ctx.database.write() as session:
        state = approval_queries.locked(session, submission)
        if state is None:
            raise NotFound(f"No submission {submission[:40]!r} has ever waited for approval.")
        if state == wanted:
            return ActionResult(False, f"Submission {submission} is {wanted} already.")
        if state == APPROVED:
            raise Conflict("already-approved", "It was approved and scored. Withdraw or hide the entry instead.")
        visibility.record_decision(session, submission, state=wanted, by=ctx.user.account, reason=why)
        if wanted == APPROVED:
            job_queue.enqueue_current(session, submission)
        facts = {"submission": submission, **ctx.author, "reason": why}
        seq = audit.append(session, SUBMISSION_APPROVED if wanted == APPROVED else SUBMISSION_REJECTED, data=facts)
    return ActionResult(True, f"Submission {submission} is {wanted}.", seq=seq)
