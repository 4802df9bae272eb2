"""Label error candidates: items on which the strongest judges agree against the label, listed by a worker.

The list reveals labels, so it is shown to maintainers only and stored in one table only.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from maintenance.action_context import ActionContext
from maintenance.registry import action
from maintenance.request_task import request_task
from maintenance.types import ActionResult, Conflict, require_maintainer
from review import views
from review.items import short_name, vote_counts
from storage.annotation import disputes
from storage.jobs import tasks
from storage.jobs.tasks import TaskRequest
from storage.labels import label_sets

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


@action(
    "candidates.find",
    "POST /api/v1/maintenance/candidates",
    help="have a worker look for them",
    waits="until it has",
    task=PROPOSE,
    retry=lambda ctx, failed: _find_again(ctx),
    button="Look for candidates",
)
def request(ctx: ActionContext) -> ActionResult:
    """Have a worker compute the list for the labels that the board shows. For maintainers. Raises Conflict."""
    require_maintainer(ctx.user)
    with ctx.database.write() as session:
        board = label_sets.current(session, ctx.benchmark)
        if board is None:
            raise Conflict("no-board", "There is no board yet: start a worker.")
        wanted = TaskRequest(
            PROPOSE,
            board.label_revision,
            params={},
            reason="candidates",
            requested_by=ctx.user.account,
            benchmark=ctx.benchmark,
        )
        task, new = request_task(session, wanted)
    return ActionResult(
        new,
        f"A worker looks for label errors in revision {board.label_revision} (task {task}).",
        task_id=task,
    )


def _find_again(ctx: ActionContext) -> ActionResult:
    return request(ctx)


@action("candidates.list", "GET /api/v1/maintenance/candidates", help="what was found last", view=views.candidates)
def proposed(ctx: ActionContext) -> Proposed:
    """Return the list. For maintainers."""
    require_maintainer(ctx.user)
    with ctx.database.read() as session:
        keys = disputes.candidates(session, ctx.items.table.benchmark)
        latest = tasks.latest(session, 50, kind=PROPOSE, benchmark=ctx.items.table.benchmark)
        last = next((task for task in latest if task.state == "done"), None)
        facts = tasks.result(session, last.id) if last is not None else None
    places = {item.key: index for index, item in enumerate(ctx.items.table.items)}
    known = [places[key] for key in keys if key in places]
    asked, heard = (facts["entries"], facts.get("heard", {})) if facts else ((), {})  # an older list has not the second
    votes: dict[int, tuple[int, int, int]] = {}
    for category in ctx.items.table.spec.category_keys:
        of_it = [index for index in known if ctx.items.table.items[index].category == category]
        votes |= vote_counts(ctx.database, ctx.items.table, indices=of_it, among=heard.get(category, asked))
    candidate_items = (
        CandidateItem(ctx.items.table.items[index].key, short_name(ctx.items.table, index), votes=votes[index])
        for index in known
    )
    return Proposed(tuple(candidate_items), facts)
