"""Submissions beyond the quota, for an account that has a reason. Every grant is on record."""

from __future__ import annotations

from maintenance.accounts import directory
from maintenance.values import Done, Identity, NotFound, NotPossible, require_maintainer, words
from storage import audit, grants
from storage.database import Database
from storage.grants import Grant

GRANTED, REVOKED = "quota.granted", "quota.revoked"
MOST = 1000


def grant(database: Database, who: Identity, account: str, extra: int, reason: str) -> Done:
    """Allow an account (id or user name) so many submissions that take from nobody's quota. For maintainers."""
    require_maintainer(who)
    why = words(reason)
    if not 1 <= extra <= MOST:
        raise NotPossible("bad-number", f"Grant from 1 to {MOST} submissions.")
    with database.write() as session:
        found = directory.find(session, account, local=True)
        if (same := grants.unused(session, found.id, extra, why)) is not None:
            return Done(False, f"Grant {same} says the same, and nothing of it is used yet.")
        number = grants.add(session, found.id, extra, why, who.account)
        facts = {"grant": number, "account": found.id, "extra": extra, "reason": why}
        seq = audit.append(session, GRANTED, {**facts, "by": who.account, "via": who.via})
    some = "one more submission" if extra == 1 else f"{extra} more submissions"
    return Done(True, f"{found.words} may make {some} (grant {number}).", seq)


def revoke(database: Database, who: Identity, number: int, reason: str) -> Done:
    """End a grant; what was submitted on it stays. For maintainers. Raises NotFound."""
    require_maintainer(who)
    why = words(reason)
    with database.write() as session:
        if number not in {one.id for one in grants.listed(session)}:
            raise NotFound(f"There is no grant {number}.")
        if not grants.revoke(session, number):
            return Done(False, f"Grant {number} has ended already.")
        seq = audit.append(session, REVOKED, {"grant": number, "reason": why, "by": who.account, "via": who.via})
    return Done(True, f"Grant {number} has ended.", seq)


def listing(database: Database, who: Identity) -> list[Grant]:
    """All grants, the newest first. For maintainers."""
    require_maintainer(who)
    with database.read() as session:
        return grants.listed(session)
