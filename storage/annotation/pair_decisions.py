"""Decisions that the answers of an annotation project make, pair by pair, as closing it writes them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from storage.annotation import annotation_projects
from storage.annotation.annotation_projects import AnnotatorAnswer, Project
from storage.database import Session
from vlrb.label_quality.annotation import AGREED, DECIDED, GOLD, PREFERENCES, AnnotationAnswer, Proposal, judge_answers


class DecidedPair(NamedTuple):
    """A pair and what follows from its answers. `verdict` None: nothing, so the label stays as it is.

    `state`: gold, decided (by a maintainer), agreed, contested or open. `answers`: those that count.
    """

    place: int
    item: str  # key
    state: str
    verdict: str | None
    tags: tuple[str, ...]
    answers: tuple[AnnotatorAnswer, ...]

    @property
    def proposal(self) -> Proposal | None:
        """Return the change of the label; None of gold pairs, whose labels stay."""
        if self.verdict is None or self.state == GOLD:
            return None
        if self.verdict not in PREFERENCES:
            return Proposal("drop")
        return Proposal("a" if self.verdict == "a" else "b", frozenset(self.tags) or None)

    def counts(self) -> dict[str, int]:
        """Return verdict -> number of answers."""
        return dict(sorted(Counter(answer.verdict for answer in self.answers).items()))


def decided_pairs(session: Session, project: Project, *, tag_of: Mapping[str, str]) -> list[DecidedPair]:
    """Return all pairs of a project, by place; answers of annotators who were left out do not count."""
    given: dict[str, list[AnnotatorAnswer]] = defaultdict(list)
    left_out = annotation_projects.left_out(session, project.id)
    for answer in annotation_projects.answers(session, project.id):
        if answer.account not in left_out:
            given[answer.item].append(answer)
    return [
        _decided(item, given[item.item], wanted=project.answers_wanted, tag_of=tag_of)
        for item in annotation_projects.items(session, project.id)
    ]


def _decided(
    item: annotation_projects.StoredItem, given: list[AnnotatorAnswer], *, wanted: int, tag_of: Mapping[str, str]
) -> DecidedPair:
    answers = [AnnotationAnswer(answer.verdict, tuple(answer.errors)) for answer in given]
    if item.gold is not None:
        return DecidedPair(item.place, item.item, GOLD, item.gold, (), tuple(given))
    if item.decision is not None:
        agreeing = [answer for answer in answers if answer.verdict == item.decision]
        judged = judge_answers(agreeing or [AnnotationAnswer(item.decision)], 1, tag_of=tag_of)
        return DecidedPair(item.place, item.item, DECIDED, item.decision, judged.tags, tuple(given))
    judged = judge_answers(answers, wanted, tag_of=tag_of)
    verdict = judged.verdict if judged.state == AGREED else None
    return DecidedPair(item.place, item.item, judged.state, verdict, judged.tags, tuple(given))
