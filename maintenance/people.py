"""Decisions about accounts."""

from __future__ import annotations

from identity import bans
from maintenance.accounts import directory
from maintenance.values import Done, Identity, NotPossible, require_maintainer, words
from storage.database import Database


def ban(database: Database, who: Identity, account: str, reason: str) -> Done:
    """Shut an account out, named by id or user name: its sessions end, its tokens stop working, its entries stay.

    For maintainers. Raises Refused, NotFound, NotPossible.
    """
    return _set(database, who, account, reason, banned=True)


def unban(database: Database, who: Identity, account: str, reason: str) -> Done:
    """Let it in again. For maintainers."""
    return _set(database, who, account, reason, banned=False)


def _set(database: Database, who: Identity, account: str, reason: str, *, banned: bool) -> Done:
    require_maintainer(who)
    why = words(reason)
    with database.read() as session:
        found = directory.find(session, account)
    if found.id == who.account:
        raise NotPossible("yourself", "Nobody can ban themselves, or let themselves in again.")
    changed = bans.ban(database, found.id, who.account, why, banned=banned)
    done = f"{found.words} is {'shut out' if banned else 'let in again'}."
    return Done(changed, done if changed else "It is so already.")
