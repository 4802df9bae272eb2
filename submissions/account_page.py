"""Rows of the account page that tell of submissions: their list, their activity, the next possible one."""

from __future__ import annotations

from auth import AuthError, Identity
from auth.routes import ActivityLine, SubmissionRow
from storage.database import Database
from submissions import activity, visibility_options
from submissions.pages import next_submission_text, visibility_label
from submissions.service import SubmissionService
from submissions.status import AWAITING, list_own
from vlrb.common.messages import _


def submission_rows(database: Database, benchmark: str, *, user: Identity) -> list[SubmissionRow]:
    """Return the rows of "my submissions", the newest first."""
    return [
        SubmissionRow(
            title=" ".join(filter(None, (submission.model, submission.version))),
            state=_("waiting for approval") if submission.state == AWAITING else submission.state,
            url=f"/account/submissions/{submission.id}"
            if visibility_options.is_owner(user, user.account)
            else f"/api/v1/submissions/{submission.id}",
            created_at=submission.created_at,
            reason=submission.reason or "",
            attempt=""
            if submission.attempt is None
            else _(
                "{attempt}, labels {label_revision}",
                attempt=submission.attempt,
                label_revision=submission.label_revision,
            ),
            entry_url=submission.entry_url or "",
            shown=visibility_label(submission.shown),
        )
        for submission in list_own(database, benchmark, account=user.account)
    ]


def activity_lines(database: Database, rules: activity.ActivityRules, *, user: Identity) -> list[ActivityLine]:
    """Return what happened to an account's entries, the newest first."""
    try:
        result = activity.list_activity(database, user, rules=rules, limit=20)
    except AuthError:  # somebody who may look, but do nothing
        return []
    return [
        ActivityLine(item.title, f"/account/submissions/{item.entry}", sentence=item.sentence, at=item.at)
        for item in result
    ]


def next_submission_line(intake: SubmissionService, user: Identity) -> str:
    """Return a sentence on when an account may submit again; "" where it may not submit."""
    try:
        return next_submission_text(intake.allowance(user)) if user.auth_method != "local" else ""
    except AuthError:  # a token that may not submit
        return ""
