"""Gold pairs of an annotation project: answers that are known to be right test the annotators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from maintenance.action_context import ActionContext
from maintenance.registry import ParamInfo, action
from maintenance.types import ActionResult, Conflict, NotFound, require_maintainer
from review.actions.projects import ProjectNumber, known
from review.items import find_item
from storage.annotation import annotation_projects
from storage.annotation.annotation_projects import Project
from storage.database import Session
from storage.integrity import audit
from vlrb.common.messages import _, ngettext
from vlrb.label_quality.annotation import VERDICTS

GOLD = "verification.gold"
_KEY_DIGITS = 8
_FORM = _("Write gold pairs as PAIR=VERDICT, with the key of a pair of the project.")

GoldVerdicts = Annotated[
    Mapping[str, str],
    ParamInfo(
        "Gold pairs",
        "key=a, key=b",
        metavar="PAIR=VERDICT",
        help=f"a pair of the project by key or id, and {', '.join(VERDICTS)}; A and B as on the pair's page",
    ),
]


@action(
    "verification.gold",
    "POST /api/v1/maintenance/verification/{project}/gold",
    place=1,
    audit=GOLD,
    help="state the answers of pairs that test annotators",
    button="State gold pairs",
)
def set_gold(ctx: ActionContext, project: ProjectNumber, *, gold: GoldVerdicts) -> ActionResult:
    """State which answer is known to be right for pairs of an open project. For maintainers.

    Annotators do not see which pairs these are. Closing leaves the labels of gold pairs as they are. Raises AuthError,
    NotFound, Conflict.
    """
    require_maintainer(ctx.user)
    if not gold:
        raise Conflict("no-gold", _FORM)
    with ctx.database.write() as session:
        result = known(session, ctx.benchmark, project=project, lock=True)
        if result.closed_at is not None:
            raise Conflict("closed", _("{name} is closed: gold pairs would test nobody.", name=result.name))
        verdicts = {_item(ctx, session, project=result, name=name): _verdict(text) for name, text in gold.items()}
        annotation_projects.set_gold(session, project, verdicts=verdicts)
        facts = {"project": project, "pairs": len(verdicts), "by": ctx.user.account, "via": ctx.user.auth_method}
        seq = audit.append(session, GOLD, data=facts)
        count = len(annotation_projects.gold(session, project))
    return ActionResult(
        True,
        _("{name} has {count}.", name=result.name, count=ngettext("{n:,} gold pair", "{n:,} gold pairs", count)),
        seq=seq,
    )


def _verdict(message: str) -> str:
    if message not in VERDICTS:
        raise Conflict(
            "bad-gold",
            _(
                "A verdict is one of {names}, not {message!r}. {form}",
                names=", ".join(VERDICTS),
                message=message[:40],
                form=_FORM,
            ),
        )
    return message


def _item(ctx: ActionContext, session: Session, *, project: Project, name: str) -> str:
    """Return the key of a pair of the project. Raises NotFound, Conflict."""
    keys = annotation_projects.items(session, project.id)
    begin = [key for key in keys if key.startswith(name)] if len(name) >= _KEY_DIGITS else []
    if len(begin) == 1 or name in begin:
        return name if name in begin else begin[0]
    key = ctx.items.table.items[find_item(ctx.items.table, name)].key
    if key not in keys:
        raise NotFound(_("{name} has no pair {pair!r}. {form}", name=project.name, pair=name[:80], form=_FORM))
    return key
