"""Banning and unbanning accounts."""

from __future__ import annotations

from auth import queries
from storage.database import Database
from storage.integrity import audit

BANNED, UNBANNED = "identity.banned", "identity.unbanned"


def ban(database: Database, account: str, *, by: str, reason: str, banned: bool = True) -> int | None:
    """Shut an account out (its sessions end, its tokens are refused) or let it in again; the seq of the audit event,
    None where that changed nothing.

    The caller has checked that `by` may do this.
    """
    with database.write() as session:
        changed = queries.ban(session, account, banned=banned)
        if banned:
            queries.end_sessions(session, account)
        if not changed:
            return None
        return audit.append(
            session, BANNED if banned else UNBANNED, data={"account": account, "by": by, "reason": reason}
        )
