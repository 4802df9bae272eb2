"""Label error candidates: items on which the strongest judges agree against the label, listed by a worker.

The list reveals labels, so it is shown to maintainers only and stored in one table only.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from benchmark.items import ItemTable
from maintenance.request_task import request_task
from maintenance.types import ActionResult, Conflict, Identity, require_maintainer
from review.items import short_name, vote_counts
from storage import disputes, label_sets, tasks
from storage.database import Database

PROPOSE = "labels.candidates"


class CandidateItem(NamedTuple):
    """An item that people should look at."""

    item: str  # key
    name: str
    votes: tuple[int, int, int]  # of the judges that were heard about its category: how many prefer A, B, neither


class Proposed(NamedTuple):
    """The list as it was computed last; `facts` None: never."""

    items: tuple[CandidateItem, ...]  # the most surprising first
    facts: dict[str, Any] | None  # counts, the revision, which entries were asked, and heard about which category


def request(database: Database, user: Identity, benchmark: str) -> ActionResult:
    """Have a worker compute the list for the labels that the board shows. For maintainers. Raises Conflict."""
    require_maintainer(user)
    with database.write() as session:
        board = label_sets.current(session)
        if board is None or board.benchmark != benchmark:
            raise Conflict("no-board", "There is no board yet: start a worker.")
        task, new = request_task(session, user, PROPOSE, board.label_revision, {}, "candidates")
    return ActionResult(
        new, f"A worker looks for label errors in revision {board.label_revision} (task {task}).", task_id=task
    )


def proposed(database: Database, user: Identity, table: ItemTable) -> Proposed:
    """Return the list. For maintainers."""
    require_maintainer(user)
    with database.read() as session:
        keys = disputes.candidates(session, table.benchmark)
        last = next((one for one in tasks.latest(session, 50, kind=PROPOSE) if one.state == "done"), None)
        facts = tasks.result(session, last.id) if last is not None else None
    places = {item.key: index for index, item in enumerate(table.items)}
    known = [places[key] for key in keys if key in places]
    asked, heard = (facts["entries"], facts.get("heard", {})) if facts else ((), {})  # an older list has not the second
    votes: dict[int, tuple[int, int, int]] = {}
    for category in table.spec.category_keys:
        of_it = [index for index in known if table.items[index].category == category]
        votes |= vote_counts(database, table, of_it, among=heard.get(category, asked))
    found = (CandidateItem(table.items[index].key, short_name(table, index), votes[index]) for index in known)
    return Proposed(tuple(found), facts)
