"""Use cases about quota grants: extra submissions for an account, with a recorded reason."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from maintenance import views
from maintenance.action_context import ActionContext
from maintenance.actions import account_search
from maintenance.registry import AccountName, ParamInfo, Reason, action
from maintenance.types import ActionResult, Conflict, NotFound, clean_reason, whole_number
from storage.database import LARGEST
from storage.integrity import audit
from storage.limits import quota_grants
from storage.limits.quota_grants import GrantStatus

GRANTED, REVOKED = "quota.granted", "quota.revoked"
MOST = 1000
Extra = Annotated[int, ParamInfo("More submissions", help="how many")]
GrantNumber = Annotated[
    int, Field(ge=0, le=LARGEST), ParamInfo("Grant", "its number", metavar="GRANT", read=whole_number)
]


@action(
    "quota.grant",
    "POST /api/v1/maintenance/grants/{account}",
    help="allow an account submissions beyond its quota",
    audit=GRANTED,
    button="Grant submissions",
)
def grant(ctx: ActionContext, account: AccountName, *, extra: Extra, reason: Reason) -> ActionResult:
    """Grant an account N submissions, used after its quota and charged to nobody else's. For maintainers."""
    why = clean_reason(reason)
    if not 1 <= extra <= MOST:
        raise Conflict("bad-number", f"Grant from 1 to {MOST} submissions.")
    with ctx.database.write() as session:
        result = account_search.find(session, account, local=True)
        if (same := quota_grants.unused(session, result.id, extra=extra, reason=why)) is not None:
            return ActionResult(False, f"Grant {same} says the same, and nothing of it is used yet.")
        number = quota_grants.add(session, result.id, extra=extra, reason=why, by=ctx.user.account)
        facts = {"grant": number, "account": result.id, "extra": extra, "reason": why}
        seq = audit.append(session, GRANTED, data={**facts, **ctx.author})
    some = "one more submission" if extra == 1 else f"{extra} more submissions"
    return ActionResult(True, f"{result.words} may make {some} (grant {number}).", seq=seq)


@action(
    "quota.revoke",
    "POST /api/v1/maintenance/grants/{number}/revoke",
    help="end a grant",
    audit=REVOKED,
    button="End the grant",
    danger=True,
)
def revoke(ctx: ActionContext, number: GrantNumber, *, reason: Reason) -> ActionResult:
    """End a grant; what was submitted on it stays. For maintainers. Raises NotFound."""
    why = clean_reason(reason)
    with ctx.database.write() as session:
        if number not in {row.id for row in quota_grants.list_grants(session)}:
            raise NotFound(f"There is no grant {number}.")
        if not quota_grants.revoke(session, number):
            return ActionResult(False, f"Grant {number} has ended already.")
        seq = audit.append(session, REVOKED, data={"grant": number, "reason": why, **ctx.author})
    return ActionResult(True, f"Grant {number} has ended.", seq=seq)


@action("quota.list", "GET /api/v1/maintenance/grants", help="all grants", view=views.quota_grants)
def listing(ctx: ActionContext) -> list[GrantStatus]:
    """Return all grants, the newest first. For maintainers."""
    with ctx.database.read() as session:
        return quota_grants.list_grants(session)
