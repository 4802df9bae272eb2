"""Disputes of labels: an account claims that a label is wrong, and maintainers decide. The label is never shown.

A and B are the responses as the pair's page shows them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, NamedTuple

from pydantic import Field

from auth import Role, require
from maintenance.action_context import ActionContext
from maintenance.actions import labels
from maintenance.actions.labels import Disclosure, stated_level
from maintenance.registry import BaseRevision, DraftName, ParamInfo, Reason, action
from maintenance.types import ActionResult, Conflict, NotFound, clean_reason, plural, require_maintainer, whole_number
from maintenance.view import Row, Table, TableCell, View
from review.items import find_item, pair_names
from storage.annotation import disputes as stored
from storage.annotation.disputes import Disputed
from storage.clock import minute
from storage.database import LARGEST
from storage.integrity import audit
from storage.models.review import REASON_LENGTHS
from vlrb.common.messages import _
from vlrb.label_quality.annotation import DISPUTE_ANSWERS

OPENED, ACCEPTED, REJECTED = "dispute.opened", "dispute.accepted", "dispute.rejected"
MOST_OPEN = 50
STATES = ("open", "accepted", "rejected")
ANSWER_TEXTS = {
    "a": _("A is better"),
    "b": _("B is better"),
    "equal": _("both are equally good"),
    "both-wrong": _("both are wrong"),
    "bad-item": _("the pair is unusable"),
}


ItemName = Annotated[str, ParamInfo(help="key or id")]
Better = Annotated[
    str, ParamInfo(option="--better", choices=DISPUTE_ANSWERS, help="what is right; A and B as on the pair's page")
]
ErrorTag = Annotated[str | None, ParamInfo(option="--tag", help="which kind of error the worse response makes")]
DisputeState = Annotated[str, ParamInfo("State", option="--state", choices=STATES, help="open if left out")]
DisputeNumber = Annotated[int, Field(ge=0, le=LARGEST), ParamInfo("Dispute", "its number", read=whole_number)]
AuthorNote = Annotated[str, ParamInfo("Note to its author", option="--note", help="to its author")]


class OwnDispute(NamedTuple):
    """A dispute as its author sees it; without who decided."""

    id: int
    item: str  # key
    name: str  # id of the item
    better: str
    tag: str | None
    reason: str
    state: str
    note: str | None
    created_at: float


class NamedDispute(NamedTuple):
    """A dispute as maintainers see it. `name`: what people call the item."""

    name: str
    dispute: Disputed


def _shown(disputes: Sequence[NamedDispute]) -> View:
    head = ("No.", "Pair", "State", "Says", "Error", "Why", "By", "At", "Answer")
    rows = [_row(*named) for named in disputes]
    return View(tables=[Table("Disputes", head, rows, "Nothing is disputed.", parameter="dispute")])


def _row(name: str, dispute: Disputed) -> Row:
    pair, account = TableCell(name, link=f"/explore/{dispute.item}"), TableCell(dispute.account, account=True)
    said = (f"{ANSWER_TEXTS[dispute.better]}", dispute.tag, dispute.reason, account, minute(dispute.created_at))
    without = () if dispute.state == "open" else ("disputes.accept", "disputes.reject")
    cells = (dispute.id, pair, dispute.state, *said, dispute.note)
    return Row(cells, key=f"{dispute.id}", name=f"{dispute.id}: {name}", without=without)


@action("disputes.dispute", "POST /api/v1/disputes", role=Role.SUBMITTER, audit=OPENED, command="disputes open")
def dispute(
    ctx: ActionContext, item: ItemName, *, better: Better, reason: Reason, tag: ErrorTag = None
) -> ActionResult:
    """Dispute a pair's label. A and B are the responses as the pair's page shows them.

    For everybody who may submit. Asked again while the first is open, it changes nothing. `better`: one of
    DISPUTE_ANSWERS. `tag`: which kind of error the worse response makes.
    Raises AuthError, NotFound, Conflict.
    """
    require(ctx.user, Role.SUBMITTER)
    key = ctx.items.table.items[find_item(ctx.items.table, item)].key
    why = clean_reason(reason, limit=REASON_LENGTHS[1])
    if len(why) < REASON_LENGTHS[0]:
        least = REASON_LENGTHS[0]
        raise Conflict("reason-too-short", _("Say in at least {least} characters what is wrong.", least=least))
    if better not in DISPUTE_ANSWERS:
        raise Conflict("bad-answer", _("What is right is one of {names}.", names=", ".join(DISPUTE_ANSWERS)))
    if tag is not None and tag not in (tags := ctx.items.table.spec.tags):
        raise Conflict(
            "bad-tag",
            _("An error tag is one of {names}.", names=", ".join(tags) or _("none: this benchmark has no tags")),
        )
    name = pair_names(ctx.items.table)[key]
    with ctx.database.write() as session:
        audit.acquire_chain_lock(session)
        mine = stored.open_ones(session, ctx.benchmark, account=ctx.user.account)
        if key in mine:
            return ActionResult(
                False,
                _("Your dispute {number} about {name} is with the maintainers already.", number=mine[key], name=name),
            )
        if len(mine) >= MOST_OPEN:
            raise Conflict(
                "too-many-open",
                _("You have {most_open} open disputes. Wait until some are decided.", most_open=MOST_OPEN),
            )
        values = {"item": key, "account": ctx.user.account, "better": better, "tag": tag, "reason": why}
        number = stored.add(session, ctx.benchmark, **values)
        facts = {"dispute": number, "item": key, **ctx.author}
        seq = audit.append(session, OPENED, data=facts)
    return ActionResult(
        True, _("Dispute {number} about {name} is with the maintainers.", number=number, name=name), seq=seq
    )


@action("disputes.own", "GET /api/v1/disputes", role=Role.SUBMITTER, command="")
def own(ctx: ActionContext) -> list[OwnDispute]:
    """Show your own disputes and what became of them."""
    require(ctx.user, Role.SUBMITTER)
    with ctx.database.read() as session:
        result = stored.of_account(session, ctx.benchmark, account=ctx.user.account)
    names = pair_names(ctx.items.table)
    return [
        OwnDispute(
            name=names.get(row.item, row.item[:12]),
            **{name: value for name, value in row._asdict().items() if name in OwnDispute._fields},
        )
        for row in result
    ]


@action("disputes.list", "GET /api/v1/maintenance/disputes", view=_shown)
def review(ctx: ActionContext, state: DisputeState = "open") -> list[NamedDispute]:
    """Show disputes in a state, the newest first. For maintainers."""
    if state not in STATES:
        raise Conflict("bad-state", f"A dispute is {', '.join(STATES)}.")
    with ctx.database.read() as session:
        found = stored.in_state(session, ctx.benchmark, state=state)
    names = pair_names(ctx.items.table)
    return [NamedDispute(names[dispute.item], dispute) for dispute in found if dispute.item in names]


@action("disputes.accept", "POST /api/v1/maintenance/disputes/{dispute}/accept", audit=ACCEPTED, button="Accept")
def accept(ctx: ActionContext, dispute: DisputeNumber, *, note: AuthorNote) -> ActionResult:
    """Accept a dispute, with a note to its author; a decision is final. For maintainers."""
    return decide(ctx, dispute, accepted=True, note=note)


@action(
    "disputes.reject",
    "POST /api/v1/maintenance/disputes/{dispute}/reject",
    audit=REJECTED,
    button="Reject the dispute",
    danger=True,
)
def reject(ctx: ActionContext, dispute: DisputeNumber, *, note: AuthorNote) -> ActionResult:
    """Reject a dispute, with a note to its author; a decision is final. For maintainers."""
    return decide(ctx, dispute, accepted=False, note=note)


def decide(ctx: ActionContext, number: int, *, accepted: bool, note: str) -> ActionResult:
    """Accept or reject a dispute with a note to its author; a decision is final. For maintainers.

    Raises AuthError, NotFound, Conflict.
    """
    require_maintainer(ctx.user)
    clean_note = clean_reason(note, "note")
    state = "accepted" if accepted else "rejected"
    with ctx.database.write() as session:
        result = stored.find(session, ctx.benchmark, ids=[number])
        if not result:
            raise NotFound(f"There is no dispute {number}.")
        if not stored.decide(session, number, state=state, note=clean_note, by=ctx.user.account):
            now = stored.find(session, ctx.benchmark, ids=[number])[0].state
            if now != state:
                raise Conflict("decided", f"Dispute {number} was {now} before, and a decision was made.")
            return ActionResult(False, f"Dispute {number} was {now} before.")
        facts = {"dispute": number, "item": result[0].item, "note": clean_note, **ctx.author}
        seq = audit.append(session, ACCEPTED if accepted else REJECTED, data=facts)
    return ActionResult(True, f"Dispute {number} is {state}.", seq=seq)


@action("disputes.draft", "POST /api/v1/maintenance/disputes/draft", waits=True, button="Draft from accepted ones")
def request_draft(
    ctx: ActionContext,
    revision: DraftName,
    *,
    base: BaseRevision,
    reason: Reason,
    disclosure: Disclosure = "",
) -> ActionResult:
    """Have a worker write the draft that all accepted disputes make of a base revision. For maintainers.

    `disclosure`: what may be shown of scores under it, as of the base's if left out.
    Raises AuthError, NotFound, Conflict.
    """
    why = clean_reason(reason)
    with ctx.database.write() as session:
        accepted = sorted(found.id for found in stored.in_state(session, ctx.benchmark, state="accepted"))
        if not accepted:
            raise Conflict("nothing-accepted", "No dispute is accepted yet.")
        params = {"disputes": accepted, "disclosure": stated_level(disclosure, usual="")}
        task, new = labels.request_draft(ctx, session, revision, base=base, reason=why, params=params)
    disputes = plural(len(accepted), "accepted dispute")
    message = f"A worker writes draft {revision} from {base} and {disputes} (task {task})."
    return ActionResult(new, message, task_id=task)
