"""Every answer of a closed annotation project, for publication and for `python -m curate verify import`.

Nothing here depends on a label. Answers of an open project stay closed: annotators who are maintainers are blind, too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from common import atomic_files
from common.text import pluralize
from maintenance.types import ActionResult, Conflict, Identity, require_maintainer
from review.projects import known
from storage import annotation_projects, audit
from storage.annotation_projects import AnnotatorAnswer
from storage.answer_times import answer_times
from storage.database import Database

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


def individual_labels(database: Database, user: Identity, benchmark: str, project: int) -> list[IndividualLabel]:
    """Return every answer of a closed project, by item and annotator. For maintainers.

    Raises AuthError, NotFound, Conflict.
    """
    require_maintainer(user)
    with database.read() as session:
        found = known(session, benchmark, project)
        if found.closed_at is None:
            raise Conflict("open", f"{found.name} is open. Close it first: annotators must not see others' answers.")
        return with_seconds(annotation_projects.answers(session, project), answer_times(session, project))


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


def export(database: Database, user: Identity, benchmark: str, project: int, path: Path) -> ActionResult:
    """Write every answer of a closed project as JSON lines. For maintainers. Raises AuthError, NotFound, Conflict."""
    labels = individual_labels(database, user, benchmark, project)
    lines = "".join(json.dumps(one._asdict(), ensure_ascii=False) + "\n" for one in labels)
    atomic_files.write(path, lines.encode())
    facts: dict[str, Any] = {"project": project, "answers": len(labels), "by": user.account, "via": user.auth_method}
    with database.write() as session:
        seq = audit.append(session, EXPORTED, facts)
    return ActionResult(True, f"{pluralize(len(labels), 'answer')}: {path}", seq)
