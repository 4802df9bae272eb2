"""Arithmetic check of reported rows: sizes times percentages, within 0.15 points.

Coarser than vlrb/numbers/, which looks for the counts behind the printed digits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from vlrb.benchmarks.spec import BenchmarkSpec, Split
from vlrb.common.messages import _

ARITHMETIC_TOLERANCE = 0.15  # points: what rounding to one decimal in four columns can add up to, and a little


def _full_splits(spec: BenchmarkSpec) -> tuple[Split, ...]:
    """Return what reported rows are compared with: the sizes of the first revisions, under which nearly all were
    made."""
    return tuple(split for split in spec.splits if split.revisions == spec.splits[0].revisions)


@dataclass(frozen=True, slots=True)
class ArithmeticCheck:
    """Whether a reported row adds up, in points (percent), two decimals. None where the row lacks the figures.

    Mappings and ``fitting`` are by grouping name. ``fitting``: overall within 0.15 of sizes times categories.
    """

    overall_recomputed: Mapping[str, float]
    overall_minus_recomputed: Mapping[str, float] | None
    fitting: tuple[str, ...]
    closest: str | None
    macro_recomputed: float
    macro_minus_mean: float | None
    spec: BenchmarkSpec

    @property
    def overall_ok(self) -> bool | None:
        """Whether the overall fits the official sizes."""
        return None if self.overall_minus_recomputed is None else self.spec.official in self.fitting

    @property
    def macro_ok(self) -> bool | None:
        """Whether the macro is the mean of the categories."""
        return None if self.macro_minus_mean is None else abs(self.macro_minus_mean) <= ARITHMETIC_TOLERANCE

    @property
    def grouping(self) -> str | None:
        """Return the grouping to show: the official one if it fits, else the closest that does, else None."""
        if self.overall_ok:
            return self.spec.official
        return self.closest if self.fitting else None

    @property
    def remark(self) -> str | None:
        """Return the short phrase beside a row that does not fit the official sizes; None if there is none."""
        if self.macro_ok is False and self.spec.mean:
            return _("{mean} average does not match", mean=_(self.spec.mean))
        if self.overall_ok is not False:
            return None
        sizes = {split.grouping: split.label for split in _full_splits(self.spec)}
        return _("fits {grouping}", grouping=sizes[self.grouping]) if self.grouping else _("categories do not add up")


def arithmetic_check(values: Mapping[str, float | None], spec: BenchmarkSpec) -> ArithmeticCheck | None:
    """Return the coarse check of a reported row (percent): None where it does not give all categories."""
    categories = [value for key in spec.category_keys if (value := values.get(key)) is not None]
    splits = _full_splits(spec)
    if len(categories) < len(spec.categories) or not splits:
        return None
    pooled, stated_mean = values.get(spec.pooled), values.get(spec.mean or "")
    exact = {
        split.grouping: sum(n * value for n, value in zip(split.sizes, categories, strict=True)) / sum(split.sizes)
        for split in splits
    }
    mean = sum(categories) / len(categories)
    off = None if pooled is None else {name: round(pooled - value, 2) for name, value in exact.items()}
    return ArithmeticCheck(
        overall_recomputed={name: round(value, 2) for name, value in exact.items()},
        overall_minus_recomputed=off,
        fitting=() if off is None else tuple(name for name, gap in off.items() if abs(gap) <= ARITHMETIC_TOLERANCE),
        closest=None if off is None else min(off, key=lambda name: abs(off[name])),
        macro_recomputed=round(mean, 2),
        macro_minus_mean=None if stated_mean is None else round(stated_mean - mean, 2),
        spec=spec,
    )
