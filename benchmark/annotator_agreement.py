"""Agreement of several annotators with missing answers: Krippendorff's alpha, and mean kappa with the others. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

Units = Mapping[str, Mapping[str, Any]]
"""Item -> annotator -> answer; answers are compared for equality."""


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
    one, other = Counter(first[item] for item in shared), Counter(second[item] for item in shared)
    chance = sum(number * other[answer] for answer, number in one.items()) / n**2
    return None if one == other and len(one) == 1 else (observed - chance) / (1 - chance)


def by_annotator(units: Units) -> dict[str, dict[str, Any]]:
    """Return annotator -> item -> answer."""
    found: dict[str, dict[str, Any]] = {}
    for item, answers in units.items():
        for annotator, answer in answers.items():
            found.setdefault(annotator, {})[item] = answer
    return dict(sorted(found.items()))


def mean_kappas(units: Units) -> dict[str, float | None]:
    """Return each annotator's mean kappa with the others, weighted by the items that two of them share."""
    said = by_annotator(units)
    sums: dict[str, list[tuple[float, int]]] = {name: [] for name in said}
    for first, second in combinations(said, 2):
        value, shared = kappa(said[first], said[second]), len(said[first].keys() & said[second].keys())
        if value is not None:
            sums[first].append((value, shared))
            sums[second].append((value, shared))
    return {
        name: sum(value * shared for value, shared in found) / sum(shared for _, shared in found) if found else None
        for name, found in sums.items()
    }


def alpha_without(units: Units, annotator: str) -> float | None:
    """Return alpha of all others: if it is higher, this annotator differs from them."""
    return krippendorff_alpha(
        [answer for name, answer in answers.items() if name != annotator] for answers in units.values()
    )
