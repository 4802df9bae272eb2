"""Results of an annotation project: what closing it would write, and its file of labels with every answer.

Nothing here depends on a stored label.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from maintenance.action_context import ActionContext
from maintenance.registry import action
from maintenance.types import Conflict
from maintenance.view import Row, Table, View, shortened
from review.actions.projects import ProjectNumber, known
from review.items import pair_names
from storage.annotation import annotation_projects
from storage.annotation.annotation_projects import AnnotatorAnswer
from storage.annotation.pair_decisions import decided_pairs
from storage.database import Session
from storage.integrity import audit
from vlrb.label_quality.annotation import AGREED, CONTESTED, GOLD, OPEN, PREFERENCES, annotation_order, needs_answer

EXPORTED = "verification.exported"
LONGEST_PAUSE = 600.0
"""Seconds; after a longer time between two answers nobody knows how long the second one took."""


class PairDecision(NamedTuple):
    """A pair as closing the project would leave it. `verdict` None: its label stays. `answers`: verdict -> number.

    Answers of a pair that needs more are not told: who reads them may have to answer it.
    """

    place: int
    item: str  # key
    name: str
    state: str  # gold, agreed, contested, open
    verdict: str | None
    answers: dict[str, int]


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
    state: str  # gold, agreed, contested, open
    label: str | None
    tags: tuple[str, ...]
    answers: list[IndividualLabel]


def _shown(pairs: Sequence[PairDecision]) -> View:
    head = ("No.", "Pair", "State", "Verdict", "Answers", "Key")
    rows = [_row(pair) for pair in pairs]
    return View(tables=[Table("Decisions", head, rows, "There are no such pairs.")])


def _row(pair: PairDecision) -> Row:
    answers = ", ".join(f"{verdict} {number}" for verdict, number in pair.answers.items())
    return Row((pair.place, pair.name, pair.state, pair.verdict, answers, shortened(pair.item)))


@action("verification.decisions", "GET /api/v1/maintenance/verification/{project}/decisions", view=_shown)
def decisions(ctx: ActionContext, project: ProjectNumber) -> list[PairDecision]:
    """Show what closing a project would write, contested pairs first. For maintainers. Raises AuthError, NotFound."""
    with ctx.database.read() as session:
        result = known(session, ctx.benchmark, project=project)
        pairs = decided_pairs(session, result, tag_of=ctx.items.table.spec.tag_of)
        names = _names(ctx, session, project=project)
    shown = []
    for pair in sorted(pairs, key=lambda pair: (CONTESTED, AGREED, OPEN, GOLD).index(pair.state)):
        waits = needs_answer([answer.verdict for answer in pair.answers], result.answers_wanted)
        name, counts = names.get(pair.item, pair.item[:12]), {} if waits else pair.counts()
        shown.append(PairDecision(pair.place, pair.item, name, state=pair.state, verdict=pair.verdict, answers=counts))
    return shown


@action(
    "verification.export",
    "POST /api/v1/maintenance/verification/{project}/export",
    audit=EXPORTED,
    view=lambda labels: View([as_lines(labels)]),
)
def export(ctx: ActionContext, project: ProjectNumber) -> list[ExportedPair]:
    """Export labels and every answer of a closed project, by pair, and record that. For maintainers.

    Raises AuthError, NotFound, Conflict.
    """
    with ctx.database.write() as session:
        result = known(session, ctx.benchmark, project=project)
        if result.closed_at is None:
            raise Conflict("open", f"{result.name} is open. Close it first: annotators must not see others' answers.")
        given, names = _individual(session, project), _names(ctx, session, project=project)
        labels = [
            ExportedPair(
                pair.item,
                names.get(pair.item, pair.item[:12]),
                state=pair.state,
                label=pair.verdict,
                tags=pair.tags,
                answers=given[pair.item],
            )
            for pair in decided_pairs(session, result, tag_of=ctx.items.table.spec.tag_of)
        ]
        facts: dict[str, Any] = {"project": project, "answers": sum(len(pair.answers) for pair in labels)}
        audit.append(session, EXPORTED, data=facts | ctx.author)
    return labels


def as_lines(labels: Sequence[ExportedPair]) -> str:
    """Return the pairs as JSON lines."""
    rows = ({**pair._asdict(), "answers": [answer._asdict() for answer in pair.answers]} for pair in labels)
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)


def _individual(session: Session, project: int) -> dict[str, list[IndividualLabel]]:
    """Return item key -> its answers."""
    answers, numbers = annotation_projects.answers(session, project), annotation_projects.annotators(session, project)
    numbers |= annotation_projects.annotators(session, project, left_out=True)
    taken = seconds_taken(answers)
    result: dict[str, list[IndividualLabel]] = defaultdict(list)
    for answer in answers:
        individual = IndividualLabel(
            answer.account,
            answer.verdict,
            errors=answer.errors,
            note=answer.note,
            seconds=taken[answer.account, answer.item],
            shown_first=PREFERENCES[annotation_order(numbers[answer.account], answer.item)[0]],
            left_out=answer.left_out,
        )
        result[answer.item].append(individual)
    return result


def seconds_taken(answers: Iterable[AnnotatorAnswer]) -> dict[tuple[str, str], float | None]:
    """Return (account, item) -> seconds since the answer before it; None for a first one, or a long pause. Pure."""
    taken: dict[tuple[str, str], float | None] = {}
    last: dict[str, float] = {}
    for answer in sorted(answers, key=lambda answer: answer.answered_at):
        pause = answer.answered_at - last.get(answer.account, float("-inf"))
        taken[answer.account, answer.item] = round(pause, 1) if pause <= LONGEST_PAUSE else None
        last[answer.account] = answer.answered_at
    return taken


def _names(ctx: ActionContext, session: Session, *, project: int) -> dict[str, str]:
    """Return item key -> what people call it."""
    return pair_names(ctx.items.table) | annotation_projects.names(session, project)
