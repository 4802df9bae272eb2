"""Slow oracle: verdicts on labelled pairs, counted pair by pair and group by group, and judges that do not judge.

Verdicts are int8 arrays (pairs, votes): 0 or 1 for a response in stored order, TIE, UNREADABLE.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
import numpy.typing as npt

from tests.factories.oracles.clustered_oracle import clustered_wilson, mean_interval
from vlrb.arrays import BoolArray
from vlrb.benchmarks.pairs import PairSet, label_set, pair_table
from vlrb.benchmarks.spec import GROUPS, TIE, Overall, Protocol
from vlrb.statistics.uncertainty import Interval, wilson

UNREADABLE = -1
Verdicts = npt.NDArray[np.int8]
Credits = npt.NDArray[np.float64]
"""Per pair what it counts, 0 to 1; NaN where the protocol leaves it out."""


@dataclass(frozen=True, slots=True)
class Accuracy:
    """A share and its 95% interval."""

    value: float
    interval: Interval[float]


@dataclass(frozen=True, slots=True)
class ProtocolScores:
    """Accuracies under one protocol; None where nothing was counted or the definition asks for other pairs.

    ``groups``: groups of which every pair is right; None for a benchmark without groups.
    """

    categories: Mapping[str, Accuracy | None]
    overalls: Mapping[str, Accuracy | None]
    groups: Accuracy | None


def labels_of(pairs: PairSet) -> Verdicts:
    """Return the labels of the pairs, in order."""
    return label_set(pairs.rows, pairs.edition, table=pair_table([pairs])).preferred


def groups_of(pairs: PairSet) -> npt.NDArray[np.int64]:
    """Return the numbers of the pairs' groups: pairs of one id have one number, counted from 0 in order."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name, _item in pairs.pairs], dtype=np.int64)


def _categories(pairs: PairSet) -> npt.NDArray[np.int64]:
    return np.array([pairs.spec.category_keys.index(item.category) for _name, item in pairs.pairs], dtype=np.int64)


def majority_verdicts(verdicts: Verdicts) -> Verdicts:
    """Return per pair the verdict that more than half of all its votes give, else UNREADABLE."""
    winners = np.full(len(verdicts), UNREADABLE, dtype=np.int8)
    for option in (0, 1, TIE):
        winners[2 * (verdicts == option).sum(axis=1) > verdicts.shape[1]] = option
    return winners


def score_protocol(verdicts: Verdicts, pairs: PairSet, *, protocol: Protocol) -> ProtocolScores:
    """Return the accuracies under one protocol, for each category and each named overall number."""
    credit = pair_credits(verdicts, pairs, protocol=protocol)
    categories = {
        key: _accuracy(credit, _categories(pairs) == index, pairs=pairs)
        for index, key in enumerate(pairs.spec.category_keys)
    }
    named = [overall for overall in pairs.spec.overalls if overall.kind != GROUPS]
    overalls = {overall.key: _overall(overall, credit, categories=categories, pairs=pairs) for overall in named}
    return ProtocolScores(categories, overalls, groups=_group_accuracy(credit, pairs))


def pair_credits(verdicts: Verdicts, pairs: PairSet, *, protocol: Protocol) -> Credits:
    """Return what each pair counts under a protocol."""
    verdict = majority_verdicts(verdicts) if protocol.votes == "majority" else verdicts[:, 0]
    credit: Credits = (verdict == labels_of(pairs)).astype(np.float64)
    unreadable = verdict == UNREADABLE
    if protocol.unreadable == "half":
        credit[unreadable] = 0.5
    elif protocol.unreadable == "first":
        credit[unreadable] = labels_of(pairs)[unreadable] == 0
    elif protocol.unreadable == "excluded":
        credit[~_decided(verdict, pairs.spec.ties)] = np.nan
    elif protocol.votes == "majority":
        return np.array([strict_outcome(row, label) for row, label in zip(verdicts, labels_of(pairs), strict=True)])
    return credit


def strict_outcome(votes: Sequence[int], label: int) -> float:
    """Return whether more than half of an odd number of votes are right; of an even number, how often that is so
    when one of them is left out, each in turn."""
    k = len(votes)
    if k % 2:
        return float(2 * sum(vote == label for vote in votes) > k)
    return fmean(strict_outcome([*votes[:left], *votes[left + 1 :]], label) for left in range(k))


def _decided(verdict: Verdicts, ties: bool) -> BoolArray:
    """Return which verdicts are one of the benchmark's labels."""
    decided: BoolArray = verdict >= 0
    return decided if ties else decided & (verdict != TIE)


def _overall(
    overall: Overall, credit: Credits, *, categories: Mapping[str, Accuracy | None], pairs: PairSet
) -> Accuracy | None:
    if overall.pairs is not None and overall.pairs != len(pairs.pairs):
        return None
    if overall.kind == "mean":
        return _mean([categories[key] for key in overall.categories])
    wanted = [pairs.spec.category_keys.index(key) for key in overall.categories]
    held = np.isin(_categories(pairs), wanted)
    if overall.without_ties:
        held &= labels_of(pairs) != TIE
    return _accuracy(credit, held, pairs=pairs)


def _mean(parts: list[Accuracy | None]) -> Accuracy | None:
    """Return the mean of the shares; None where one is missing, since a mean of fewer is another number."""
    given = [part for part in parts if part is not None]
    if not given or len(given) < len(parts):
        return None
    value = sum(part.value for part in given) / len(given)
    return Accuracy(value, mean_interval([(part.value, part.interval) for part in given]))


def _accuracy(credit: Credits, held: BoolArray, *, pairs: PairSet) -> Accuracy | None:
    """Return the mean credit of the held pairs; its interval takes pairs of one group together."""
    held = held & ~np.isnan(credit)
    n, right = int(held.sum()), float(credit[held].sum())
    if n == 0:
        return None
    if pairs.spec.grouped is None:
        return Accuracy(right / n, wilson(right, n))
    group = groups_of(pairs)[held]
    sizes = np.bincount(group)
    sums = np.bincount(group, weights=credit[held])
    return Accuracy(right / n, clustered_wilson(sums[sizes > 0], sizes[sizes > 0]))


def _group_accuracy(credit: Credits, pairs: PairSet) -> Accuracy | None:
    """Return the share of groups of which every pair is right; a pair of credit 1/2 halves its group's."""
    if pairs.spec.grouped is None:
        return None
    groups = groups_of(pairs)
    product = np.ones(int(groups.max()) + 1)
    np.multiply.at(product, groups, np.nan_to_num(credit))
    return Accuracy(float(product.mean()), wilson(float(product.sum()), len(product)))
