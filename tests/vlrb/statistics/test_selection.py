"""Bias of choosing the best of several, against worked figures and simulated choices."""

import math

import numpy as np
import pytest

from vlrb.statistics.selection import expected_maximum, luck, select_best
from vlrb.statistics.uncertainty import Z, macro_difference, mover_macro

WHOLE = [np.ones(1250, dtype=bool)]
CATEGORIES = [np.repeat([0, 1, 2], [183, 749, 318]) == code for code in range(3)]


@pytest.mark.parametrize(("k", "points"), [(1, 0), (5, 0.74), (10, 0.97), (27, 1.27), (50, 1.43)])
def test_the_luck_of_the_best_of_equal_variants_is_the_worked_one(k, points):
    """Of variants that differ on 10% of 1,250 pairs."""
    assert 100 * luck(k, 0.10 / 1250) == pytest.approx(points, abs=0.011)


def test_the_mean_of_the_largest_has_its_textbook_values():
    expected = {1: 0, 2: 1 / math.sqrt(math.pi), 3: 1.5 / math.sqrt(math.pi), 5: 1.16296, 12: 1.62923}
    assert [expected_maximum(k) for k in expected] == pytest.approx(list(expected.values()), abs=1e-5)
    with pytest.raises(ValueError):
        expected_maximum(0)


def variants(k, redrawn, *, accuracy=0.65, seed=0, spread=0.0):
    """Correctness of k variants that share their answers but for a part that each gives anew, the best macro first."""
    rng = np.random.default_rng(seed)
    base = rng.random(1250) < accuracy
    ability = np.clip(accuracy + spread * np.linspace(-1, 1, k), 0, 1)[:, np.newaxis]
    anew = rng.random((k, 1250)) < redrawn
    found = np.where(anew, rng.random((k, 1250)) < ability, base)
    order = np.argsort(-macro(found), kind="stable")
    return found[order], ((1 - redrawn) * accuracy + redrawn * ability[:, 0])[order]


def macro(correct):
    return np.mean([correct[:, part].mean(axis=1) for part in CATEGORIES], axis=0)


def slow_selection(correct):
    """Pair by pair."""

    def compared(i, j):
        d = correct[i].astype(int) - correct[j].astype(int)
        return macro_difference([(d[part].sum(), (d[part] ** 2).sum(), part.sum()) for part in CATEGORIES])

    near = [0] + [j for j in range(1, len(correct)) if (d := compared(0, j)).delta <= 3.5 * d.standard_error]
    squares = [compared(i, j).standard_error ** 2 for i in near for j in near if i < j]
    return len(near), float(np.mean(squares))


@pytest.mark.parametrize("seed", range(4))
def test_a_selection_is_that_of_every_two_variants(seed):
    correct, _ = variants(7, 0.4, seed=seed, spread=0.15)
    found = select_best(correct, CATEGORIES)
    near, variance = slow_selection(correct)
    assert (found.near, found.gain) == (near, pytest.approx(luck(near, variance)))
    assert math.erfc(found.z / math.sqrt(2)) == pytest.approx(0.05 / near)


def test_variants_that_are_clearly_worse_add_no_luck():
    good, _ = variants(3, 0.3, accuracy=0.8)
    bad, _ = variants(9, 0.3, accuracy=0.4, seed=1)
    assert select_best(np.vstack([good, bad]), CATEGORIES) == select_best(good, CATEGORIES)


@pytest.mark.parametrize("copies", [1, 4])
def test_identical_variants_add_nothing(copies):
    correct, _ = variants(1, 0.0)
    found = select_best(np.repeat(correct, copies, axis=0), WHOLE)
    assert (found.gain, found.z) == (0.0, Z)


def test_perfect_variants_have_no_luck_to_account_for():
    found = select_best(np.ones((3, 1250), dtype=bool), WHOLE)
    assert (found.near, found.gain) == (1, 0.0)


def test_the_interval_of_the_best_of_twelve_covers_where_the_plain_one_does_not():
    plain = fair = 0
    gains, expected = [], []
    for seed in range(250):
        correct, truth = variants(12, 0.41, seed=seed)  # two differ on some 30%
        parts = [(int(correct[0][part].sum()), int(part.sum())) for part in CATEGORIES]
        chosen, usual = select_best(correct, CATEGORIES), mover_macro(parts)
        plain += usual.low <= truth[0] <= usual.high
        fair += mover_macro(parts, chosen.z).low <= truth[0] <= usual.high
        gains.append(macro(correct)[0] - truth[0])
        expected.append(chosen.gain)
    assert plain < 0.9 * 250
    assert fair > 0.95 * 250
    assert np.mean(gains) == pytest.approx(np.mean(expected), abs=0.0015)
