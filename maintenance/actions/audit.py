"""Use cases about the audit chain: verify it, and return its checkpoint."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import BaseModel, Field

from maintenance.action_context import ActionContext
from maintenance.registry import ParamInfo, action
from maintenance.types import Conflict, file_text
from maintenance.view import View
from storage.database import LARGEST, Database
from storage.integrity import audit
from storage.integrity import integrity_check as integrity
from storage.integrity.integrity_check import ChainCheck
from vlrb.common.canonical_json import canonical_json

HeadText = Annotated[
    str | None,
    ParamInfo(
        "File of a head that was kept elsewhere",
        option="--head",
        metavar="FILE",
        help="a head that was kept elsewhere",
        is_file=True,
        read=file_text,
    ),
]


class HeadFile(BaseModel, strict=True):
    """File of a head: the number of the last event, and its hash."""

    seq: int = Field(ge=0, le=LARGEST)
    hash: str = Field(pattern="^[0-9a-f]{64}$")


def read_head(text: str) -> audit.Head:
    """Return what the file of a head says. Raises Conflict where it is none: a check against nothing always holds."""
    try:
        said = HeadFile.model_validate_json(text)
    except ValueError:
        message = "This is not the head of a chain: `seq` is an event's number, `hash` has 64 hexadecimal digits."
        raise Conflict("no-head", message) from None
    return audit.Head(said.seq, said.hash)


@action(
    "audit.verify",
    "GET /api/v1/maintenance/audit/verify",
    button="Verify the audit chain",
    view=lambda result: View(f"{result.sentence}".split("\n"), good=result.ok),
)
def verify(ctx: ActionContext, head: HeadText = None) -> ChainCheck:
    """Recompute the audit chain and compare stored rows with it, as workers do once a day; with the content of a head's
    file, compare that. For maintainers."""
    kept = None if head is None else read_head(head)
    with ctx.database.read() as session:
        return integrity.verify(session, kept)


@action(
    "audit.head",
    "GET /api/v1/maintenance/audit/head",
    button="Show its head",
    view=lambda result: View([json.dumps(result)]),
)
def head(ctx: ActionContext) -> dict[str, Any]:
    """Show the last link as a head's file has it, for keeping elsewhere. For maintainers."""
    with ctx.database.read() as session:
        return audit.dated_head(session)


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
