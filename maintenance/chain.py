"""The audit chain: checking it, and its head for keeping elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from maintenance import queries
from maintenance.values import Identity, NotPossible, require_maintainer
from storage import audit, heads
from storage.canonical import GENESIS, canonical_json
from storage.database import Database


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a check has found. `broken_at`: the seq of the first event that is missing or was changed."""

    events: int  # that hold
    broken_at: int | None
    head_holds: bool | None  # whether an older head is part of this chain; None: none was given, or this is broken
    why: str = ""  # what is wrong with that event

    @property
    def ok(self) -> bool:
        """Whether everything that was checked holds."""
        return self.broken_at is None and self.head_holds is not False

    @property
    def sentence(self) -> str:
        """The same in words."""
        if self.broken_at is not None:
            return f"The chain is broken at event {self.broken_at}: {self.why}."
        if self.head_holds is False:
            return "The chain holds in itself, but it is not the one that the given head belongs to."
        return f"All {self.events} events hold" + (", and so does the given head." if self.head_holds else ".")


def verify(database: Database, who: Identity, head: dict[str, Any] | None = None) -> Verdict:
    """Recompute every link; compare with a head that was kept elsewhere. For maintainers.

    A chain alone does not show that its last events are gone; a kept head does.
    """
    require_maintainer(who)
    with database.read() as session:
        broken = audit.verify(session)
        if broken is not None:
            return Verdict(broken.seq - 1, broken.seq, None, broken.why)
        holds = None if head is None else _hash_at(session, _seq(head)) == head.get("hash")
        return Verdict(audit.head(session).seq, None, holds)


def _hash_at(session: Any, seq: int) -> str | None:
    return GENESIS if seq == 0 else queries.hash_at(session, seq)  # a head may be older than the first event


def _seq(head: dict[str, Any]) -> int:
    seq = head.get("seq")
    if not isinstance(seq, int) or isinstance(seq, bool):
        raise NotPossible("no-head", "This is no head of a chain: it has no seq.")
    return seq


def head(database: Database, who: Identity) -> dict[str, Any]:
    """The last link, for keeping elsewhere. For maintainers."""
    require_maintainer(who)
    with database.read() as session:
        return heads.current(session)


def public(database: Database, after: int = 0, page: int = 2000) -> Iterator[str]:
    """The chain as everybody may have it, a line of JSON for each event: its number and two hashes. For everybody.

    It shows no event, only that none was changed, left out or added behind a head or a receipt that somebody holds.
    Events are never changed, so it is read in pages: a slow reader keeps no transaction open.
    """
    while True:
        with database.read() as session:
            found = list(audit.links(session, after, page))
        yield from (canonical_json(one._asdict()) + "\n" for one in found)
        if len(found) < page:
            return
        after = found[-1].seq
