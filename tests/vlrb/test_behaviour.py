"""Behaviour of judges: position bias whatever the order, and rates over the pairs of a label revision."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from vlrb.behaviour import Behaviour, behaviour_of
from vlrb.benchmarks.labels import NOT_LABELLED
from vlrb.benchmarks.spec import TIE
from vlrb.statistics.position_bias import clustered_error, position_bias
from vlrb.statistics.uncertainty import wilson
from vlrb.votes import ABSENT, OTHER, PREFERRED, UNDECIDED, Matrix, Votes

PAIRS = 1000
DICE = np.random.default_rng(3)


def judged(orders: Matrix, *, accuracy: float, pull: float = 0.0) -> Matrix:
    """Votes of a judge about pairs whose preferred response is 0; `pull` of them are for the response shown first."""
    right = (DICE.random(orders.shape) >= accuracy).astype(np.int8)
    return np.where(DICE.random(orders.shape) < pull, orders, right).astype(np.int8)


def observed(matrix: Matrix, orders: Matrix, preferred: Matrix | None = None) -> Behaviour:
    labels = np.zeros(len(matrix), dtype=np.int8) if preferred is None else preferred
    return behaviour_of(Votes(matrix), Votes(orders), preferred=labels)


def slow_bias(matrix: Matrix, orders: Matrix, preferred: Matrix) -> tuple[float, float]:
    """b and its standard error, with votes of a pair clustered; recomputed vote by vote."""
    cells = []
    for votes, firsts, label in zip(matrix.tolist(), orders.tolist(), preferred.tolist(), strict=True):
        cell = [[0, 0], [0, 0]]
        for vote, first in zip(votes, firsts, strict=True):
            if UNDECIDED not in (vote, first) and label in (0, 1):
                side = cell[0 if first == label else 1]
                side[0] += vote == label
                side[1] += 1
        if cell[0][1] + cell[1][1]:
            cells.append(cell)
    right, readable = ([sum(cell[side][part] for cell in cells) for side in (0, 1)] for part in (0, 1))
    share = [right[side] / readable[side] for side in (0, 1)]
    residuals = [
        (c[0][0] - share[0] * c[0][1]) / readable[0] - (c[1][0] - share[1] * c[1][1]) / readable[1] for c in cells
    ]
    return (share[0] - share[1]) / 2, sqrt(len(cells) / (len(cells) - 1) * sum(r * r for r in residuals)) / 2


@pytest.mark.parametrize("shown_first", [0, 1])
def test_of_a_file_that_was_not_shuffled_no_bias_is_stated(shown_first: int) -> None:
    """Of such a file the share of votes for the response shown first is the accuracy, or its complement."""
    orders = np.full((PAIRS, 1), shown_first, dtype=np.int8)
    behaviour = observed(judged(orders, accuracy=0.7), orders)
    assert behaviour.position_bias is None
    assert behaviour.one_order
    assert abs(behaviour.first_shown_rate - 0.5) > 0.15  # type: ignore[operator]


@pytest.mark.parametrize("k", [1, 5])
@pytest.mark.parametrize("front", [0.25, 0.5, 0.75])
def test_a_judge_of_content_has_no_bias_and_one_that_is_pulled_has_whatever_the_order(front: float, k: int) -> None:
    orders = (DICE.random((PAIRS, k)) >= front).astype(np.int8)
    for pull, low, high in ((0.0, -0.04, 0.04), (0.3, 0.1, 0.2)):
        bias = observed(judged(orders, accuracy=0.7, pull=pull), orders).position_bias
        assert bias is not None
        assert low < bias.value < high
        assert bias.low < bias.value < bias.high
        assert (bias.low > 0) == (pull > 0)


def test_votes_of_a_pair_are_a_cluster() -> None:
    """Recomputed by a script that imports nothing of the project."""
    right, readable = np.array([3, 2, 5, 0, 1]), np.array([5, 5, 5, 4, 5])
    share = right.sum() / readable.sum()
    assert share == pytest.approx(0.458333, abs=5e-7)
    assert clustered_error((right - share * readable) / readable.sum()) == pytest.approx(0.167649, abs=5e-7)


def test_bias_and_interval_of_several_votes_are_those_of_a_slow_count() -> None:
    for seed in range(20):
        dice = np.random.default_rng(seed)
        matrix, orders = (dice.choice([0, 1, UNDECIDED], (60, 4), p=[0.45, 0.4, 0.15]).astype(np.int8) for _ in "vo")
        preferred = dice.choice([0, 1, TIE, NOT_LABELLED], 60, p=[0.5, 0.3, 0.1, 0.1]).astype(np.int8)
        value, error = slow_bias(matrix, orders, preferred)
        bias = observed(matrix, orders, preferred).position_bias
        assert bias is not None
        assert bias.value == pytest.approx(value)
        assert (bias.high - bias.low) / 2 == pytest.approx(1.959964 * error, rel=1e-6)


def test_the_interval_of_one_vote_is_that_of_two_independent_shares() -> None:
    right, readable = np.zeros((100, 2)), np.zeros((100, 2))
    readable[:60, 0], readable[60:, 1], right[:45, 0], right[60:80, 1] = 1, 1, 1, 1
    bias = position_bias(right, readable, votes_per_pair=1)
    first, second = wilson(45, 60), wilson(20, 40)
    assert bias is not None
    assert bias.value == pytest.approx(0.125)
    assert bias.low == pytest.approx(0.125 - sqrt((0.75 - first.low) ** 2 + (second.high - 0.5) ** 2) / 2)
    assert bias.high == pytest.approx(0.125 + sqrt((first.high - 0.75) ** 2 + (0.5 - second.low) ** 2) / 2)


def test_votes_about_the_preferred_response_are_counted_as_votes_for_it() -> None:
    orders = np.tile(np.array([[PREFERRED], [OTHER]], dtype=np.int8), (PAIRS // 2, 1))
    named = judged(np.where(orders == PREFERRED, 0, 1).astype(np.int8), accuracy=0.7, pull=0.3)
    bias = observed(np.where(named == 0, PREFERRED, OTHER).astype(np.int8), orders).position_bias
    assert bias == observed(named, np.where(orders == PREFERRED, 0, 1).astype(np.int8)).position_bias


def test_without_labels_an_order_is_told_and_no_bias() -> None:
    votes, one = Votes(np.zeros((10, 1), dtype=np.int8)), np.zeros((10, 1), dtype=np.int8)
    assert behaviour_of(votes, Votes(one)).one_order is True
    one[:3] = 1
    assert behaviour_of(votes, Votes(one)).one_order is False
    assert behaviour_of(votes, None).one_order is None
    assert behaviour_of(votes, Votes(one)).position_bias is None


def test_rates_count_the_pairs_of_the_label_revision_that_the_file_has() -> None:
    matrix = np.array([[0, 0], [0, 1], [UNDECIDED, UNDECIDED], [ABSENT, ABSENT]], dtype=np.int8)
    orders = np.array([[0, 0], [1, 1], [0, 0], [ABSENT, ABSENT]], dtype=np.int8)
    whole = behaviour_of(Votes(matrix), Votes(orders))
    assert (whole.parse_rate, whole.first_shown_rate, whole.self_consistency) == (4 / 6, 3 / 4, 0.5)
    labelled = np.array([0, 1, NOT_LABELLED, 1], dtype=np.int8)
    part = observed(matrix, orders, labelled)
    assert (part.parse_rate, part.first_shown_rate, part.self_consistency) == (1.0, 3 / 4, 0.75)


def test_a_behaviour_is_read_back_as_it_was_stored() -> None:
    orders = (np.arange(100) % 2).astype(np.int8)[:, np.newaxis]
    behaviour = observed(judged(orders, accuracy=0.7), orders)
    assert Behaviour.from_json(behaviour.to_json()) == behaviour


def test_the_verdict_in_both_orders_is_compared_where_each_pair_was_asked_in_both() -> None:
    orders = np.array([[0, 1], [1, 0], [0, 1], [0, 0], [1, 0]], dtype=np.int8)
    votes = np.array([[0, 0], [0, 1], [UNDECIDED, UNDECIDED], [1, 1], [1, 1]], dtype=np.int8)
    assert observed(votes, orders).both_orders == 2 / 4
    assert observed(votes[:, :1], orders[:, :1]).both_orders is None
    assert observed(votes, np.zeros_like(orders)).both_orders is None
