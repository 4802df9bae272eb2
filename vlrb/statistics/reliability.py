"""Reliability of judges: accuracy by number of votes (K curve), self-consistency, agreement of two."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import comb, sqrt

import numpy as np

from vlrb.arrays import Array, FloatArray
from vlrb.votes import ABSENT, UNDECIDED, count_votes

_SURE = 1e-12  # chance agreement is complete, or at least one item in n^2 away from it


@cache
def _majority_chances(total: int, k: int) -> FloatArray:
    """(total + 1,): for a of ``total`` votes that agree, P(more than half of k drawn without replacement agree)."""
    draws = comb(total, k)
    chances = np.array(
        [
            sum(comb(a, x) * comb(total - a, k - x) for x in range(k // 2 + 1, min(a, k) + 1)) / draws
            for a in range(total + 1)
        ]
    )
    chances.setflags(write=False)
    return chances


def odd_votes(total: int) -> range:
    """Return the odd numbers of votes up to so many: an even number can be right by half, which one vote less tells."""
    return range(1, total + 1, 2)


def k_curve(agreeing: Array) -> FloatArray:
    """(..., K + 1) item counts by agreeing votes -> (..., odd k) expected numbers right under ``strict``.

    With a of K votes agreeing, k drawn without replacement are right with the hypergeometric P(X > k/2): exact, where
    a drawn subset moves by points with its seed. At an odd K it ends at the plain count; an even K counts what K - 1
    drawn votes give.
    """
    counts = np.asarray(agreeing)
    total = counts.shape[-1] - 1
    return np.asarray(counts @ np.stack([_majority_chances(total, k) for k in odd_votes(total)], axis=1))


@dataclass(frozen=True, slots=True)
class RerunError:
    """Error of the accuracy of single votes, of the pairs that are drawn and of the judge itself apart (Miller 2024).

    ``between``: variance of the pairs' own shares of right votes; ``within``: mean variance of a vote about its pair.
    """

    pairs: int
    accuracy: float
    between: float
    within: float
    standard_error: float  # of the accuracy from all K votes
    standard_error_one: float  # of the accuracy from one vote
    rerun: float  # standard deviation of the accuracy of one vote when the judge is run again on the same pairs


def rerun_error(agreeing: Array) -> RerunError | None:
    """Return the error from item counts by agreeing votes, (K + 1,); None for one vote, or without an item.

    With p the share of a pair's K votes that are right: within = mean p (1 - p) K / (K - 1), between = var(p) -
    within / K, never below 0, SE = sqrt((between + within / K) / n), rerun = sqrt(within / n).
    """
    counts = np.asarray(agreeing, dtype=np.float64)
    k, n = counts.size - 1, int(counts.sum())
    if k < 2 or not n:
        return None
    p = np.arange(k + 1) / k
    mean = float(counts @ p) / n
    within = float(counts @ (p * (1 - p))) / n * k / (k - 1)
    between = max(float(counts @ (p - mean) ** 2) / n - within / k, 0.0)
    whole, one = (sqrt((between + within / votes) / n) for votes in (k, 1))
    return RerunError(n, mean, between, within, whole, standard_error_one=one, rerun=sqrt(within / n))


def corrected_accuracy(observed: float, wrong: float) -> float:
    """Return the accuracy of a judge against right labels, (observed - e) / (1 - 2e) within 0 and 1, where a share e of
    two-valued labels is ``wrong`` whatever the judge answers.

    Raises:
        ValueError: no share below one half is wrong.
    """
    if not 0 <= wrong < 0.5:
        raise ValueError("labels of which half or more are wrong tell nothing")
    return min(1.0, max(0.0, (observed - wrong) / (1 - 2 * wrong)))


def self_consistency(matrix: Array) -> FloatArray | None:
    """(..., items, K) -> (...): mean over items of (votes for the more frequent verdict / K); None for K = 1.

    ``matrix``: int8, 0, 1, UNDECIDED, ABSENT. Items that the file lacks are left out. Undecided is not a verdict: five
    times undecided is 0, not perfect consistency.
    """
    votes = np.asarray(matrix)
    k = votes.shape[-1]
    if k == 1:
        return None
    options = range(max(2, int(votes.max(initial=0)) + 1))
    frequent = np.max([count_votes(votes == option) for option in options], axis=0)
    return np.asarray(frequent.sum(axis=-1) / np.maximum((votes[..., 0] != ABSENT).sum(axis=-1), 1) / k)


def cohen_kappa(a: Array, b: Array) -> float | None:
    """Cohen's kappa (1960) of two people's answers per item: (observed - chance agreement) / (1 - chance agreement).

    ``a``, ``b``: int arrays (items,) of 0, 1, UNDECIDED, ABSENT. Undecided is a third answer to agree on; items that
    either lacks are left out. None where chance agreement is complete (both always give one and the same answer).

    Raises:
        ValueError: no item is in both.
    """
    first, second = np.asarray(a), np.asarray(b)
    both = (first != ABSENT) & (second != ABSENT)
    if not both.any():
        raise ValueError("two have no item in common: there is no agreement to measure")
    first, second = first[both], second[both]
    options = np.union1d(first, second)
    chance = float(sum((first == answer).mean() * (second == answer).mean() for answer in options))
    sure = np.isclose(chance, 1.0, rtol=0, atol=_SURE)
    return None if sure else float(((first == second).mean() - chance) / (1 - chance))


def agreement_matrix(verdicts: Array) -> FloatArray:
    """Agreement of all pairs, corrected for a random order: (judges, items) verdicts -> (judges, judges).

    (a - e) / (1 - e): a is the share of equal verdicts on the items that both have, e the share expected where the
    order of each item's responses is drawn, so that a judge names either of the two equally often. That is 2a - 1 where
    both decide all items; undecided, and a tie, is one more answer. NaN without an item in common, or where e is 1.
    """
    answers = np.asarray(verdicts)
    present = (answers != ABSENT).astype(np.float64)
    shared = np.maximum(present @ present.T, 1)
    equal, expected = np.zeros_like(shared), np.zeros_like(shared)
    named = np.zeros_like(shared)  # how often either response is named, on the items shared with the other judge only
    for answer in (0, 1, UNDECIDED, *range(2, int(answers.max(initial=1)) + 1)):
        chosen = (answers == answer).astype(np.float64)
        equal += chosen @ chosen.T
        if answer in (0, 1):
            named += chosen @ present.T
        else:
            expected += (chosen @ present.T) * (present @ chosen.T)
    chance = (expected + named * named.T / 2) / shared**2
    undefined = (present @ present.T == 0) | np.isclose(chance, 1.0, rtol=0, atol=_SURE)
    return np.where(undefined, np.nan, (equal / shared - chance) / np.where(undefined, 1.0, 1.0 - chance))


def error_consistency(first: Array, second: Array) -> float | None:
    """Error consistency (Geirhos, Meding & Wichmann 2020): whether two judges err on the same items, from outcomes.

    (o - e) / (1 - e): o is the share of items on which both are right or both are wrong, e the share expected of
    independent judges of their accuracies. None where e is 1: one of them is always right, or both always wrong.

    Raises:
        ValueError: no item.
    """
    if not len(first):
        raise ValueError("no items: there are no errors to compare")
    observed = float((first * second + (1 - first) * (1 - second)).mean())
    p, q = float(first.mean()), float(second.mean())
    expected = p * q + (1 - p) * (1 - q)
    return None if np.isclose(expected, 1.0, rtol=0, atol=_SURE) else (observed - expected) / (1 - expected)
