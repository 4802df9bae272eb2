"""Decisions of an annotation project before it is closed: those of each pair's answers, and those of maintainers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, NamedTuple

from maintenance.action_context import ActionContext
from maintenance.registry import ParamInfo, action
from maintenance.types import ActionResult, Conflict, NotFound, plural, require_maintainer
from review import views
from review.actions.projects import ProjectNumber, known
from review.items import find_item
from review.project_pairs import names_of_pairs
from storage.annotation import annotation_projects
from storage.annotation.annotation_projects import Project
from storage.annotation.pair_decisions import DecidedPair, decided_pairs
from storage.database import Session
from storage.integrity import audit
from vlrb.label_quality.annotation import GOLD, OPEN, VERDICTS

DECIDED = "verification.decided"
_KEY_DIGITS = 8
_FORM = "Write decisions as PAIR=VERDICT, with the key of a pair of the project."

MaintainerVerdicts = Annotated[
    Mapping[str, str],
    ParamInfo(
        "Decisions",
        "key=a, key=b",
        metavar="PAIR=VERDICT",
        help=f"a pair of the project by key or id, and {', '.join(VERDICTS)}; A and B as on the pair's page",
    ),
]


class PairDecision(NamedTuple):
    """A pair as closing the project would leave it. `verdict` None: its label stays. `answers`: verdict -> number.

    Answers of a pair that needs more are not told: who reads them may have to answer it.
    """

    place: int
    item: str  # key
    name: str
    state: str  # gold, decided, agreed, contested, open
    verdict: str | None
    answers: dict[str, int]


@action(
    "verification.decisions",
    "GET /api/v1/maintenance/verification/{project}/decisions",
    place=1,
    help="what closing it would write, pair by pair, contested ones first",
    view=views.decisions,
)
def decisions(ctx: ActionContext, project: ProjectNumber) -> list[PairDecision]:
    """Return what closing a project would write, contested pairs first. For maintainers. Raises AuthError, NotFound."""
    require_maintainer(ctx.user)
    with ctx.database.read() as session:
        result = known(session, ctx.benchmark, project=project)
        pairs = decided_pairs(session, result, tag_of=ctx.items.table.spec.tag_of)
        names = names_of_pairs(ctx, session, project=result)
    order = {name: number for number, name in enumerate(("contested", "decided", "agreed", OPEN, GOLD))}
    shown = sorted(pairs, key=lambda pair: (order[pair.state], pair.place))
    return [_shown(pair, names[pair.item]) for pair in shown]


def _shown(pair: DecidedPair, name: str) -> PairDecision:
    answers = {} if pair.state == OPEN else pair.counts()
    return PairDecision(pair.place, pair.item, name, state=pair.state, verdict=pair.verdict, answers=answers)


@action(
    "verification.decide",
    "POST /api/v1/maintenance/verification/{project}/decide",
    place=1,
    audit=DECIDED,
    help="decide pairs yourself, above all contested ones",
    button="Decide pairs",
)
def decide(ctx: ActionContext, project: ProjectNumber, *, verdicts: MaintainerVerdicts) -> ActionResult:
    """Decide pairs of an open project; a decision counts instead of the answers. For maintainers.

    Raises AuthError, NotFound, Conflict.
    """
    require_maintainer(ctx.user)
    if not verdicts:
        raise Conflict("no-decision", _FORM)
    with ctx.database.write() as session:
        result = known(session, ctx.benchmark, project=project, lock=True)
        if result.closed_at is not None:
            raise Conflict("closed", f"{result.name} is closed: decisions do not change any more.")
        items = {_item(ctx, session, project=result, name=name): _verdict(text) for name, text in verdicts.items()}
        annotation_projects.decide(session, project, verdicts=items, by=ctx.user.account)
        facts = {"project": project, "pairs": len(items), "by": ctx.user.account, "via": ctx.user.auth_method}
        seq = audit.append(session, DECIDED, data=facts)
    return ActionResult(True, f"{plural(len(items), 'pair is', many='pairs are')} decided.", seq=seq)


def _verdict(message: str) -> str:
    if message not in VERDICTS:
        names = ", ".join(VERDICTS)
        raise Conflict(
            "bad-decision",
            f"A verdict is one of {names}, not {message[:40]!r}. {_FORM}",
        )
    return message


def _item(ctx: ActionContext, session: Session, *, project: Project, name: str) -> str:
    """Return the key of a pair of the project that has no known verdict. Raises NotFound, Conflict."""
    gold = {item.item: item.gold for item in annotation_projects.items(session, project.id)}
    named = _named(list(gold), name)
    if named is None and project.base_revision:
        named = ctx.items.table.items[find_item(ctx.items.table, name)].key
    if named not in gold:
        raise NotFound(f"{project.name} has no pair {name[:80]!r}. {_FORM}")
    if gold[named] is not None:
        raise Conflict("gold", f"{name[:80]} is a gold pair: its label is known.")
    return named


def _named(keys: Sequence[str], name: str) -> str | None:
    """Return the key, or the one that begins with enough of its digits."""
    begin = [key for key in keys if key.startswith(name)] if len(name) >= _KEY_DIGITS else []
    return name if name in keys else begin[0] if len(begin) == 1 else None
