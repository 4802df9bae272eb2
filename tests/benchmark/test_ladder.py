"""The Ladder rule: what is shown depends on scores and their order, and trying again tells little."""

from __future__ import annotations

import numpy as np

from benchmark.ladder import Try, rounded, shown

MARGIN = 0.015


def tries(*scores: float | None, margin: float | None = MARGIN) -> list[Try]:
    return [Try(score, margin) for score in scores]


def test_the_first_score_is_shown_and_later_ones_where_they_beat_the_best_shown_by_the_margin() -> None:
    assert shown(tries(0.7, 0.714, 0.715, 0.72, 0.73)) == [True, False, True, False, True]


def test_a_score_that_is_not_shown_does_not_raise_the_bar() -> None:
    assert shown(tries(0.7, 0.714, 0.716)) == [True, False, True]


def test_exactly_the_margin_is_enough_whatever_floats_say() -> None:
    for tenth in range(1000):
        assert shown(tries(tenth / 1000, (tenth + 15) / 1000, (tenth + 29) / 1000)) == [True, True, False]


def test_without_the_rule_everything_is_shown_and_counts_once_the_rule_holds() -> None:
    assert shown(tries(0.7, 0.6, margin=None)) == [True, True]
    assert shown([Try(0.7, None), Try(0.6, MARGIN), Try(0.71, MARGIN), Try(0.72, MARGIN)]) == [True, False, False, True]


def test_a_file_that_nothing_is_counted_of_shows_no_number_and_sets_no_bar() -> None:
    assert shown(tries(None, 0.1)) == [True, True]


def test_shown_is_the_published_algorithm_without_its_rounding() -> None:
    """The slow oracle: algorithm 1 of Blum & Hardt 2015, in losses, step by step."""
    dice = np.random.default_rng(5)
    for _ in range(200):
        scores = (dice.integers(0, 1001, 12) / 1000).tolist()
        released, best_loss = [], float("inf")
        for score in scores:
            better = round(1000 * (1 - score)) <= round(1000 * best_loss) - 15 if released else True
            released.append(better)
            best_loss = 1 - score if better else best_loss
        assert shown(tries(*scores)) == released


def test_scores_are_compared_as_their_label_set_shows_them() -> None:
    assert (rounded(0.70049, "categories"), rounded(0.7026, "overall"), rounded(0.7024, "overall")) == (0.7, 0.705, 0.7)


def test_random_tries_show_few_scores_and_a_climb_that_is_planned_shows_all() -> None:
    """What the rule stops, and what it does not: the second is why it alone hides no small correction."""
    dice = np.random.default_rng(1)
    random = [sum(shown(tries(*(dice.binomial(1247, 0.5, 12) / 1247).round(3)))) for _ in range(200)]
    assert np.mean(random) < 2.5
    assert all(shown(tries(*(0.02 + 0.016 * n for n in range(12)))))
