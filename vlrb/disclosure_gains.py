"""Steps of the categories of hidden labels, and what scores give away, as measured.

The numbers beside this file were measured once. An attacker's judge is right on 85 % of the pairs; 60 files are sent:
its own, and 59 in which half of the answers of a block of one category are turned. Each answer tells the accuracy of
the category, rounded to a step, and the overall, rounded to half a point. Belief propagation for dense questions about
whole numbers (GAMP; S. Rangan, ISIT 2011) tells of each pair how likely the judge is right there. The attacker chooses
the best block; the gain is the mean of ten runs, in points of the category.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

CATEGORY_STEPS = (0.5, 1.0, 2.5, 5.0)
"""In points."""
JUDGE, FILES = 0.85, 60
"""The attacker's judge, and files turned on one category."""
MOST_GAIN = 2.0
"""Points of macro that an attacker gains at most, where a step allows that."""


class CategoryStep(NamedTuple):
    """In points. ``gain``: of the macro average, by the attack that was measured."""

    step: float
    gain: float


def category_step(pairs: int, total: int, *, categories: int) -> CategoryStep:
    """Return the finest step at which an attacker gains less than MOST_GAIN, or else the coarsest.

    ``pairs``: of the category, of ``total``; ``categories``: how many the macro average has.
    """
    known = [gain / categories for gain in _gains(pairs, total)]
    steps = [CategoryStep(step, gain) for step, gain in zip(CATEGORY_STEPS, known, strict=False)]
    return next((found for found in steps if found.gain < MOST_GAIN), steps[-1])


def gain_of_overall(pairs: int, total: int, *, categories: int) -> float:
    """Return the points of macro that an attacker gains where the overall alone is shown."""
    return _gains(pairs, total)[-1] / categories


def _gains(pairs: int, total: int) -> Sequence[float]:
    """Return the gains at the next smaller category, with the next larger share: no less than at this one."""
    table = _table()
    size = max((known for known in table if known <= pairs), default=min(table))
    share = min((known for known in table[size] if known >= pairs / max(total, 1) - 1e-9), default=1.0)
    return table[size][share]


@cache
def _table() -> Mapping[int, Mapping[float, Sequence[float]]]:
    stored = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
    return {int(pairs): {float(share): row for share, row in rows.items()} for pairs, rows in stored["gains"].items()}
