"""Every answer of a closed annotation project, for publication and for `python -m curate verify import`.

Nothing here depends on a label. Answers of an open project stay closed: annotators who are maintainers are blind, too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from maintenance.action_context import ActionContext
from maintenance.registry import action
from maintenance.types import Conflict, require_maintainer
from review.projects import ProjectNumber, known
from storage import annotation_projects
from storage.annotation_projects import AnnotatorAnswer
from storage.answer_times import answer_times
from storage.integrity import audit

EXPORTED = "verification.exported"
LONGEST_PAUSE = 600.0
"""Seconds; after a longer time between two answers nobody knows how long the second one took."""


class IndividualLabel(NamedTuple):
    """An answer. A and B are the responses as on the pair's page. `seconds`: since the annotator's answer before it."""

    item: str
    annotator: str
    verdict: str
    errors: list[str]
    note: str
    seconds: float | None


@action(
    "verification.export",
    "POST /api/v1/maintenance/verification/{project}/export",
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
        found = known(session, ctx.benchmark, project)
        if found.closed_at is None:
            raise Conflict("open", f"{found.name} is open. Close it first: annotators must not see others' answers.")
        labels = with_seconds(annotation_projects.answers(session, project), answer_times(session, project))
        facts: dict[str, Any] = {"project": project, "answers": len(labels)}
        audit.append(session, EXPORTED, facts | {"by": ctx.user.account, "via": ctx.user.auth_method})
    return labels


def as_lines(labels: Sequence[IndividualLabel]) -> str:
    """Return the answers as JSON lines."""
    return "\n".join(json.dumps(one._asdict(), ensure_ascii=False) for one in labels)


def with_seconds(answers: Sequence[AnnotatorAnswer], moments: Mapping[tuple[str, str], float]) -> list[IndividualLabel]:
    """Return the answers with the time that each took. Pure."""
    taken: dict[tuple[str, str], float | None] = {}
    last: dict[str, float] = {}
    for (account, item), moment in sorted(moments.items(), key=lambda one: one[1]):
        pause = moment - last[account] if account in last else None
        taken[account, item] = round(pause, 1) if pause is not None and pause <= LONGEST_PAUSE else None
        last[account] = moment
    return [
        IndividualLabel(one.item, one.account, one.verdict, one.errors, one.note, taken.get((one.account, one.item)))
        for one in answers
    ]
