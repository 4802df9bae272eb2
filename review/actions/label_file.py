"""Labels of a closed annotation project as a file: a line a pair, with every answer, for publication and for editions.

Nothing here depends on a stored label. Answers of an open project stay closed: maintainers annotate blind, too.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

from maintenance.action_context import ActionContext
from maintenance.registry import action
from maintenance.types import Conflict, require_maintainer
from maintenance.view import View
from review.actions.projects import ProjectNumber, known
from review.project_pairs import names_of_pairs
from storage.annotation import annotation_projects, shown_orders
from storage.annotation.annotation_projects import Project
from storage.annotation.pair_decisions import decided_pairs
from storage.answer_times import answer_times, seconds_taken
from storage.database import Session
from storage.integrity import audit

EXPORTED = "verification.exported"


class IndividualLabel(NamedTuple):
    """An answer. `seconds`: since the annotator's answer before it. `shown_first`: a or b, what stood first.

    `left_out`: whether it does not count.
    """

    annotator: str
    verdict: str
    errors: list[str]
    note: str
    seconds: float | None
    shown_first: str
    left_out: bool


class ExportedPair(NamedTuple):
    """A pair with its label: a verdict, or None where it is contested or needs more answers.

    A and B are the responses as in the file of pairs, or as on the page of the benchmark's pair.
    """

    item: str  # key
    id: str
    state: str  # gold, decided, agreed, contested, open
    label: str | None
    tags: tuple[str, ...]
    answers: list[IndividualLabel]


@action(
    "verification.export",
    "POST /api/v1/maintenance/verification/{project}/export",
    place=4,
    help="labels and every answer of a closed project, as JSON lines",
    audit=EXPORTED,
    view=lambda labels: View([as_lines(labels)]),
)
def export(ctx: ActionContext, project: ProjectNumber) -> list[ExportedPair]:
    """Return labels and every answer of a closed project, by pair, and record that. For maintainers.

    Raises AuthError, NotFound, Conflict.
    """
    require_maintainer(ctx.user)
    with ctx.database.write() as session:
        result = known(session, ctx.benchmark, project=project)
        if result.closed_at is None:
            raise Conflict("open", f"{result.name} is open. Close it first: annotators must not see others' answers.")
        labels = labelled_pairs(ctx, session, project=result)
        facts: dict[str, Any] = {"project": project, "answers": sum(len(pair.answers) for pair in labels)}
        audit.append(session, EXPORTED, data=facts | {"by": ctx.user.account, "via": ctx.user.auth_method})
    return labels


def as_lines(labels: Sequence[ExportedPair]) -> str:
    """Return the pairs as JSON lines."""
    rows = ({**pair._asdict(), "answers": [answer._asdict() for answer in pair.answers]} for pair in labels)
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)


def labelled_pairs(ctx: ActionContext, session: Session, *, project: Project) -> list[ExportedPair]:
    """Return every pair of a project with its label and its answers, by place."""
    answers, names = _individual(session, project), names_of_pairs(ctx, session, project=project)
    return [
        ExportedPair(
            pair.item,
            names[pair.item],
            state=pair.state,
            label=pair.verdict,
            tags=pair.tags,
            answers=answers[pair.item],
        )
        for pair in decided_pairs(session, project, tag_of=ctx.items.table.spec.tag_of)
    ]


def _individual(session: Session, project: Project) -> dict[str, list[IndividualLabel]]:
    """Return item key -> its answers."""
    taken, orders = seconds_taken(answer_times(session, project.id)), shown_orders.of_project(session, project.id)
    left_out = annotation_projects.left_out(session, project.id)
    result: dict[str, list[IndividualLabel]] = defaultdict(list)
    for answer in annotation_projects.answers(session, project.id):
        individual = IndividualLabel(
            answer.account,
            answer.verdict,
            errors=answer.errors,
            note=answer.note,
            seconds=taken.get((answer.account, answer.item)),
            shown_first=orders.get((answer.account, answer.item), ""),
            left_out=answer.account in left_out,
        )
        result[answer.item].append(individual)
    return result
