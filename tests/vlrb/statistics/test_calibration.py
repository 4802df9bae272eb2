"""Calibration of votes and scores, each figure against a slow and obviously right count."""

from __future__ import annotations

import json
from itertools import permutations
from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.factories import small_benchmark
from vlrb.behaviour import behaviour_of
from vlrb.predictions.parse import parse_predictions
from vlrb.statistics.calibration import Calibration, best_steepness, calibration, score_calibration, vote_calibrations
from vlrb.votes import ABSENT, UNDECIDED, pack_margins, unpack_margins

verdicts = st.lists(st.tuples(st.sampled_from((0.6, 0.8, 1.0)), st.booleans()), min_size=1, max_size=5)


def found(pairs: list[tuple[float, bool]], asked: int | None = None) -> Calibration:
    confidence, right = zip(*pairs, strict=True)
    result = calibration(
        np.array(confidence), np.array(right), asked=asked or len(pairs), source="votes", votes_per_item=5
    )
    assert result is not None
    return result


@given(verdicts)
def test_risk_against_coverage_is_the_mean_over_all_orders_of_equally_confident_pairs(
    pairs: list[tuple[float, bool]],
) -> None:
    orders = [order for order in permutations(pairs) if [c for c, _ in order] == sorted((c for c, _ in pairs))[::-1]]
    risks = [[1 - sum(y for _, y in order[:most]) / most for most in range(1, len(pairs) + 1)] for order in orders]
    mean = np.mean(risks, axis=0)
    result = found(pairs)
    assert result.area == pytest.approx(mean.mean(), abs=2e-6)
    for percent, accuracy in result.at.items():
        assert accuracy == pytest.approx(1 - mean[-(-int(percent) * len(pairs) // 100) - 1], abs=2e-6)


@given(verdicts)
def test_brier_and_calibration_error_are_those_of_the_distinct_confidences(pairs: list[tuple[float, bool]]) -> None:
    groups = {c: [y for d, y in pairs if d == c] for c, _ in pairs}
    result = found(pairs)
    assert result.brier == pytest.approx(sum((c - y) ** 2 for c, y in pairs) / len(pairs), abs=2e-6)
    gaps = [abs(sum(own) - c * len(own)) for c, own in groups.items()]
    assert result.ece == pytest.approx(sum(gaps) / len(pairs), abs=2e-6)
    assert [pairs for _, _, pairs in result.bins] == [len(groups[c]) for c in sorted(groups)]


def test_more_than_ten_confidences_are_put_into_ten_bins_of_equally_many_pairs() -> None:
    result = found([(0.5 + at / 100, at % 2 == 0) for at in range(50)])
    assert [pairs for _, _, pairs in result.bins] == [5] * 10
    assert result.bins[0][0] == pytest.approx(0.52)


def test_a_judge_that_abstains_has_no_accuracy_at_coverages_that_it_does_not_reach() -> None:
    """The most confident quarter of all pairs is the same, however many others it answers."""
    pairs = [(1.0, True)] * 25 + [(0.6, False)] * 25
    assert found(pairs, asked=100).at == {"25": 1.0, "50": 0.5, "75": None}


def test_of_votes_the_confidence_is_the_share_of_all_k_for_the_majority() -> None:
    label = np.array([0, 1, 0, 1, 0], dtype=np.int8)
    votes = np.array([[0, 0, 0], [1, 1, UNDECIDED], [1, 1, 0], [0, 1, UNDECIDED], [ABSENT] * 3], dtype=np.int8)
    result = vote_calibrations(votes[np.newaxis], label)[0]
    assert result is not None
    assert (result.asked, result.pairs, result.votes_per_item) == (4, 3, 3)
    assert list(result.bins) == [(0.666667, 0.5, 2), (1.0, 1.0, 1)]
    assert vote_calibrations(votes[np.newaxis, :, :1], label)[0] is None


def test_the_temperature_is_the_most_likely_one() -> None:
    dice = np.random.default_rng(7)
    size = dice.exponential(2, 400)
    signed = np.where(dice.random(400) < 1 / (1 + np.exp(-size / 3)), size, -size)

    def likelihood(steepness: float) -> float:
        return -sum(log(1 + exp(-value * steepness)) for value in signed.tolist())

    best = best_steepness(signed)
    assert all(likelihood(best) > likelihood(best * factor) for factor in (0.99, 1.01))
    assert best == pytest.approx(1 / 3, rel=0.3)
    assert best_steepness(-signed) == 0  # mostly wrong: it knows nothing


def test_the_scores_of_a_file_are_kept_and_tell_how_sure_it_is() -> None:
    table, labels = small_benchmark.table(), small_benchmark.scorer().labels["demo"]
    dice = np.random.default_rng(4)
    scores = dice.normal(0, 3, (len(table), 2)).round(3)
    scores[0] = 1.5  # a tie has no verdict
    lines = [
        {"id": item.ids["demo"], "scores": [pair]} for item, pair in zip(table.items, scores.tolist(), strict=True)
    ]
    upload = parse_predictions("".join(json.dumps(line) + "\n" for line in lines).encode(), table)
    assert upload.margins is not None
    size = np.abs(scores[:, 0] - scores[:, 1])
    assert unpack_margins(pack_margins(upload.margins)) == pytest.approx(size, rel=1e-6)
    result = behaviour_of(upload.votes, None, preferred=labels.preferred, margins=upload.margins).calibration
    verdict = np.where(size > 0, scores[:, 1] > scores[:, 0], UNDECIDED)
    assert result == score_calibration(upload.margins, verdict, label=labels.preferred)
    assert result is not None and (result.asked, result.pairs) == (len(table), len(table) - 1)
    several = [{**line, "scores": 2 * line["scores"]} for line in lines]
    assert parse_predictions("".join(json.dumps(line) + "\n" for line in several).encode(), table).margins is None


def test_scores_are_scaled_by_a_temperature_of_the_other_folds() -> None:
    dice = np.random.default_rng(8)
    margins, noise = np.abs(dice.normal(0, 2, 500)), dice.random(500)
    right = noise < 1 / (1 + np.exp(-margins))
    result = score_calibration(margins, right.astype(int), label=np.ones(500))
    assert result is not None and result.ece < 0.08
    signed = np.where(right, margins, -margins)
    fold = np.arange(500) % 5
    confidence = [1 / (1 + exp(-m * best_steepness(signed[fold != at % 5]))) for at, m in enumerate(margins)]
    assert result.brier == pytest.approx(np.mean((np.array(confidence) - right) ** 2), abs=2e-6)
    assert (
        score_calibration(margins * 128, right.astype(int), label=np.ones(500)) == result
    )  # whatever the scale of the scores
