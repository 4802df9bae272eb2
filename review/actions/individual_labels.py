"""Every answer of a closed annotation project, for publication and for `vlrb edition verify import`.

Nothing here depends on a label. Answers of an open project stay closed: annotators who are maintainers are blind, too.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from maintenance.action_context import ActionContext
from maintenance.registry import action
from maintenance.types import Conflict, require_maintainer
from review.actions.projects import ProjectNumber, known
from storage.annotation import annotation_projects, shown_orders
from storage.answer_times import answer_times, seconds_taken
from storage.database import Session
from storage.integrity import audit
from vlrb.common.messages import _

EXPORTED = "verification.exported"


class IndividualLabel(NamedTuple):
    """An answer. A and B are the responses as on the pair's page. `seconds`: since the annotator's answer before it.

    `shown_first`: a or b, what stood first.
    """

    item: str
    annotator: str
    verdict: str
    errors: list[str]
    note: str
    seconds: float | None
    shown_first: str = ""


@action(
    "verification.export",
    "POST /api/v1/maintenance/verification/{project}/export",
    place=4,
    help="every answer of a closed project, as JSON lines",
    audit=EXPORTED,
    text=lambda labels: as_lines(labels),
)
def export(ctx: ActionContext, project: ProjectNumber) -> list[IndividualLabel]:
    """Return every answer of a closed project, by item and annotator, and record that. For maintainers.

    Raises AuthError, NotFound, Conflict.
    """
    require_maintainer(ctx.user)
    with ctx.database.write() as session:
        result = known(session, ctx.benchmark, project=project)
        if result.closed_at is None:
            raise Conflict(
                "open", _("{name} is open. Close it first: annotators must not see others' answers.", name=result.name)
            )
        labels = all_labels(session, project)
        facts: dict[str, Any] = {"project": project, "answers": len(labels)}
        audit.append(session, EXPORTED, data=facts | {"by": ctx.user.account, "via": ctx.user.auth_method})
    return labels


def as_lines(labels: Sequence[IndividualLabel]) -> str:
    """Return the answers as JSON lines."""
    return "\n".join(json.dumps(label._asdict(), ensure_ascii=False) for label in labels)


def all_labels(session: Session, project: int) -> list[IndividualLabel]:
    """Return every answer of a project, with the time that it took and the order that was shown."""
    taken, orders = seconds_taken(answer_times(session, project)), shown_orders.of_project(session, project)
    return [
        IndividualLabel(
            answer.item,
            answer.account,
            verdict=answer.verdict,
            errors=answer.errors,
            note=answer.note,
            seconds=taken.get((answer.account, answer.item)),
            shown_first=orders.get((answer.account, answer.item), ""),
        )
        for answer in annotation_projects.answers(session, project)
    ]
