"""Agreement of several annotators with missing answers: Krippendorff's alpha, and mean kappa with the others. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median
from typing import Any

from vlrb.label_quality.annotation import DROP, PREFERENCES, tags_of

GOLD_MINIMUM = 0.7
"""Share of gold pairs that an annotator should answer as it is known to be right."""
Units = Mapping[str, Mapping[str, Any]]
"""Item -> annotator -> answer; answers are compared for equality."""


@dataclass(frozen=True, slots=True)
class PersonAnswer:
    """An annotator's answer about a pair. ``seconds``: how long it took; None where nobody measured.

    ``shown_first``: the response, a or b, that stood first; "" where nobody recorded that.
    """

    item: str
    annotator: str
    verdict: str
    errors: tuple[str, ...] = ()
    note: str = ""
    seconds: float | None = None
    shown_first: str = ""


def preference_of(verdict: str) -> str:
    """Return A or B, or DROP for all that makes a pair unusable: between these, reasons do not count as differing."""
    return verdict if verdict in PREFERENCES else DROP


def krippendorff_alpha(units: Iterable[Sequence[Any]]) -> float | None:
    """Nominal alpha of answers by unit (Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", part C).

    Units with fewer than two answers do not count. None where nothing can be compared, or all answers are the same.
    """
    coincidences: Counter[tuple[Any, Any]] = Counter()
    for answers in units:
        counts = Counter(answers)
        total = counts.total()
        if total < 2:
            continue
        for first, number in counts.items():
            for second, others in counts.items():
                coincidences[first, second] += number * (others - (first == second)) / (total - 1)
    values: Counter[Any] = Counter()
    for (first, _), number in coincidences.items():
        values[first] += number
    total = sum(values.values())
    expected = total**2 - sum(number**2 for number in values.values())
    if not expected:
        return None
    observed = sum(number for (first, second), number in coincidences.items() if first != second)
    return 1 - (total - 1) * observed / expected


def kappa(first: Mapping[str, Any], second: Mapping[str, Any]) -> float | None:
    """Cohen's kappa (1960) of two annotators on the items that both answered; None where it is undefined."""
    shared = first.keys() & second.keys()
    if not shared:
        return None
    n = len(shared)
    observed = sum(first[item] == second[item] for item in shared) / n
    x, y = Counter(first[item] for item in shared), Counter(second[item] for item in shared)
    chance = sum(number * y[answer] for answer, number in x.items()) / n**2
    return None if x == y and len(x) == 1 else (observed - chance) / (1 - chance)


def by_annotator(units: Units) -> dict[str, dict[str, Any]]:
    """Return annotator -> item -> answer."""
    result: dict[str, dict[str, Any]] = {}
    for item, answers in units.items():
        for annotator, answer in answers.items():
            result.setdefault(annotator, {})[item] = answer
    return dict(sorted(result.items()))


def mean_kappas(units: Units) -> dict[str, float | None]:
    """Return each annotator's mean kappa with the others, weighted by the items that two of them share."""
    verdicts = by_annotator(units)
    sums: dict[str, list[tuple[float, int]]] = {name: [] for name in verdicts}
    for first, second in combinations(verdicts, 2):
        value, shared = kappa(verdicts[first], verdicts[second]), len(verdicts[first].keys() & verdicts[second].keys())
        if value is not None:
            sums[first].append((value, shared))
            sums[second].append((value, shared))
    return {
        name: sum(value * shared for value, shared in kappas) / sum(shared for _, shared in kappas) if kappas else None
        for name, kappas in sums.items()
    }


def alpha_without(units: Units, annotator: str) -> float | None:
    """Return alpha of all others: if it is higher, this annotator differs from them."""
    return krippendorff_alpha(
        [answer for name, answer in answers.items() if name != annotator] for answers in units.values()
    )


def agreement_report(
    answers: Sequence[PersonAnswer], gold: Mapping[str, str], *, tag_of: Mapping[str, str]
) -> dict[str, Any]:
    """Return kappa, alpha, gold accuracy and time of annotators.

    ``gold``: item -> the right verdict. ``tag_of``: error -> tag of the benchmark.
    """
    verdicts = _units(answers)
    people = sorted({answer.annotator for answer in answers})
    kappas = mean_kappas(verdicts)
    shared = {item: values for item, values in verdicts.items() if len(values) > 1}
    same = [first == second for values in shared.values() for first, second in combinations(values.values(), 2)]
    defined = [value for value in kappas.values() if value is not None]
    return {
        "answers": len(answers),
        "shared_pairs": len(shared),
        "agreement": sum(same) / len(same) if same else None,
        "alpha": krippendorff_alpha(list(verdict.values()) for verdict in verdicts.values()),
        "mean_kappa": sum(defined) / len(defined) if defined else None,
        "tags": {tag: _tag_alpha(answers, tag, tag_of=tag_of) for tag in sorted(set(tag_of.values()))},
        "annotators": {name: _person(name, answers, verdicts=verdicts, kappas=kappas, gold=gold) for name in people},
    }


def _units(answers: Iterable[PersonAnswer]) -> dict[str, dict[str, str]]:
    units: dict[str, dict[str, str]] = defaultdict(dict)
    for answer in answers:
        units[answer.item][answer.annotator] = preference_of(answer.verdict)
    return dict(units)


def _tag_alpha(answers: Iterable[PersonAnswer], tag: str, *, tag_of: Mapping[str, str]) -> dict[str, Any]:
    """Return alpha of whether annotators give a tag, over pairs for which they prefer the same response."""
    given: dict[tuple[str, str], dict[str, bool]] = defaultdict(dict)
    for answer in answers:
        if answer.verdict in PREFERENCES:
            given[answer.item, answer.verdict][answer.annotator] = tag in tags_of(answer.errors, tag_of)
    times = sum(sum(values.values()) for values in given.values())
    return {"given": times, "alpha": krippendorff_alpha(list(values.values()) for values in given.values())}


def _person(
    name: str,
    answers: Sequence[PersonAnswer],
    *,
    verdicts: Mapping[str, Mapping[str, str]],
    kappas: Mapping[str, float | None],
    gold: Mapping[str, str],
) -> dict[str, Any]:
    own = [answer for answer in answers if answer.annotator == name]
    tested = [answer for answer in own if answer.item in gold]
    right = sum(preference_of(answer.verdict) == preference_of(gold[answer.item]) for answer in tested)
    times = [answer.seconds for answer in own if answer.seconds is not None]
    placed = [answer for answer in own if answer.shown_first and answer.verdict in PREFERENCES]
    picked = sum(answer.verdict == answer.shown_first for answer in placed)
    return {
        "answers": len(own),
        "mean_kappa": kappas.get(name),
        "alpha_of_the_others": alpha_without(verdicts, name),
        "gold": len(tested),
        "gold_right": right / len(tested) if tested else None,
        "below_gold_minimum": bool(tested) and right / len(tested) < GOLD_MINIMUM,
        "median_seconds": median(times) if times else None,
        "picked_shown_first": picked / len(placed) if placed else None,
    }
