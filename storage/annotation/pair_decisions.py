"""Decisions that the answers of an annotation project make, pair by pair, as closing it writes them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from storage.annotation import annotation_projects
from storage.annotation.annotation_projects import AnnotatorAnswer, Project
from storage.database import Session
from vlrb.label_quality.annotation import GOLD, AnnotationAnswer, Proposal, judge_answers, preference_of


class DecidedPair(NamedTuple):
    """A pair and what follows from its answers. `verdict` None: nothing, so the label stays as it is.

    `state`: gold, agreed, contested or open. `answers`: those that count.
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
        return Proposal(preference_of(self.verdict), frozenset(self.tags) or None)

    def counts(self) -> dict[str, int]:
        """Return verdict -> number of answers."""
        return dict(sorted(Counter(answer.verdict for answer in self.answers).items()))


def decided_pairs(session: Session, project: Project, *, tag_of: Mapping[str, str]) -> list[DecidedPair]:
    """Return all pairs of a project, by place; answers of annotators who were left out do not count."""
    given: dict[str, list[AnnotatorAnswer]] = defaultdict(list)
    for answer in annotation_projects.answers(session, project.id):
        if not answer.left_out:
            given[answer.item].append(answer)
    result = []
    for place, pair in enumerate(annotation_projects.items(session, project.id), start=1):
        answers = tuple(given[pair.item])
        said = [AnnotationAnswer(answer.verdict, tuple(answer.errors)) for answer in answers]
        judged = judge_answers(said, project.answers_wanted, tag_of=tag_of)
        state, verdict, tags = (GOLD, pair.gold, ()) if pair.gold else (judged.state, judged.verdict, judged.tags)
        result.append(DecidedPair(place, pair.item, state, verdict, tags, answers))
    return result
