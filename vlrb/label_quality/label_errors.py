"""Candidate label errors: items on which the strongest judges agree against the label. Pure.

Verdicts are a matrix, judges x items, of 0, 1, UNDECIDED and ABSENT.

For every item, the judges that decided it are counted: m of them, d against the label. Were the label right, judge j
would be against it with probability 1 - p_j, p_j its accuracy on the category (its decided items, this one left out).
The chance of d or more against is the upper tail of the Poisson-binomial distribution, exact by convolution (Hong 2013,
Computational Statistics & Data Analysis 59, 41-51, section 2.1). An item is a candidate where that chance, times the
number of items looked at, is at most ALPHA (Bonferroni: on average at most ALPHA right labels on the whole list), and
at least AGAINST of the judges are against it.

That holds for judges that err independently. They do not: what is hard for one is hard for others, so a list of this
kind proposes what people should look at and decides nothing. The bound over all items, rather than a false discovery
rate, is chosen for that reason: judges near chance then propose nothing, however many pairs they are all wrong about.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.labels import NOT_LABELLED, LabelSet
from vlrb.statistics.judge_agreement import agreement_matrix
from vlrb.votes import ABSENT, Matrix

FEWEST, MOST = 5, 15
"""Judges: below FEWEST nothing is proposed; beyond MOST weaker ones add less than their dependence takes away."""
STRONG = 0.6  # accuracy in a category from which on a judge is heard about it
COPY = 0.95  # kappa of majority verdicts from which on a judge repeats a stronger one
AGAINST = Fraction(2, 3)
ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Candidates:
    """``items``: indices, the most surprising first. ``looked_at``: items that at least FEWEST judges decided."""

    items: tuple[int, ...]
    looked_at: int


def distinct_judges(verdicts: Matrix, sources: Sequence[str]) -> tuple[int, ...]:
    """Return the judges to ask, of all in the order of their strength: the best of each source, copies left out, at
    most MOST.

    ``sources``: the owner of each judge. One account's entries, or copies of one judge, would else outvote others.
    """
    chosen: list[int] = []
    seen: set[str] = set()
    for judge, source in enumerate(sources):
        if len(chosen) == MOST:
            break
        if source in seen or any(_copies(verdicts[other], verdicts[judge]) for other in chosen):
            continue
        seen.add(source)
        chosen.append(judge)
    return tuple(chosen)


def _copies(verdicts: Matrix, other: Matrix) -> bool:
    shared = (verdicts != ABSENT) & (other != ABSENT)
    if (verdicts[shared] == other[shared]).all():
        return bool(shared.any())
    return bool(agreement_matrix(np.stack([verdicts, other]))[0, 1] > COPY)


def candidates(verdicts: Matrix, labels: LabelSet, *, table: ItemTable) -> Candidates:
    """Return what the judges agree on against the labels. ``verdicts``: (judges, items) majority verdicts of those
    chosen.

    Raises:
        ValueError: the verdicts are not about the table's items.
    """
    if verdicts.shape[1:] != (len(table),):
        raise ValueError(f"verdicts about {verdicts.shape[1:]} items, but {table.benchmark} has {len(table)}")
    results: list[tuple[float, int]] = []
    looked_at = 0
    for code in range(len(table.spec.categories)):
        members = np.flatnonzero((table.category_index == code) & (labels.preferred != NOT_LABELLED))
        tails = _upper_tails(verdicts[:, members], labels.preferred[members])
        looked_at += sum(tail is not None for tail in tails)
        results += [(tail, int(index)) for tail, index in zip(tails, members, strict=True) if tail is not None]
    return Candidates(tuple(index for tail, index in sorted(results) if tail * looked_at <= ALPHA), looked_at)


def qualified_judges(verdicts: Matrix, labels: LabelSet, *, table: ItemTable) -> dict[str, tuple[int, ...]]:
    """Category -> the judges that are heard about it: right on at least STRONG of what they decided there.

    ``candidates`` leaves the item in question out of that count; here all are in it, so that the answer tells nothing
    of single items.
    """
    result = {}
    for code, category in enumerate(table.spec.category_keys):
        there = (table.category_index == code) & (labels.preferred != NOT_LABELLED)
        decided = (verdicts[:, there] >= 0).sum(axis=1)
        right = (verdicts[:, there] == labels.preferred[there]).sum(axis=1)
        strong = (decided > 0) & (right / np.maximum(decided, 1) >= STRONG)
        result[category] = tuple(np.flatnonzero(strong).tolist())
    return result


def _upper_tails(verdicts: Matrix, preferred: npt.NDArray[np.int8]) -> list[float | None]:
    """Per item of one category the chance of so many against it; 1 where too few are, None where too few decided."""
    decided = verdicts >= 0
    right = verdicts == preferred
    n, agreeing = decided.sum(axis=1), right.sum(axis=1)
    tails: list[float | None] = []
    for item in range(len(preferred)):
        voters = np.flatnonzero(decided[:, item])
        others = n[voters] - 1
        accuracy = (agreeing[voters] - right[voters, item]) / np.maximum(others, 1)
        heard = voters[(others > 0) & (accuracy >= STRONG)]
        if len(heard) < FEWEST:
            tails.append(None)
            continue
        # A judge that was never wrong elsewhere can still be wrong here: half an item keeps the chance above nothing.
        wrong = 1 - (agreeing[heard] - right[heard, item] + 0.5) / n[heard]
        against = int((~right[heard, item]).sum())
        enough = Fraction(against, len(heard)) >= AGAINST
        tails.append(tail(wrong.tolist(), against) if enough else 1.0)
    return tails


def tail(chances: Sequence[float], at_least: int) -> float:
    """P(at least so many of independent events happen), by convolution. ``chances``: of each event."""
    distribution = np.ones(1)
    for chance in chances:
        distribution = np.convolve(distribution, (1 - chance, chance))
    return float(distribution[at_least:].sum())
