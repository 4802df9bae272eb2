"""Rank ranges of judges by category codes, as tests give them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.factories.specs import MACRO, OVERALL
from vlrb.statistics.ranking import (
    RankRanges,
    influence,
    normal_draws,
    paired_tests,
    rank_ranges,
    selected_p,
)


def order_parts(category: Any, order_by: str | int = MACRO) -> Any:
    """Return the items of an order as masks: by a category's index, or by the name that VL-RewardBench gives it."""
    codes = np.asarray(category)
    if order_by == MACRO:
        return [codes == code for code in np.unique(codes[codes >= 0])]
    return [codes >= 0 if order_by == OVERALL else codes == order_by]


def ranges_by(correct: Any, category: Any, order_by: str | int = MACRO) -> RankRanges:
    """As the board has them."""
    return ranges_over(correct, order_parts(category, order_by), exact=order_by != MACRO)


def ranges_over(
    correct: Any, parts: Any, *, exact: bool, tried: dict[int, int] | None = None, draws: Any = None
) -> RankRanges:
    """Return the same over parts of the items. ``tried``: of how many variants an entry is the best."""
    right = np.asarray(correct)
    tests = paired_tests(right, parts, exact=exact)
    weights = normal_draws(right.shape[1], len(right)) if draws is None else draws
    tests = tests._replace(p=selected_p(tests, tried or {}))
    return rank_ranges(len(right), tests, scores=influence(right, parts), draws=weights)
