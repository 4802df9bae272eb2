"""Label sets that are not public but say the same as a public one of nearly all pairs: how little hides the rest. Pure.

An attacker with the public labels and the number of right answers looks for a sparse difference: d of n labels
that are others. A submission asks about a subset of the pairs, and its score is the number of differing labels in it:
chance weighing problem with a spring scale, or quantitative group testing. A subset of half the pairs has a binomial
count, so an answer is worth at most H(Bin(d, 1/2)) bits, about log2(pi e d / 2) / 2, and

    m >= log2 C(n, d) / H(Bin(d, 1/2))      which is about  2 d log2(n / d) / log2 d.

Adaptive questions reach this up to a factor that tends to one (N. H. Bshouty, Optimal algorithms for chance weighing
problem with a spring scale, COLT 2009); the lower bound for questions that are fixed in advance is A. G. D'yachkov's
(1975). With exact category counts the three categories are asked about at once, and the largest number decides. Where
the overall alone is shown, in steps of s = n / 200 pairs, an answer is worth the entropy of floor((X + o) / s) at the
best offset o.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.labels import NOT_LABELLED, LabelSet
from vlrb.disclosure import OVERALL_ONLY, STEPS

WEAK_ABOVE = 0.9
"""Agreement with a public set from which on a set is weakly hidden."""
FACTOR = 1.5
"""Factor between the bound and the reported figure: room for decoders that are not the best."""
FIGURES = (10, 20, 50, 100, 200, 500, 1000, 2000)
"""Reported steps of the number of submissions: the exact one would reveal how many labels differ."""
_OFFSETS = 16


@dataclass(frozen=True, slots=True)
class Overlap:
    """The pairs that two label sets share: (n, how many differ) of each category."""

    parts: tuple[tuple[int, int], ...]

    @property
    def weak(self) -> bool:
        """Whether one of them gives the other away but for a few."""
        n, differing = (sum(column) for column in zip(*self.parts, strict=True))
        return bool(n > 0 and n - differing > WEAK_ABOVE * n)


def overlap(label_set: LabelSet, other: LabelSet, *, table: ItemTable) -> Overlap:
    """Return what two label sets of a table share."""
    both = (label_set.preferred != NOT_LABELLED) & (other.preferred != NOT_LABELLED)
    differ = both & (label_set.preferred != other.preferred)
    of = table.category_index
    codes = range(len(table.spec.categories))
    return Overlap(tuple((int((both & (of == c)).sum()), int((differ & (of == c)).sum())) for c in codes))


def submissions_to_reveal(result: Overlap, level: str) -> int:
    """Return one of FIGURES: after how many scored submissions the differing labels can be known at a level."""
    needed = FACTOR * bound(result.parts, level)
    return next((figure for figure in FIGURES if needed <= figure), FIGURES[-1])


def bound(parts: Sequence[tuple[int, int]], level: str) -> float:
    """Return the least number of submissions that can tell which d of n labels differ; see the head of this module."""
    if level == OVERALL_ONLY:
        n, differing = (sum(column) for column in zip(*parts, strict=True))
        return _questions(n, differing, step=n / STEPS)
    return max((_questions(n, differing, step=1.0) for n, differing in parts), default=0.0)


def _questions(n: int, differing: int, *, step: float) -> float:
    if not 0 < differing < n:
        return 0.0
    ways = (math.lgamma(n + 1) - math.lgamma(differing + 1) - math.lgamma(n - differing + 1)) / math.log(2)
    return ways / _bits(differing, max(step, 1.0))


def _bits(differing: int, step: float) -> float:
    """Return the entropy of a binomial count in steps, at the best offset."""
    counts = np.arange(differing + 1)
    logs = np.array([math.lgamma(differing + 1) - math.lgamma(k + 1) - math.lgamma(differing - k + 1) for k in counts])
    likely = np.exp(logs - differing * math.log(2))
    offsets = [0.0] if step == 1.0 else [step * at / _OFFSETS for at in range(_OFFSETS)]
    return max(
        _entropy(np.bincount(np.floor((counts + offset) / step).astype(int), likely).astype(np.float64))
        for offset in offsets
    )


def _entropy(likely: npt.NDArray[np.float64]) -> float:
    some = likely[likely > 0]
    return float(-(some * np.log2(some)).sum())
