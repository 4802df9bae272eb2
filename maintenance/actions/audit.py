"""Use cases about the audit chain: verify it, and return its checkpoint."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from maintenance import views
from maintenance.action_context import ActionContext
from maintenance.database import queries
from maintenance.registry import ParamInfo, action
from maintenance.types import Conflict, plural, require_maintainer, whole_number
from storage.database import LARGEST, Database, Session
from storage.integrity import audit, audit_checkpoints
from storage.integrity import integrity_check as integrity
from vlrb.common.canonical_json import GENESIS, canonical_json

_HASH = re.compile(r"[0-9a-f]{64}")
HeadNumber = Annotated[
    int | None, Field(ge=0, le=LARGEST), ParamInfo("Number of a head that was kept", read=whole_number)
]
HeadHash = Annotated[str | None, Field(max_length=64), ParamInfo("Its hash")]
_WHOLE = "Give seq and hash as its file has them, or the whole content of that file."


@dataclass(frozen=True, slots=True)
class ChainCheck:
    """Result of a check. `broken_at`: the seq of the first event that is missing or was changed."""

    events: int  # that hold
    broken_at: int | None
    head_holds: bool | None  # whether an older head is part of this chain; None: none was given, or this is broken
    why: str = ""  # what is wrong with that event
    newer_head: int | None = None  # the number that the given head names, where the chain ends before it
    rows: tuple[str, ...] = ()  # stored rows that are not what their events say, a sentence each

    @property
    def ok(self) -> bool:
        """Whether everything that was checked holds."""
        return self.broken_at is None and self.head_holds is not False and not self.rows

    @property
    def sentence(self) -> str:
        """Return the same in words: a line about the chain, and one for each row."""
        if not self.rows:
            return self._of_chain
        rows = plural(
            len(self.rows), "stored row is not what its event says:", many="stored rows are not what events say:"
        )
        return "\n".join([f"{self._of_chain} {rows}", *self.rows])

    @property
    def _of_chain(self) -> str:
        if self.broken_at is not None:
            return f"The chain is broken at event {self.broken_at}: {self.why}."
        if self.newer_head is not None:
            return (
                f"All {self.events} events hold, but this head is newer than the copy: it names event "
                f"{self.newer_head}, and the copy ends with event {self.events}. After a restore that is "
                "expected, and an older head shows whether the rest is the same; otherwise the end of the chain "
                "is gone."
            )
        if self.head_holds is False:
            return "The chain holds in itself, but it is not the one that the given head belongs to."
        if self.head_holds:
            return f"All {self.events} events hold, and so does the given head."
        return f"All {self.events} events hold."


def verify(ctx: ActionContext, head: dict[str, Any] | None = None) -> ChainCheck:
    """Recompute every link, compare stored rows with their events, and a head that was kept elsewhere. For maintainers.

    A chain alone does not show that its last events are gone; a kept head does. Raises Conflict for what is no head:
    a check against nothing would always hold.
    """
    require_maintainer(ctx.user)
    kept = None if head is None else _checked(head)
    with ctx.database.read() as session:
        broken = audit.verify(session)
        rows = tuple(problem.sentence for problem in integrity.check(session))
        if broken is not None:
            return ChainCheck(broken.seq - 1, broken.seq, head_holds=None, why=broken.why, rows=rows)
        last = audit.head(session).seq
        holds = None if kept is None else _hash_at(session, kept.seq) == kept.hash
        newer = kept.seq if kept is not None and kept.seq > last else None
        return ChainCheck(last, None, head_holds=holds, newer_head=newer, rows=rows)


def _hash_at(session: Session, seq: int) -> str | None:
    return GENESIS if seq == 0 else queries.hash_at(session, seq)  # a head may be older than the first event


def _checked(head: dict[str, Any]) -> audit.Head:
    """Return a head whose number an event can have, and whose hash is one. Raises Conflict."""
    seq, digest = head.get("seq"), head.get("hash")
    if not isinstance(seq, int) or isinstance(seq, bool) or not 0 <= seq <= LARGEST:
        raise Conflict("no-head", f"This is not the head of a chain: its seq is not an event's number. {_WHOLE}")
    if not isinstance(digest, str) or not _HASH.fullmatch(digest):
        raise Conflict(
            "no-head",
            f"This is not the head of a chain: its hash is not 64 hexadecimal digits. {_WHOLE}",
        )
    return audit.Head(seq, digest)


def read_head(text: str) -> dict[str, Any]:
    """Return what the file of a head says, for ``verify``. Raises Conflict where it is none."""
    try:
        result = json.loads(text)
    except (ValueError, RecursionError):
        result = None
    if not isinstance(result, dict):
        raise Conflict("no-head", f"This is not the head of a chain. {_WHOLE}")
    return result


@action(
    "audit.verify",
    "GET /api/v1/maintenance/audit/verify",
    help="recompute the chain and compare stored rows with it; names what differs",
    command="",
    button="Verify the audit chain",
    view=views.chain_check,
)
def check(ctx: ActionContext, seq: HeadNumber = None, *, hash: HeadHash = None) -> ChainCheck:
    """Recompute the audit chain and compare stored rows with it; with a head that was kept elsewhere, compare that."""
    return verify(ctx, None if seq is None and hash is None else {"seq": seq, "hash": hash})


@action(
    "audit.head",
    "GET /api/v1/maintenance/audit/head",
    help="the chain's head, for keeping elsewhere",
    command="",
    button="Show its head",
    view=views.head,
)
def head(ctx: ActionContext) -> dict[str, Any]:
    """Return the last link, for keeping elsewhere. For maintainers."""
    require_maintainer(ctx.user)
    with ctx.database.read() as session:
        return audit_checkpoints.latest(session)


def public(database: Database, after: int = 0, *, page: int = 2000) -> Iterator[str]:
    """Yield the chain as everybody may have it, a line of JSON for each event: its number and three hashes. For
    everybody.

    Anyone who has it recomputes every link. It shows no event, only that none was changed, left out or added behind a
    head or a receipt that somebody holds.
    Events are never changed, so it is read in pages: a slow reader keeps no transaction open.
    """
    while True:
        with database.read() as session:
            result = list(audit.links(session, after, limit=page))
        yield from (canonical_json(link._asdict()) + "\n" for link in result)
        if len(result) < page:
            return
        after = result[-1].seq
