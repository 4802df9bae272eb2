"""Spearman's rank correlation and its interval, against SciPy and by their properties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlrb.statistics.rank_agreement import LEAST, rank_correlation

VALUES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=LEAST, max_size=30)


@given(VALUES)
def test_rho_is_that_of_scipy_with_equals_too(pairs: list[tuple[int, int]]) -> None:
    from scipy.stats import spearmanr  # it takes a second: only the process that runs this is to wait

    first, second = ([float(pair[side]) for pair in pairs] for side in (0, 1))
    found = rank_correlation(first, second)
    if found is None:
        assert 1 in (len(set(first)), len(set(second)))
        return
    assert found.rho == pytest.approx(spearmanr(first, second).statistic)
    assert -1 <= found.interval.low <= found.rho <= found.interval.high <= 1


def test_the_interval_is_that_of_bonett_and_wright() -> None:
    first, second = [1.0, 2, 3, 4, 5, 6, 7, 8, 9, 10], [2.0, 1, 4, 3, 6, 5, 8, 7, 10, 9]
    found = rank_correlation(first, second)
    assert found is not None
    rho = 1 - 6 * 10 / (10 * 99)
    half = 1.959964 * np.sqrt((1 + rho**2 / 2) / 7)
    wanted = np.tanh([np.arctanh(rho) - half, np.arctanh(rho) + half])
    assert list(found.interval) == pytest.approx(wanted.tolist(), abs=1e-5)


def test_equal_orders_still_have_an_interval() -> None:
    found = rank_correlation([1, 2, 3, 4, 5], [2, 3, 4, 5, 6])
    assert found is not None
    assert found.rho == pytest.approx(1)
    assert found.interval.low < 0.6


def test_few_judges_or_one_value_have_none() -> None:
    assert rank_correlation([1, 2, 3, 4], [1, 2, 3, 4]) is None
    assert rank_correlation([1] * 6, [1, 2, 3, 4, 5, 6]) is None
    with pytest.raises(ValueError, match="same judges"):
        rank_correlation([1], [1, 2])
