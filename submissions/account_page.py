"""Sections of the account page that tell of submissions: their list, their activity, the next possible one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from auth import AuthError, Identity
from storage.database import Database
from submissions import activity, visibility_options
from submissions.pages import next_submission_text
from submissions.service import SubmissionService
from submissions.status import list_own


def submission_sections(
    database: Database, boards: Sequence[activity.ActivityRules], *, intake: SubmissionService, user: Identity
) -> dict[str, Any]:
    """Return what identity_account.html shows of an account's submissions to all boards, the newest first.

    `intake`: of the benchmark whose page it is, for the next possible submission.
    """
    own = [one for board in boards for one in list_own(database, board.spec.id, account=user.account)]
    result = {
        "submissions": sorted(own, key=lambda status: status.created_at, reverse=True),
        "has_pages": visibility_options.is_owner(user, user.account),
    }
    try:
        happened = [one for board in boards for one in activity.list_activity(database, user, rules=board, limit=20)]
        result["activity"] = sorted(happened, key=lambda item: item.at, reverse=True)
        if user.auth_method != "local":
            result["next_submission"] = next_submission_text(intake.allowance(user))
    except AuthError:  # somebody who may look, but do nothing
        pass
    return result
