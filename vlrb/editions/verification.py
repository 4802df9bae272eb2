"""Verification of candidates by people: decisions, the reviewers' queue, gold pairs, agreement, single labels. Pure.

A and B are a pair's responses in the pool's order, which is that of every page of the service.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from vlrb.common.messages import _
from vlrb.editions.errors import CurateError
from vlrb.editions.pools.pairs import PoolPair
from vlrb.label_quality.annotation import PREFERENCES, VERDICTS, AnnotationAnswer, by_majority
from vlrb.label_quality.annotator_agreement import PersonAnswer, preference_of

VERIFIED, DROPPED, ADJUDICATE, OPEN = STATES = ("verified", "dropped", "adjudicate", "open")
"""People prefer A or B; the pair is unusable; reviewers have to decide; answers are missing."""
ADJUDICATOR = "adjudicator:"
"""What the name of an adjudicator begins with in answers of an annotation project; such answers are a reviewer's."""
_NOTE = 2000


@dataclass(frozen=True, slots=True)
class PairOutcome:
    """What follows for a pair. ``tags``: kinds of errors of the worse response. ``by_reviewer``: who decided."""

    state: str
    preferred: int | None = None
    tags: tuple[str, ...] = ()
    reason: str = ""
    answers: int = 0
    by_reviewer: bool = False


@dataclass(frozen=True, slots=True)
class VerificationRules:
    """``annotators``: answers that a pair needs. ``reviewers``: their answers decide where annotators differ.

    ``tag_of``: error that annotators choose from -> error tag.
    """

    annotators: int
    reviewers: frozenset[str]
    tag_of: Mapping[str, str]
    unanimous: bool = False


