"""Display order, shared ranks and rank ranges.

*Display order* is total: what is ordered by, then further values, then the earlier submission, then the id. *Ranks* are
shared by equal counts - never by equally rounded percentages. A *rank range* says which ranks are compatible with
paired tests over the same items, adjusted for testing all pairs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from vlrb.arrays import Array, BoolArray, FloatArray, IntArray
from vlrb.statistics.clustered_intervals import clustered_tests
from vlrb.statistics.uncertainty import ALPHA, PairTests, holm, macro_difference, mcnemar_exact, paired_sums

DRAWS, DRAWS_OF_MANY, MANY = 4999, 499, 200
"""Draws of a bootstrap; fewer of more entries than MANY, whose ranges are wide whatever the draws."""
SEED, STEPS = 20241126, 3
_TINY = 1e-30
_ROUNDING = 1e-5  # of a variance, in single precision


@dataclass(frozen=True, slots=True)
class RankingEntry:
    """One row of the board, as far as ranking is concerned."""

    id: str
    values: tuple[float | None, ...]  # what is ordered by, first things first: (macro, overall) on the default board
    counts: tuple[float, ...] | None  # numerators and denominators behind values; None = reported, without a rank
    submitted: str  # ISO 8601: the earlier is first among equals; "" (unknown) is last


def display_order(contenders: Sequence[RankingEntry]) -> list[int]:
    """Return indices in display order. A None is below every number."""

    def key(index: int) -> tuple[Any, ...]:
        contender = contenders[index]
        values = tuple((value is None, 0.0 if value is None else -value) for value in contender.values)
        return (values, contender.submitted == "", contender.submitted, contender.id)

    return sorted(range(len(contenders)), key=key)


def standings(contenders: Sequence[RankingEntry]) -> dict[int, int | None]:
    """Return the indices of contenders in display order, best first, with competition ranks (1, 2, 2, 4).

    A contender shares the rank of the ranked one before it if their counts are equal. Reported rows, and rows whose
    first value is None, carry no rank and take none away.
    """
    ranks: dict[int, int | None] = {}
    ranked = rank = 0
    previous: tuple[float, ...] | None = None
    for index in display_order(contenders):
        contender = contenders[index]
        if contender.counts is None or not contender.values or contender.values[0] is None:
            ranks[index] = None
            continue
        ranked += 1
        if contender.counts != previous:
            rank, previous = ranked, contender.counts
        ranks[index] = rank
    return ranks


class RankRanges(NamedTuple):
    """Rank ranges from paired tests, (entries,) in the order given: 1 + number significantly better, and entries -
    number significantly worse."""

    best: IntArray
    worst: IntArray


def rank_ranges(
    entries: int, tests: PairTests, *, scores: Array | None = None, draws: Array | None = None
) -> RankRanges:
    """Rank ranges of entries from the tests of every two: those of the best set, and no others, begin at 1.

    ``scores``: (entries, items) of ``influence``, or over groups of items, and ``draws``: ``normal_draws`` of as many:
    the max-T procedure. Without them by Holm, whose thresholds depend on each pair's own test alone; max-T looks at how
    all tests are correlated, which tells more about labels that are not public.
    """
    rejected = holm(tests.p) < ALPHA if scores is None or draws is None else step_down(tests, scores, draws=draws)
    first = best_set(entries, tests, clear=tests.p < best_set_limit(entries))
    ranges = ranges_of(entries, tests, rejected=rejected)
    return ranges._replace(best=np.where(first, 1, np.maximum(ranges.best, 2)))


def best_set_limit(entries: int) -> float:
    """Return the two-sided p below which a rival beats an entry: one-sided, times the number of rivals, it is ALPHA."""
    return 2 * ALPHA / max(entries - 1, 1)


def best_set(entries: int, tests: PairTests, *, clear: BoolArray) -> BoolArray:
    """Return which entries could be first: those that no rival beats (Hsu 1984; Mogstad et al. 2024).

    ``clear``: which pairs have a p below ``best_set_limit``. The family of an entry is its rivals, not all pairs, so a
    leader stands alone sooner than by rank ranges; a truly best entry is left out with a probability of ALPHA at most.
    """
    result = np.ones(entries, dtype=bool)
    result[np.where(tests.delta > 0, tests.second, tests.first)[clear]] = False
    return result


def paired_tests(
    outcomes: Array, parts: Sequence[BoolArray], *, exact: bool, groups: IntArray | None = None
) -> PairTests:
    """Return every two entries by the paired test of the mean over parts; by exact McNemar over one part (``exact``)
    where no outcome of the two is one half. ``groups``: of the items, where these are right or wrong together; then by
    the cluster-robust t test."""
    if groups is not None:
        return clustered_tests(outcomes, parts, groups=groups)
    first, second = np.triu_indices(len(outcomes), k=1)
    sums = [(paired_sums(outcomes[:, part]), int(part.sum())) for part in parts]
    counts = [(net[first, second], squares[first, second], n) for (net, squares), n in sums]
    if not exact:
        result = macro_difference(counts)
        return PairTests(first, second, delta=result.delta, variance=np.square(result.standard_error), p=result.p)
    ((net, squares, n),) = counts
    whole = (outcomes[:, parts[0]] != 0.5).all(axis=1)
    whole_pairs = whole[first] & whole[second]
    p = np.ones(len(first))
    p[whole_pairs] = mcnemar_exact((squares + net)[whole_pairs] / 2, (squares - net)[whole_pairs] / 2)
    if n > 1 and not whole_pairs.all():
        p[~whole_pairs] = macro_difference([(net[~whole_pairs], squares[~whole_pairs], n)]).p
    return PairTests(first, second, delta=net / n, variance=np.maximum(squares - net**2 / n, 0) / n**2, p=p)


def selected_p(tests: PairTests, tried: Mapping[int, int]) -> FloatArray:
    """Return p values times the number of variants of which the better of the two is the best (Bonferroni). ``tried``:
    entry -> that number, of those with several."""
    better = np.where(tests.delta > 0, tests.first, tests.second)
    factor = np.ones(int(tests.second.max(initial=0)) + 1)
    factor[list(tried)] = list(tried.values())
    return np.asarray(np.minimum(tests.p * factor[better], 1.0))


def normal_draws(items: int, entries: int = 0) -> npt.NDArray[np.float32]:
    """(DRAWS, items): always the same standard normals, so that the same votes have the same ranges."""
    count = DRAWS if entries <= MANY else DRAWS_OF_MANY
    return np.random.default_rng(SEED).standard_normal((count, items), dtype=np.float32)


def influence(outcomes: Array, parts: Sequence[BoolArray]) -> npt.NDArray[np.float32]:
    """(entries, items): what each item contributes to an entry's deviation from its mean over the parts."""
    result = np.zeros(outcomes.shape, dtype=np.float32)
    for part in parts:
        right = outcomes[:, part].astype(np.float32)
        result[:, part] = (right - right.mean(axis=1, keepdims=True)) / (part.sum() * len(parts))
    return result


