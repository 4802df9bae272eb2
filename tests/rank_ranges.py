"""Rank ranges of judges by category codes, as tests give them; and Holm's, whose worked numbers are known."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmark.ranking import MACRO, PairTests, RankRanges, paired_tests, parts_of, ranges_of, rank_ranges
from benchmark.uncertainty import ALPHA, holm


def ranges_by(correct: Any, category: Any, order_by: str | int = MACRO) -> RankRanges:
    """As the board has them."""
    return rank_ranges(correct, parts_of(np.asarray(category), order_by), exact=order_by != MACRO)


def holm_ranges(correct: Any, category: Any, order_by: str | int = MACRO) -> tuple[PairTests, Any, RankRanges]:
    """Return all pairs tested, their p values adjusted by Holm, and the ranges that follow."""
    bits = np.asarray(correct, dtype=bool)
    tests = paired_tests(bits, parts_of(np.asarray(category), order_by), exact=order_by != MACRO)
    adjusted = holm(tests.p)
    return tests, adjusted, ranges_of(len(bits), tests, adjusted < ALPHA)
