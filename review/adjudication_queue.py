"""Pairs of an annotation project on which annotators disagree, as an adjudicator may decide them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from storage.annotation import adjudications, annotation_projects
from storage.annotation.annotation_projects import AnnotatorAnswer, Project
from storage.database import Session
from vlrb.label_quality.annotator_agreement import preference_of

TWO = 2


class AdjudicationQueue(NamedTuple):
    """Places of pairs: those to be decided, and those that the same person has decided."""

    open: tuple[int, ...]
    decided: tuple[int, ...]


def contested(answers: Iterable[AnnotatorAnswer], wanted: int) -> dict[str, list[AnnotatorAnswer]]:
    """Return item key -> answers, of items with enough answers that differ. Reasons to drop a pair do not differ."""
    given: dict[str, list[AnnotatorAnswer]] = defaultdict(list)
    for answer in answers:
        given[answer.item].append(answer)
    return {
        item: answers
        for item, answers in given.items()
        if len(answers) >= max(wanted, TWO) and len({preference_of(answer.verdict) for answer in answers}) > 1
    }


def queue(session: Session, project: Project, *, account: str) -> AdjudicationQueue:
    """Return what somebody may adjudicate: no pair that this person has annotated, or that somebody else decided."""
    result = contested(annotation_projects.answers(session, project.id), project.answers_wanted or TWO)
    decided = adjudications.decisions(session, project.id)
    places = {item: at for at, item in enumerate(annotation_projects.items(session, project.id), start=1)}
    own = {item for item, answers in result.items() if any(answer.account == account for answer in answers)}
    left = sorted(places[item] for item in result if item not in own and item not in decided)
    mine = sorted(places[item] for item, decision in decided.items() if decision.account == account)
    return AdjudicationQueue(tuple(left), tuple(mine))