def answer_lines(line: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the answers of a line: itself, or those in a pair's line of the service's labels.jsonl.

    There, answers of people who were left out do not count, and a maintainer's decision is an adjudicator's answer.

    Raises:
        CurateError: `answers` is no list of objects.
    """
    if "answers" not in line:
        return [dict(line)]
    given, item = line["answers"], line.get("item")
    if not isinstance(given, list) or not all(isinstance(answer, dict) for answer in given):
        raise CurateError(_("`answers` must be a list of objects"))
    lines = [{**answer, "item": item} for answer in given if not answer.get("left_out")]
    decided = {"item": item, "annotator": f"{ADJUDICATOR}maintainer", "verdict": line.get("label")}
    return [*lines, decided] if line.get("state") == "decided" else lines


def read_answer(
    line: Mapping[str, Any], known: Mapping[str, PoolPair], *, known_errors: Collection[str]
) -> PersonAnswer:
    """Return the answer of a line. ``known_errors``: those that annotators choose from.

    Raises:
        CurateError: a field is missing or wrong.
    """
    item, annotator, verdict = line.get("item"), line.get("annotator", line.get("account")), line.get("verdict")
    if not isinstance(item, str) or item not in known:
        raise CurateError(_("`item` {value!r} is not a candidate; take it from candidates.jsonl", value=str(item)[:80]))
    if not isinstance(annotator, str) or not annotator.strip():
        raise CurateError(_("`annotator` is missing; name who answered"))
    if verdict not in VERDICTS:
        raise CurateError(_("`verdict` is {verdict!r}; known are {names}", verdict=verdict, names=", ".join(VERDICTS)))
    errors = line.get("errors", [])
    if not isinstance(errors, list) or not set(map(str, errors)) <= set(known_errors):
        raise CurateError(_("`errors` must be a list of {names}", names=", ".join(known_errors)))
    seconds = line.get("seconds")
    if seconds is not None and (isinstance(seconds, bool) or not isinstance(seconds, int | float) or seconds < 0):
        raise CurateError(_("`seconds` must be a number from 0"))
    first = line.get("first_verdict") or ""
    if first and first not in VERDICTS:
        raise CurateError(
            _("`first_verdict` is {verdict!r}; known are {names}", verdict=first, names=", ".join(VERDICTS))
        )
    shown_first = line.get("shown_first") or ""
    if shown_first and shown_first not in PREFERENCES:
        raise CurateError(_("`shown_first` is {shown!r}; give a or b", shown=shown_first))
    note = str(line.get("note") or "")[:_NOTE]
    return PersonAnswer(
        item,
        annotator,
        verdict=verdict,
        errors=tuple(errors),
        note=note,
        seconds=seconds,
        first_verdict=first,
        shown_first=shown_first,
    )


@dataclass(frozen=True, slots=True)
class VerificationPeople:
    """Who verifies. ``assigned``: annotator -> items; without it, annotators answer what they like."""

    annotators: Sequence[str]
    reviewers: Sequence[str]
    assigned: Mapping[str, Collection[str]]

    def check(self, answer: PersonAnswer) -> None:
        """Raise CurateError where somebody has no part in a verification, or not in that of this pair.

        Without names of annotators everybody has a part.
        """
        name = answer.annotator
        if not self.annotators or name in self.reviewers:
            return
        if name in self.annotators:
            self._check_assignment(answer)
            return
        adjudicator = name.removeprefix(ADJUDICATOR)
        if adjudicator != name and (not self.reviewers or adjudicator in self.reviewers):
            return
        raise CurateError(
            _(
                "{name!r} has no part in this verification; known are {names} (--exclude passes over somebody's "
                "answers)",
                name=name[:80],
                names=", ".join([*self.annotators, *self.reviewers]),
            )
        )

    def _check_assignment(self, answer: PersonAnswer) -> None:
        if self.assigned and answer.item not in self.assigned.get(answer.annotator, ()):
            raise CurateError(
                _(
                    "{item} is not assigned to {name!r}; assignments.jsonl says who answers what",
                    item=answer.item[:80],
                    name=answer.annotator[:80],
                )
            )


def outcome(answers: Sequence[PersonAnswer], rules: VerificationRules) -> PairOutcome:
    """Return what follows from the answers about one pair.

    The newest answer of a reviewer decides. Otherwise more than half of the annotators do, once there are enough;
    under ``unanimous`` all must agree.
    """
    reviewed = [answer for answer in answers if answer.annotator in rules.reviewers]
    ordinary = [answer for answer in answers if answer.annotator not in rules.reviewers]
    deciding = reviewed[-1:] or ordinary
    if not reviewed and len(ordinary) < rules.annotators:
        return PairOutcome(OPEN, answers=len(answers))
    proposal = by_majority((AnnotationAnswer(answer.verdict, answer.errors) for answer in deciding), rules.tag_of)
    split = len({preference_of(answer.verdict) for answer in deciding}) > 1
    if proposal is None or (rules.unanimous and split):
        return PairOutcome(ADJUDICATE, answers=len(answers))
    if proposal.effect == "drop":
        reason = Counter(answer.verdict for answer in deciding if answer.verdict not in PREFERENCES).most_common(1)[0][
            0
        ]
        return PairOutcome(DROPPED, reason=reason, answers=len(answers), by_reviewer=bool(reviewed))
    tags = tuple(sorted(proposal.tags or ()))
    return PairOutcome(
        VERIFIED,
        PREFERENCES.index(proposal.effect),
        tags=tags,
        reason="",
        answers=len(answers),
        by_reviewer=bool(reviewed),
    )


def outcomes(
    items: Iterable[str], answers: Iterable[PersonAnswer], *, rules: VerificationRules
) -> dict[str, PairOutcome]:
    """Return item -> what follows."""
    given: dict[str, list[PersonAnswer]] = defaultdict(list)
    for answer in answers:
        given[answer.item].append(answer)
    return {item: outcome(given[item], rules) for item in items}


def newest(answers: Iterable[PersonAnswer]) -> list[PersonAnswer]:
    """Return the last answer of each annotator about each pair: an earlier one was changed."""
    kept: dict[tuple[str, str], PersonAnswer] = {}
    for answer in answers:
        kept.pop((answer.item, answer.annotator), None)
        kept[answer.item, answer.annotator] = answer
    return list(kept.values())


def pseudonyms(answers: Iterable[PersonAnswer]) -> dict[str, str]:
    """Return annotator -> "annotator-1" and so on, in the order of a digest that tells nothing."""
    people = sorted({answer.annotator for answer in answers}, key=lambda name: sha256(name.encode()).hexdigest())
    return {name: f"annotator-{number}" for number, name in enumerate(people, 1)}


def assign(items: Sequence[str], annotators: Sequence[str], *, count: int) -> dict[str, dict[str, str]]:
    """Return annotator -> item -> the response, a or b, to show first.

    Each item is for ``count`` people, evenly, in an order of each annotator's own. Half of an item's people see A
    first; of an odd number, one more or less. The same names and items give the same.

    Raises:
        CurateError: there are fewer annotators than answers that a pair needs.
    """
    if len(annotators) < count:
        raise CurateError(_("{count} answers a pair need as many annotators; name them with --annotator.", count=count))
    given: dict[str, dict[str, str]] = {name: {} for name in annotators}
    for place, item in enumerate(sorted(items, key=lambda item: sha256(item.encode()).digest())):
        for turn in range(count):
            person = annotators[(place + turn) % len(annotators)]
            given[person][item] = PREFERENCES[(_digest("order", item)[0] + turn) % 2]
    return {
        name: {item: own[item] for item in sorted(own, key=lambda item, name=name: _digest(name, item))}  # type: ignore[misc]
        for name, own in given.items()
    }


def _digest(name: str, item: str) -> bytes:
    return sha256(f"{name}\n{item}".encode()).digest()
