"""Published figures: percentages as printed, with the shares that each of them can stand for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.messages import _

Reading = Literal["rounded", "cut off", "either"]
Shares = tuple[Fraction, Fraction]
"""The lowest and the highest share (0..1) of what is not known exactly."""
MOST_LETTERS = 40  # of a figure; the longest that means anything has ten
MOST_DECIMALS = 6  # shares over a few thousand items differ by more than 1e-6, so further digits say nothing
_PRINTED = re.compile(r"([0-9]{1,3})(?:[.,]([0-9]{1,30}))?\s*%?", re.ASCII)


@dataclass(frozen=True, slots=True)
class PublishedFigure:
    """A percentage as printed: ``digits`` / 10 ** ``decimals``."""

    digits: int
    decimals: int

    def __str__(self) -> str:
        return f"{Decimal(self.digits).scaleb(-self.decimals):.{self.decimals}f}"

    @property
    def share(self) -> Fraction:
        """The figure as a fraction, 0..1."""
        return Fraction(self.digits, 100 * 10**self.decimals)

    def _bounds(self, reading: Reading) -> tuple[int, int, int, int]:
        """Return (a, b, s, scale): k / n prints as this figure exactly if a * n <= scale * k <= b * n - s, in whole
        numbers (half a last digit is one part of the scale).

        Rounding is taken in the widest sense: a half may have gone up or down.
        """
        middle, scale = 2 * self.digits, 200 * int(10**self.decimals)
        low = middle if reading == "cut off" else middle - 1
        return (low, middle + 1, 0, scale) if reading == "rounded" else (low, middle + 2, 1, scale)

    def range(self, reading: Reading) -> Shares:
        """Return the lowest and highest share (0..1) that print as this figure, ends included."""
        low, high, _, scale = self._bounds(reading)
        return max(Fraction(0), Fraction(low, scale)), min(Fraction(1), Fraction(high, scale))

    def counts(self, n: Any, reading: Reading) -> tuple[Any, Any]:
        """Return the lowest and highest k that print as this figure over n items (a number or an array); empty if low >
        high."""
        low, high, strict, scale = self._bounds(reading)
        # -(-a // b) rounds up; no count is below 0 or above n.
        return np.maximum(-(-low * n // scale), 0), np.minimum((high * n - strict) // scale, n)

    def prints(self, share: Fraction, reading: Reading) -> bool:
        """Return whether a share prints as this figure."""
        low, high = self.counts(share.denominator, reading)
        return bool(low <= share.numerator <= high)


@dataclass(frozen=True, slots=True)
class Figures:
    """Published figures in percent by the name of the score; None where absent."""

    values: Mapping[str, PublishedFigure | None]
    spec: BenchmarkSpec

    @property
    def categories(self) -> tuple[PublishedFigure | None, ...]:
        """In the order of the categories."""
        return tuple(self.values.get(key) for key in self.spec.category_keys)

    @property
    def pooled(self) -> PublishedFigure | None:
        """The figure over all pairs."""
        return self.values.get(self.spec.pooled)

    @property
    def mean(self) -> PublishedFigure | None:
        """The mean of all categories; None also where the benchmark's mean leaves categories out."""
        mean = self.spec.mean
        return self.values.get(mean) if mean and self.spec.parts_of(mean) == self.spec.category_keys else None

    def with_values(self, values: Mapping[str, PublishedFigure | None]) -> Figures:
        """Return the same with these figures in place of its own."""
        return replace(self, values={**self.values, **values})

    def without_mean(self) -> Figures:
        """Return the same without the mean."""
        return self.with_values({self.spec.mean: None}) if self.spec.mean else self


class BadFigures(ValueError):
    """The figures cannot be read; ``field`` is the one at fault, or None where it is all of them.

    ``known``: the names of figures, where ``field`` is none of them.
    """

    def __init__(self, field: str | None, message: str, *, known: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.field = field
        self.known = known


def figure(value: str | float | None) -> PublishedFigure | None:
    """Return a percentage as typed ("71.92", "71,9 %") or as a number; its decimals say how exact it is. None and ""
    are None.

    Raises:
        ValueError: not a percentage between 0 and 100.
    """
    text = "" if value is None else str(value).strip()
    if not text:
        return None
    match = _PRINTED.fullmatch(text)
    whole, decimals = (match[1], match[2] or "") if match else ("", "")
    if not match or Decimal(f"{whole}.{decimals or 0}") > 100:
        excerpt = text if len(text) <= MOST_LETTERS else text[:MOST_LETTERS] + "…"
        raise ValueError(_("“{shown}” is not a percentage between 0 and 100, such as 71.9.", shown=excerpt))
    if len(decimals) <= MOST_DECIMALS:
        return PublishedFigure(int(whole + decimals), len(decimals))
    return PublishedFigure(round(Fraction(int(whole + decimals), 10 ** (len(decimals) - MOST_DECIMALS))), MOST_DECIMALS)


def read_by_name(given: Mapping[str, str | float | None]) -> dict[str, PublishedFigure | None]:
    """Return percentages by their names.

    Raises:
        BadFigures: one is no percentage, none is given, or all are at most 1 (fractions, it seems).
    """
    figures: dict[str, PublishedFigure | None] = {}
    for name, value in given.items():
        try:
            figures[name] = figure(value)
        except ValueError as wrong:
            raise BadFigures(name, str(wrong)) from None
    known = [printed for printed in figures.values() if printed is not None]
    if not known:
        raise BadFigures(None, _("No figure was given: there is nothing to check."))
    if any(printed.digits for printed in known) and all(printed.digits <= 10**printed.decimals for printed in known):
        raise BadFigures(None, _("All figures are at most 1: percent are needed (71.9), not fractions (0.719)."))
    return figures


def read_figures(given: Mapping[str, str | float | None], spec: BenchmarkSpec) -> Figures:
    """Return the published percentages, by the name of the score. Raises BadFigures."""
    return Figures(read_by_name({name: given.get(name) for name in spec.score_names}), spec)


def weighted_range(ranges: Sequence[tuple[int, Shares]]) -> Shares:
    """Return the shares between which a weighted mean of shares lies, from weights and what each of them can be."""
    total = sum(weight for weight, _ in ranges)
    low, high = (sum((w * shares[side] for w, shares in ranges), Fraction(0)) / total for side in (0, 1))
    return low, high


def meet(known: Shares, printed: Shares) -> bool:
    """Return whether a share can lie in both ranges."""
    return known[0] <= printed[1] and printed[0] <= known[1]


def points(share: Fraction) -> str:
    """Return a share (0..1) in percent, with two decimals."""
    return f"{float(100 * share):.2f}"
