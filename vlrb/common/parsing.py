"""Parsing of numbers that people type into forms and files."""

from __future__ import annotations

import math


def bounded_number(value: object, low: float, *, high: float) -> float:
    """Return a number from `low` to `high`, given as one or as text with a decimal point. Raises ValueError for all
    else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError("no number")
    try:
        result = float(value)
    except OverflowError:
        raise ValueError("too large") from None
    if not (math.isfinite(result) and low <= result <= high):
        raise ValueError("out of range")
    return result
