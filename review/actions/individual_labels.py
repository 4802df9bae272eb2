"""Every answer of a closed annotation project, for publication and for `vlrb edition verify import`.

Nothing here depends on a label. Answers of an open project stay closed: annotators who are maintainers are blind, too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from maintenance.action_context import ActionContext
from maintenance.registry import action
from maintenance.types import Conflict, require_maintainer
from review.actions.projects import ProjectNumber, known
from storage.annotation import adjudications, annotation_projects, shown_orders
from storage.annotation.annotation_projects import AnnotatorAnswer
from storage.answer_times import answer_times, seconds_taken
from storage.database import Session
from storage.integrity import audit
from vlrb.common.messages import _

EXPORTED = "verification.exported"
ADJUDICATOR = "adjudicator:"
"""Before the account of who adjudicated: `vlrb edition verify import` lets these answers decide."""


class IndividualLabel(NamedTuple):
    """An answer. A and B are the responses as on the pair's page. `seconds`: since the annotator's answer before it.

    `first_verdict`: before a draft label was shown; "" where none was. `shown_first`: a or b, what stood first.
    """

    item: str
    annotator: str
    verdict: str
    errors: list[str]
    note: str
    seconds: float | None
    first_verdict: str = ""
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


def with_seconds(
    answers: Sequence[AnnotatorAnswer],
    moments: Mapping[tuple[str, str], float],
    *,
    first: Mapping[tuple[str, str], str] | None = None,
    shown: Mapping[tuple[str, str], str] | None = None,
) -> list[IndividualLabel]:
    """Return the answers with the time that each took, verdicts before a draft label was shown, and orders. Pure."""
    taken, before, orders = seconds_taken(moments), first or {}, shown or {}
    return [
        IndividualLabel(
            answer.item,
            answer.account,
            verdict=answer.verdict,
            errors=answer.errors,
            note=answer.note,
            seconds=taken.get((answer.account, answer.item)),
            first_verdict=before.get((answer.account, answer.item), ""),
            shown_first=orders.get((answer.account, answer.item), ""),
        )
        for answer in answers
    ]


def all_labels(session: Session, project: int) -> list[IndividualLabel]:
    """Return every answer of a project, those of adjudicators last."""
    answers, times = annotation_projects.answers(session, project), answer_times(session, project)
    orders = shown_orders.of_project(session, project)
    labels = with_seconds(answers, times, first=adjudications.first_answers(session, project), shown=orders)
    decided = adjudications.decisions(session, project).values()
    return labels + [
        IndividualLabel(
            decision.item,
            f"{ADJUDICATOR}{decision.account}",
            verdict=decision.verdict,
            errors=decision.errors,
            note=decision.note,
            seconds=None,
        )
        for decision in decided
    ]
