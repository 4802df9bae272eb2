"""Intervals and paired tests: the worked numbers, and the rules that hold for all numbers."""

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlrb.statistics.uncertainty import (
    ALPHA,
    clopper_pearson,
    holm,
    macro_difference,
    mcnemar_exact,
    mover_macro,
    paired_interval,
    wilson,
)

SIZES = (183, 749, 318)
# k, n, Wilson, Clopper-Pearson
WORKED = [
    (840, 1250, (0.645481, 0.697465), (0.645192, 0.697996)),
    (817, 1250, (0.626788, 0.679471), (0.626485, 0.679990)),
    (0, 1250, (0, 0.003064), (0, 0.002947)),
    (1250, 1250, (0.996936, 1), (0.997053, 1)),
    (123, 183, (0.601188, 0.735996), (0.599002, 0.739578)),
    (503, 749, (0.637127, 0.704246), (0.636635, 0.705132)),
    (214, 318, (0.619597, 0.722187), (0.618388, 0.724265)),
]
MACRO_WORKED = [
    ((123, 503, 214), (0.640478, 0.701220)),
    ((91, 505, 198), (0.565941, 0.629431)),
    ((183, 749, 318), (0.991895, 1)),
    ((0, 0, 0), (0, 0.008105)),
]
MCNEMAR_WORKED = [
    (0, 0, 1),
    (6, 0, 0.03125),
    (10, 2, 0.038574219),
    (30, 20, 0.20263875),
    (60, 40, 0.056887934),
    (100, 70, 0.025844388),
    (113, 75, 0.0068074582),
    (150, 112, 0.022081702),
    (250, 200, 0.0207918),
]
DIFFERENCE_WORKED = [
    (((10, 20), (60, 90), (30, 28)), (-0.02946964, 0.01384502, 0.03329261)),
    (((12, 30), (60, 90), (30, 28)), (-0.04404158, 0.01508754, 0.00351078)),
]
share = st.integers(1, 3000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
INTERVALS = pytest.mark.parametrize("interval", [wilson, clopper_pearson])


def parts(counts):
    return [(b - c, b + c, n) for (b, c), n in zip(counts, SIZES, strict=True)]


@pytest.mark.parametrize(("k", "n", "score", "exact"), WORKED)
def test_intervals_of_a_share_are_the_worked_ones(k, n, score, exact):
    assert wilson(k, n) == pytest.approx(score, abs=6e-7)
    assert clopper_pearson(k, n) == pytest.approx(exact, abs=6e-7)


@pytest.mark.parametrize(("right", "worked"), MACRO_WORKED)
def test_macro_intervals_are_the_worked_ones(right, worked):
    assert mover_macro(list(zip(right, SIZES, strict=True))) == pytest.approx(worked, abs=6e-7)


@pytest.mark.parametrize(("b", "c", "p"), MCNEMAR_WORKED)
def test_exact_mcnemar_is_the_worked_one(b, c, p):
    assert mcnemar_exact(b, c) == pytest.approx(p, rel=1e-7)


@given(st.integers(0, 60), st.integers(0, 60))
def test_exact_mcnemar_is_the_sum_of_both_binomial_tails(b, c):
    tail = sum(math.comb(b + c, x) for x in range(min(b, c) + 1)) / 2 ** (b + c)
    assert mcnemar_exact(b, c) == pytest.approx(min(1.0, 2 * tail), rel=1e-12)
    assert mcnemar_exact(b, c) == mcnemar_exact(c, b)


@pytest.mark.parametrize(("counts", "worked"), DIFFERENCE_WORKED)
def test_macro_differences_are_the_worked_ones(counts, worked):
    assert macro_difference(parts(counts)) == pytest.approx(worked, abs=6e-9)


def test_macro_difference_without_any_variance_is_certain_one_way_or_the_other():
    assert macro_difference(parts(((0, 0), (0, 0), (0, 0)))) == (0, 0, 1)
    assert macro_difference([(183, 183, 183), (749, 749, 749), (318, 318, 318)]) == (pytest.approx(1), 0, 0)


@given(st.lists(st.lists(st.sampled_from((-1, -0.5, 0, 0.5, 1)), min_size=2, max_size=30), min_size=1, max_size=4))
def test_macro_difference_is_that_of_the_items_themselves(categories):
    found = macro_difference([(sum(d), sum(x * x for x in d), len(d)) for d in categories])
    error = math.sqrt(sum(np.var(d, ddof=1) / len(d) for d in categories)) / len(categories)
    assert found.delta == pytest.approx(np.mean([np.mean(d) for d in categories]), abs=1e-12)
    assert found.standard_error == pytest.approx(error, abs=1e-9)
    if error > 1e-6:
        assert found.p == pytest.approx(math.erfc(abs(found.delta) / error / math.sqrt(2)), abs=1e-9)


@INTERVALS
@given(pair=share)
def test_an_interval_contains_the_estimate_and_stays_within_0_and_1(interval, pair):
    k, n = pair
    low, high = interval(k, n)
    assert 0 <= low <= k / n <= high <= 1
    assert low < high


@INTERVALS
@given(pair=share)
def test_an_interval_of_errors_mirrors_that_of_right_answers(interval, pair):
    k, n = pair
    low, high = interval(k, n)
    assert interval(n - k, n) == pytest.approx((1 - high, 1 - low), abs=1e-9)


@given(st.lists(share, min_size=1, max_size=5))
def test_the_macro_interval_contains_the_macro_and_mirrors(pairs):
    low, high = mover_macro(pairs)
    macro = sum(k / n for k, n in pairs) / len(pairs)
    assert 0 <= low <= macro + 1e-12
    assert macro - 1e-12 <= high <= 1
    assert mover_macro([(n - k, n) for k, n in pairs]) == pytest.approx((1 - high, 1 - low), abs=1e-9)


@given(st.lists(share, min_size=1, max_size=20))
def test_arrays_give_what_scalars_give(pairs):
    k, n = np.array(pairs).T
    found = wilson(k, n)
    assert list(zip(found.low.tolist(), found.high.tolist(), strict=True)) == [wilson(*pair) for pair in pairs]
    macro = mover_macro([(k, n), (n - k, n)])
    assert list(zip(macro.low.tolist(), macro.high.tolist(), strict=True)) == [
        mover_macro([(a, b), (b - a, b)]) for a, b in pairs
    ]
    assert mcnemar_exact(k, n).tolist() == [mcnemar_exact(*pair) for pair in pairs]


@INTERVALS
def test_no_data_is_an_error_not_a_zero(interval):
    with pytest.raises(ValueError, match="n = 0"):
        interval(0, 0)


def test_impossible_counts_are_refused():
    for call in (
        lambda: wilson(3, 2),
        lambda: wilson(-1, 2),
        lambda: clopper_pearson(3, 2),
        lambda: mover_macro([]),
        lambda: mover_macro([(1, 2), (0, 0)]),
        lambda: macro_difference([]),
        lambda: macro_difference([(1, 1, 1)]),
    ):
        with pytest.raises(ValueError):
            call()


def test_holm_adjusts_a_textbook_family():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]).tolist() == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.floats(0.001, 0.999))
def test_holm_rejects_exactly_what_the_step_down_procedure_rejects(p_values, alpha):
    adjusted = holm(p_values)
    rejected = set()
    for step, index in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        if p_values[index] * (len(p_values) - step) > alpha:
            break
        rejected.add(index)
    assert {i for i, p in enumerate(adjusted) if p <= alpha} == rejected


