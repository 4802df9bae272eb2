"""Use cases about the audit chain: verify it, and return its checkpoint."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import Field

from maintenance import views
from maintenance.action_context import ActionContext
from maintenance.registry import ParamInfo, action
from maintenance.types import Conflict, require_maintainer, whole_number
from storage.database import LARGEST, Database
from storage.integrity import audit, audit_checkpoints
from storage.integrity import integrity_check as integrity
from storage.integrity.integrity_check import ChainCheck
from vlrb.common.canonical_json import canonical_json

_HASH = re.compile(r"[0-9a-f]{64}")
HeadNumber = Annotated[
    int | None, Field(ge=0, le=LARGEST), ParamInfo("Number of a head that was kept", read=whole_number)
]
HeadHash = Annotated[str | None, Field(max_length=64), ParamInfo("Its hash")]
_WHOLE = "Give seq and hash as its file has them, or the whole content of that file."


def verify(ctx: ActionContext, head: dict[str, Any] | None = None) -> ChainCheck:
    """Check chain and rows, as workers do once a day, and a head that was kept elsewhere. For maintainers.

    Raises Conflict for what is no head: a check against nothing would always hold.
    """
    require_maintainer(ctx.user)
    kept = None if head is None else _checked(head)
    with ctx.database.read() as session:
        return integrity.verify(session, kept)


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
