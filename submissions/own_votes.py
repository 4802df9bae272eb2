"""Votes and scores of one's own submission, pair by pair, without labels: a native file."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from auth import Identity
from auth.middleware import identity_of
from auth.role_route import RoleRoute
from common.openapi import answers
from storage.database import Database
from storage.integrity import stored_votes
from submissions.visibility_options import require_owned
from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.spec import TIE
from vlrb.votes import OTHER, PREFERRED, UNDECIDED, Margins, Votes, unpack_margins


def build(database: Database, table: Callable[[], ItemTable]) -> APIRouter:
    """Return the route of an owner's own votes. `table`: the items of the benchmark, read when first asked for."""
    router = APIRouter(route_class=RoleRoute)

    @router.get("/api/v1/submissions/{submission}/votes", responses=answers("votes"))
    def votes(submission: str, request: Request) -> Response:
        """Return the votes and scores of your own submission, pair by pair, as a native file. Nobody else gets it."""
        file = own_votes(database, table(), submission=submission, user=identity_of(request))
        name = f'attachment; filename="votes-{submission}.jsonl"'  # an id: others were not found
        headers = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Content-Disposition": name}
        return Response(file, headers=headers, media_type="application/jsonl")

    return router


def own_votes(database: Database, table: ItemTable, *, submission: str, user: Identity) -> str:
    """Return the votes that were accepted, as a native file.

    Raises:
        Unauthenticated, Forbidden, UnknownSubmission: as `visibility_options.publish`.
        RecordChanged: the stored votes are not those that were accepted.
    """
    with database.read() as session:
        facts = require_owned(session, table.benchmark, user=user, submission=submission)
    (stored,) = stored_votes.read(database, [submission])
    votes = Votes.unpack(stored.votes, len(table), k=stored.votes_per_item)
    return native_file(votes, unpack_margins(stored.margins), revision=facts.revision, table=table)


def native_file(votes: Votes, margins: Margins | None, *, revision: str, table: ItemTable) -> str:
    """Return one JSON line for each pair of a revision, in its row order.

    Of two scores the difference is known: it stands beside a 0. A vote that no native file can say is a word: of the
    preferred and the rejected response, or of the first and the second one as they are stored.
    """
    values = {UNDECIDED: None, TIE: TIE, 0: 0, 1: 1, PREFERRED: "preferred", OTHER: "rejected"}
    if table.spec.preferred_is_named:
        values |= {0: "first", 1: "second", PREFERRED: 0, OTHER: 1}
    lines = []
    for index in table.in_revision(revision):
        chosen = [values[vote] for vote in votes.matrix[index].tolist()]
        margin = math.nan if margins is None else float(margins[index])
        said: dict[str, Any] = {"votes": chosen}
        if not math.isnan(margin) and chosen[0] in (0, 1):
            said = {"scores": [[0.0, margin] if chosen[0] else [margin, 0.0]]}
        item = table.items[index]
        lines.append(json.dumps({"id": item.ids[revision], "item": item.key, **said}) + "\n")
    return "".join(lines)