def test_the_paired_interval_excludes_zero_exactly_where_the_exact_test_does():
    for n in (1, 6, 40, 749):
        for differ in range(min(n, 120) + 1):
            for b in range(differ + 1):
                low, high = paired_interval(b, differ - b, n=n)
                assert -1 <= low <= (2 * b - differ) / n <= high <= 1
                assert (low > 0 or high < 0) == (mcnemar_exact(b, differ - b) < ALPHA), (b, differ - b, n)


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 600))
def test_the_paired_interval_turns_round_with_the_judges_and_is_as_wide_as_the_tests_own(b, c, same):
    n = max(b + c + same, 1)
    low, high = paired_interval(b, c, n=n)
    assert paired_interval(c, b, n=n) == pytest.approx((-high, -low))
    if b + c:
        share = clopper_pearson(b, b + c)
        assert low <= (b + c) * (2 * share.low - 1) / n + 1e-12
        assert high >= (b + c) * (2 * share.high - 1) / n - 1e-12


@pytest.mark.parametrize(
    ("b", "c", "n", "low", "high"),
    [(6, 0, 183, 0.002672, 0.060070), (10, 2, 318, 0.001197, 0.046913), (0, 0, 183, -0.019956, 0.019956)],
)
def test_the_paired_interval_is_the_worked_one(b, c, n, low, high):
    assert paired_interval(b, c, n=n) == pytest.approx((low, high), abs=1e-6)


def test_the_paired_interval_covers_where_one_judge_is_right_on_all_discordant_pairs():
    """Alone, the limits of the test take b + c as known: they covered 43% here."""
    random = np.random.default_rng(3)
    drawn = random.binomial(183, 0.1, size=1000)
    covered = [low <= 0.1 <= high for low, high in (paired_interval(int(b), 0, n=183) for b in drawn)]
    assert np.mean(covered) > 0.93


def test_importing_the_statistics_does_not_import_scipy():
    statistics = "from vlrb.statistics import uncertainty, reliability, ranking"
    modules = f"{statistics}; from vlrb import demo; from vlrb.numbers import splits"
    code = f"import sys; {modules}; sys.exit('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
