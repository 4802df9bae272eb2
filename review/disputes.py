"""Disputes of labels: an account claims that a label is wrong, and maintainers decide. The label is never shown.

A and B are the responses as the pair's page shows them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from auth import Identity, Role, require
from benchmark.annotation import SAYINGS
from benchmark.items import ItemTable
from maintenance.actions.labels import stated_level
from maintenance.types import ActionResult, Conflict, NotFound, clean_reason, require_maintainer
from review import drafts
from review.items import find_item, short_name, vote_counts
from storage import audit, disputes
from storage.database import Database
from storage.disputes import Disputed
from storage.models.review import REASON_LENGTHS

OPENED, ACCEPTED, REJECTED = "dispute.opened", "dispute.accepted", "dispute.rejected"
MOST_OPEN = 50
STATES = ("open", "accepted", "rejected")
SAID = {
    "a": "A is better",
    "b": "B is better",
    "equal": "both are equally good",
    "both-wrong": "both are wrong",
    "bad-item": "the pair is unusable",
}


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


class DisputedItem(NamedTuple):
    """An item with its disputes, and how many entries on the board prefer A, B, neither."""

    item: str  # key
    name: str
    votes: tuple[int, int, int]
    disputes: tuple[Disputed, ...]


def dispute(
    database: Database,
    user: Identity,
    table: ItemTable,
    item: str,
    better: str,
    reason: str,
    tag: str | None = None,
) -> ActionResult:
    """Dispute a pair's label. For everybody who may submit. Asked again while the first is open, it changes nothing.

    `item`: key or id. `better`: one of SAYINGS. `tag`: which kind of error the worse response makes.
    Raises AuthError, NotFound, Conflict.
    """
    require(user, Role.SUBMITTER)
    index = find_item(table, item)
    why = clean_reason(reason, limit=REASON_LENGTHS[1])
    if len(why) < REASON_LENGTHS[0]:
        raise Conflict("reason-too-short", f"Say in at least {REASON_LENGTHS[0]} characters what is wrong.")
    if better not in SAYINGS:
        raise Conflict("bad-answer", f"What is right is one of {', '.join(SAYINGS)}.")
    if tag is not None and tag not in table.spec.tags:
        raise Conflict(
            "bad-tag", f"An error tag is one of {', '.join(table.spec.tags) or 'none: this benchmark has no tags'}."
        )
    key, name = table.items[index].key, short_name(table, index)
    with database.write() as session:
        audit.acquire_chain_lock(session)
        mine = disputes.open_ones(session, table.benchmark, user.account)
        if key in mine:
            return ActionResult(False, f"Your dispute {mine[key]} about {name} is with the maintainers already.")
        if len(mine) >= MOST_OPEN:
            raise Conflict("too-many-open", f"You have {MOST_OPEN} open disputes. Wait until some are decided.")
        number = disputes.add(session, table.benchmark, key, user.account, better, tag, why)
        seq = audit.append(
            session, OPENED, {"dispute": number, "item": key, "by": user.account, "via": user.auth_method}
        )
    return ActionResult(True, f"Dispute {number} about {name} is with the maintainers.", seq)


def own(database: Database, user: Identity, table: ItemTable) -> list[OwnDispute]:
    """Return one's own disputes, the newest first. For everybody who may submit."""
    require(user, Role.SUBMITTER)
    with database.read() as session:
        found = disputes.of_account(session, table.benchmark, user.account)
    names = _names(table)
    return [
        OwnDispute(
            one.id,
            one.item,
            names.get(one.item, one.item[:12]),
            one.better,
            one.tag,
            one.reason,
            one.state,
            one.note,
            one.created_at,
        )
        for one in found
    ]


def review(
    database: Database, user: Identity, table: ItemTable, states: Sequence[str] = ("open",)
) -> list[DisputedItem]:
    """Disputes by item, with the judges' votes; the item that was disputed last first. For maintainers."""
    require_maintainer(user)
    if unknown := set(states) - set(STATES):
        raise Conflict("bad-state", f"{', '.join(sorted(unknown))}: a dispute is {', '.join(STATES)}.")
    with database.read() as session:
        found = disputes.in_states(session, table.benchmark, states)
    by_item: dict[str, list[Disputed]] = {}
    for one in found:
        by_item.setdefault(one.item, []).append(one)
    places = {item.key: index for index, item in enumerate(table.items)}
    known = [places[key] for key in by_item if key in places]
    votes, names = vote_counts(database, table, known), _names(table)
    return [
        DisputedItem(key, names[key], votes[places[key]], tuple(group))
        for key, group in by_item.items()
        if key in places
    ]


def decide(database: Database, user: Identity, benchmark: str, number: int, accepted: bool, note: str) -> ActionResult:
    """Accept or reject a dispute with a note to its author; a decision is final. For maintainers.

    Raises AuthError, NotFound, Conflict.
    """
    require_maintainer(user)
    said = clean_reason(note, "note")
    state = "accepted" if accepted else "rejected"
    with database.write() as session:
        found = disputes.find(session, benchmark, [number])
        if not found:
            raise NotFound(f"There is no dispute {number}.")
        if not disputes.decide(session, number, state, said, user.account):
            now = disputes.find(session, benchmark, [number])[0].state
            if now != state:
                raise Conflict("decided", f"Dispute {number} was {now} before, and a decision stands.")
            return ActionResult(False, f"Dispute {number} was {now} before.")
        facts = {"dispute": number, "item": found[0].item, "note": said, "by": user.account, "via": user.auth_method}
        seq = audit.append(session, ACCEPTED if accepted else REJECTED, facts)
    return ActionResult(True, f"Dispute {number} is {state}.", seq)


def request_draft(
    database: Database,
    user: Identity,
    benchmark: str,
    revision: str,
    base: str,
    reason: str,
    numbers: Sequence[int] = (),
    *,
    public: bool = False,
    disclosure: str = "",
    accept_weak_hiding: bool = False,
) -> ActionResult:
    """Have a worker write the draft that accepted disputes make of a base revision. For maintainers.

    `numbers`: which disputes; all that are accepted if none is named. `disclosure`: what may be shown of scores
    under it, as of the base's if left out. Raises AuthError, NotFound, Conflict.
    """
    require_maintainer(user)
    why = clean_reason(reason)
    shown: dict[str, Any] = {"disclosure": stated_level(disclosure, public, usual="")}
    shown |= {"accept_weak_hiding": accept_weak_hiding}
    with database.write() as session:
        if numbers:
            found = disputes.find(session, benchmark, numbers)
        else:
            found = disputes.in_states(session, benchmark, ("accepted",))
        accepted = sorted(one.id for one in found if one.state == "accepted")
        if missing := sorted(set(numbers) - set(accepted)):
            raise Conflict("not-accepted", f"Not accepted: {', '.join(map(str, missing))}.")
        if not accepted:
            raise Conflict("nothing-accepted", "No dispute is accepted yet.")
        task, new = drafts.request(session, user, benchmark, revision, base, why, {"disputes": accepted}, **shown)
    said = f"A worker writes draft {revision} from {base} and {len(accepted)} accepted disputes (task {task})."
    return ActionResult(new, said, task_id=task)


def _names(table: ItemTable) -> dict[str, str]:
    return {item.key: short_name(table, index) for index, item in enumerate(table.items)}
