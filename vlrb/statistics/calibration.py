"""Calibration: whether a judge that is sure of a verdict is right about it. Pure.

Confidence is the share of a judge's K votes that are for its majority, or the logistic of the difference of its two
scores over a temperature. Pairs without a verdict have none: a judge that abstains is neither punished for them nor
rewarded, and its curve of risk ends where it stops answering.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from vlrb.arrays import Array, BoolArray, FloatArray
from vlrb.benchmarks.spec import TIE
from vlrb.votes import ABSENT, count_votes, majority

BINS, FOLDS = 10, 5
COVERAGES = (25, 50, 75)
"""Percent of all pairs: the accuracy on the most confident of them is stated."""
_STEPS, _FLATTEST, _STEEPEST, _FARTHEST = 100, 1e-9, 1e9, 1e6
_DIGITS = 6


ConfidenceBin = tuple[float, float, int]
"""Verdicts of like confidence: their mean confidence, the share of them that is right, and their number."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """How a judge's confidence fits its accuracy. Shares are fractions; ``pairs``: with a verdict, out of ``asked``.

    ``at``: percent of coverage -> accuracy on so many most confident pairs of all; None beyond what it decides.
    ``area``: mean error rate over all coverages up to that of the judge (area under risk against coverage).
    """

    source: str  # of the confidence: votes or scores
    votes_per_item: int  # shares of votes are compared among equal numbers of votes only
    asked: int
    pairs: int
    brier: float
    ece: float
    area: float
    at: Mapping[str, float | None]
    bins: tuple[ConfidenceBin, ...]


def calibration(confidence: Array, right: Array, *, asked: int, source: str, votes_per_item: int) -> Calibration | None:
    """Return the calibration of verdicts, arrays over the pairs that have one; None without a verdict.

    Brier score: the mean of (confidence - right)^2. Expected calibration error: over the distinct confidences, or BINS
    of equally many pairs where there are more, the mean difference of confidence and accuracy, weighted by pairs.
    Equal confidences are in random order: what is stated is the expectation over it.
    """
    c, y = np.asarray(confidence, dtype=np.float64), np.asarray(right, dtype=np.float64)
    distinct, index, counts = np.unique(c, return_inverse=True, return_counts=True)
    levels = (distinct, counts, np.bincount(index, weights=y, minlength=distinct.size))
    groups = np.array_split(np.argsort(c, kind="stable"), BINS) if distinct.size > BINS else []
    bins = [(_rounded(c[own].mean()), _rounded(y[own].mean()), len(own)) for own in groups]
    return _of_levels(*levels, bins=bins, asked=asked, source=source, votes_per_item=votes_per_item)


def _of_levels(
    confidence: FloatArray, counts: Array, right: Array, *, bins: list[ConfidenceBin], asked: int, **facts: Any
) -> Calibration | None:
    """Return the calibration of verdicts by their distinct confidences, the lowest first: how many pairs have each, and
    how many of these are right. ``bins``: none where each confidence is a bin of its own."""
    pairs = int(counts.sum())
    if not pairs:
        return None
    share = right / counts
    columns = (values.tolist() for values in (confidence, share, counts))
    bins = bins or [(_rounded(c), _rounded(y), n) for c, y, n in zip(*columns, strict=True)]
    expected = np.cumsum(np.repeat(share[::-1], counts[::-1]))  # right ones of the 1, 2, ... most confident verdicts
    return Calibration(
        **facts,
        asked=asked,
        pairs=pairs,
        brier=_rounded((right * (1 - confidence) ** 2 + (counts - right) * confidence**2).sum() / pairs),
        ece=_rounded(sum(own * abs(sure - true) for sure, true, own in bins) / pairs),
        area=_rounded(np.mean(1 - expected / np.arange(1, pairs + 1))),
        at={str(percent): _accuracy_at(expected, percent * asked / 100) for percent in COVERAGES},
        bins=tuple(bins),
    )


def vote_calibrations(matrix: Array, label: Array) -> list[Calibration | None]:
    """Return the calibration of the votes of judges, (judges, pairs, K), by the pairs' labels; None for one vote, or
    without a majority. Pairs that a file lacks are not asked."""
    k = matrix.shape[2]
    if k == 1:
        return [None] * len(matrix)
    verdict = majority(matrix)
    agreeing, decided = count_votes(matrix == verdict[..., np.newaxis]), _decided(verdict, label)
    most = np.arange(k // 2 + 1, k + 1)  # votes that a majority may have
    counts, right = (
        np.stack([np.count_nonzero(those & (agreeing == votes), axis=1) for votes in most], axis=1)
        for those in (decided, decided & (verdict == label))
    )
    asked = (verdict != ABSENT).sum(axis=1)
    return [
        _of_levels(
            most[own > 0] / k, own[own > 0], of[own > 0], bins=[], asked=int(n), source="votes", votes_per_item=k
        )
        for own, of, n in zip(counts, right, asked, strict=True)
    ]


def score_calibration(margins: Array, verdict: Array, *, label: Array) -> Calibration | None:
    """Return the calibration of single votes that follow from scores, all arrays over pairs. ``margins``: how far the
    preferred score is above the other; pairs where they are equal have no verdict.

    The temperature of a pair is that of the FOLDS - 1 folds that it is not in; of those with a verdict, number i is in
    fold i mod FOLDS.
    """
    known = _decided(verdict, label) & (np.nan_to_num(margins) > 0)
    size, right = np.asarray(margins[known], dtype=np.float64), verdict[known] == label[known]
    if size.size < 2 * FOLDS:
        return None
    folds, size = np.arange(size.size) % FOLDS, np.minimum(size / np.median(size), _FARTHEST)
    signed = np.where(right, size, -size)
    steepness = np.array([best_steepness(signed[folds != fold]) for fold in range(FOLDS)])
    confidence = 1 / (1 + np.exp(-np.minimum(size * steepness[folds], 700)))
    asked = int((verdict != ABSENT).sum())
    return calibration(confidence, right, asked=asked, source="scores", votes_per_item=1)


def _decided(verdict: Array, label: Array) -> BoolArray:
    """Return which verdicts, (..., pairs), are an answer: a tie is none where no label is one."""
    ties = ((label == TIE) & (verdict != ABSENT)).any(axis=-1, keepdims=True)
    return np.asarray((verdict >= 0) & ((verdict != TIE) | ties))


def best_steepness(signed: FloatArray) -> float:
    """Return 1 / T of the most likely temperature T, at least 0: the largest sum of log logistic(signed / T).

    ``signed``: differences of scores, positive where the verdict is right. The logarithm is concave in 1 / T, so its
    slope is halved until it is 0. Where all verdicts are right there is no end; where most are wrong it is 0.
    """

    def slope(steepness: float) -> float:
        return float(np.sum(signed / (1 + np.exp(np.clip(signed * steepness, -700, 700)))))

    if slope(0.0) <= 0:
        return 0.0
    low, high = _FLATTEST, _STEEPEST
    for _step in range(_STEPS):  # of orders of magnitude: in the end to a millionth of a millionth
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if slope(middle) > 0 else (low, middle)
    return low


def _accuracy_at(expected: FloatArray, pairs: float) -> float | None:
    """Return the accuracy on so many most confident pairs, rounded up; None where fewer have a verdict."""
    most = int(np.ceil(pairs))
    return _rounded(expected[most - 1] / most) if 0 < most <= expected.size else None


def _rounded(value: Any) -> float:
    return round(float(value), _DIGITS)