def step_down(tests: PairTests, scores: Array, *, draws: Array) -> BoolArray:
    """Return which pairs differ, with a family-wise error of ALPHA: the step-down max-T procedure of Romano & Wolf
    2005.

    A pair differs where its test, as a normal deviate, is above the .95 quantile of the largest deviate of all pairs
    not yet rejected; then the rest is looked at again, at most STEPS times (to stop earlier is conservative). The
    quantile is that of the Gaussian multiplier bootstrap (Chernozhukov, Chetverikov & Kato 2013): the items' scores,
    weighted by normal draws. Holm's threshold, for comparison, knows nothing of how alike the tests are.

    ``scores``: (entries, items), ``influence``; ``draws``: (draws, items), ``normal_draws``.
    """
    from scipy.special import ndtr

    rejected = np.zeros(tests.p.size, dtype=bool)
    scale = _inverse_errors(scores)
    sums = np.ascontiguousarray((draws @ scores.T).T)
    for _ in range(STEPS):
        largest = np.sort(_largest(sums, scale))
        # What ALPHA of one draw more than there are reach: with it the error is exact, however few are drawn.
        quantile = float(largest[ceil((1 - ALPHA) * (len(largest) + 1)) - 1])
        new = (tests.p < 2 * float(ndtr(-quantile))) & ~rejected
        if not new.any():
            break
        rejected |= new
        scale[tests.first[new], tests.second[new]] = scale[tests.second[new], tests.first[new]] = 0
    return rejected


def _inverse_errors(scores: Array) -> npt.NDArray[np.float32]:
    """(entries, entries): 1 / the standard error of a difference, 0 where two entries never differ."""
    products = scores @ scores.T
    own = np.diag(products)
    variance = own[:, np.newaxis] + own[np.newaxis] - 2 * products
    known = variance > _ROUNDING * max(float(own.max(initial=0)), _TINY)
    return np.where(known, 1 / np.sqrt(np.where(known, variance, 1)), 0).astype(np.float32)


def _largest(sums: Array, scale: Array) -> npt.NDArray[np.float32]:
    """(entries, draws) -> by draw the largest studentised difference of two entries, in either direction.

    ``scale`` is symmetric, so each pair is looked at once. Row by row, so that what is in work stays in the cache.
    """
    result = np.zeros(sums.shape[1], dtype=np.float32)
    work = np.empty_like(sums)
    for number in range(len(sums) - 1):
        part = work[number + 1 :]
        np.subtract(sums[number + 1 :], sums[number], out=part)
        np.multiply(part, scale[number + 1 :, number, np.newaxis], out=part)
        np.maximum(result, np.abs(part, out=part).max(axis=0), out=result)
    return result


def ranges_of(entries: int, tests: PairTests, *, rejected: BoolArray) -> RankRanges:
    """Return the ranges that follow from which pairs differ."""
    beats = np.zeros((entries, entries), dtype=bool)
    first, second, ahead = tests.first, tests.second, tests.delta > 0
    beats[first, second], beats[second, first] = rejected & ahead, rejected & ~ahead
    return RankRanges(1 + beats.sum(axis=0), entries - beats.sum(axis=1))
