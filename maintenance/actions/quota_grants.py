"""Use cases about quota grants: extra submissions for an account, with a recorded reason."""

from __future__ import annotations

from maintenance.actions import account_search
from maintenance.types import ActionResult, Conflict, Identity, NotFound, clean_reason, require_maintainer
from storage import audit, quota_grants
from storage.database import Database
from storage.quota_grants import GrantStatus

GRANTED, REVOKED = "quota.granted", "quota.revoked"
MOST = 1000


def grant(database: Database, user: Identity, account: str, extra: int, reason: str) -> ActionResult:
    """Allow an account (id or user name) so many submissions that take from nobody's quota. For maintainers."""
    require_maintainer(user)
    why = clean_reason(reason)
    if not 1 <= extra <= MOST:
        raise Conflict("bad-number", f"Grant from 1 to {MOST} submissions.")
    with database.write() as session:
        found = account_search.find(session, account, local=True)
        if (same := quota_grants.unused(session, found.id, extra, why)) is not None:
            return ActionResult(False, f"Grant {same} says the same, and nothing of it is used yet.")
        number = quota_grants.add(session, found.id, extra, why, user.account)
        facts = {"grant": number, "account": found.id, "extra": extra, "reason": why}
        seq = audit.append(session, GRANTED, {**facts, "by": user.account, "via": user.auth_method})
    some = "one more submission" if extra == 1 else f"{extra} more submissions"
    return ActionResult(True, f"{found.words} may make {some} (grant {number}).", seq)


def revoke(database: Database, user: Identity, number: int, reason: str) -> ActionResult:
    """End a grant; what was submitted on it stays. For maintainers. Raises NotFound."""
    require_maintainer(user)
    why = clean_reason(reason)
    with database.write() as session:
        if number not in {one.id for one in quota_grants.list_grants(session)}:
            raise NotFound(f"There is no grant {number}.")
        if not quota_grants.revoke(session, number):
            return ActionResult(False, f"Grant {number} has ended already.")
        seq = audit.append(
            session, REVOKED, {"grant": number, "reason": why, "by": user.account, "via": user.auth_method}
        )
    return ActionResult(True, f"Grant {number} has ended.", seq)


def listing(database: Database, user: Identity) -> list[GrantStatus]:
    """Return all grants, the newest first. For maintainers."""
    require_maintainer(user)
    with database.read() as session:
        return quota_grants.list_grants(session)
