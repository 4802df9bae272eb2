"""Use cases about first submissions. No label is used before a submission is approved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from maintenance.action_context import ActionContext
from maintenance.database import approval_queries, queries
from maintenance.database.approval_queries import PendingApproval
from maintenance.registry import ParamInfo, Reason, action
from maintenance.types import ActionResult, Conflict, NotFound, clean_reason
from maintenance.view import Row, Table, View
from storage.clock import minute
from storage.integrity import audit
from storage.jobs import job_queue
from storage.visibility import APPROVED, REJECTED

SUBMISSION_APPROVED, SUBMISSION_REJECTED = "submission.approved", "submission.rejected"
SubmissionId = Annotated[str, ParamInfo("Submission", "e followed by eleven characters", metavar="SUBMISSION")]


def _shown(approvals: Sequence[PendingApproval]) -> View:
    head = ("Submission", "Judge", "Account", "Organisations", "Days old", "Submitted", "File", "Why it waits")
    nothing = "Nothing waits for this benchmark. `health` has the number of each."
    return View(tables=[Table("Waiting", head, [_row(each) for each in approvals], nothing, parameter="entry")])


def _row(approval: PendingApproval) -> Row:
    name, account = f"{approval.model} {approval.version}".strip(), f"{approval.name} ({approval.account})"
    about = (account, ", ".join(approval.organisations), approval.account_age_days, minute(approval.submitted_at))
    cells = (approval.submission, name, *about, approval.file, approval.why)
    return Row(cells, key=approval.submission, name=f"{name} ({approval.name})")


@action("approvals.list", "GET /api/v1/maintenance/approvals", view=_shown)
def waiting(ctx: ActionContext) -> list[PendingApproval]:
    """Show submissions to a benchmark that wait, the oldest first, with what is known of each account.
    `health` has the number of all benchmarks. For maintainers."""
    with ctx.database.read() as session:
        return approval_queries.waiting(session, ctx.benchmark)


@action(
    "approvals.approve",
    "POST /api/v1/maintenance/approvals/{entry}/approve",
    audit=SUBMISSION_APPROVED,
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
        queries.change(session, submission, approval=wanted, approval_reason=why)
        if wanted == APPROVED:
            job_queue.enqueue_current(session, submission)
        facts = {"submission": submission, **ctx.author, "reason": why}
        seq = audit.append(session, SUBMISSION_APPROVED if wanted == APPROVED else SUBMISSION_REJECTED, data=facts)
    return ActionResult(True, f"Submission {submission} is {wanted}.", seq=seq)
