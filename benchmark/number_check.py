"""Number check: item counts and groupings that fit published percentages (in the manner of GRIM).

A table in a paper gives categories, a pooled accuracy ("overall") and a mean of categories ("macro") in percent.
Behind every honest one are whole numbers k of right answers over n items, overall = sum k / sum n and macro = mean of
k / n. Of one benchmark several groupings and sizes may be in circulation (its definition states them); this module
finds the ones that fit, in whole numbers, with no tolerance but the printed digits.

The board shows a coarser check beside reported rows: benchmark/reported_arithmetic.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from typing import Any, Literal

import numpy as np

from benchmark.arrays import IntArray
from benchmark.spec import BenchmarkSpec, Split, capital
from common.messages import _, joined, ngettext

Reading = Literal["rounded", "cut off", "either"]
FitOutcome = Literal["fits", "only with dropped items", "not found", "impossible"]
Right = tuple[int | None, ...]
Shares = tuple[Fraction, Fraction]  # lowest and highest, 0..1
MOST_DECIMALS = 6  # shares over a few thousand items differ by more than 1e-6, so further digits say nothing
_WORDS = (
    _("no"), _("one"), _("two"), _("three"), _("four"), _("five"),
    _("six"), _("seven"), _("eight"), _("nine"), _("ten"),
)  # fmt: skip
_MOST_CELLS = 200_000  # combinations of counts looked at one by one
_MOST_TUPLES = 400_000  # denominators compared with the bounds in one go
_MOST_SUMS = 4_000_000  # combinations of denominators added up in one go
_MOST_EXACT = 3_000  # denominators that pass the bounds and are then solved exactly
_MOST_STEPS = 60  # numbers of dropped items tried beyond the least that the bounds allow


_READING_WORDS: Mapping[Reading, str] = {
    "rounded": "",
    "cut off": _(", if the figures were cut off instead of rounded"),
    "either": _(", if some figures were rounded and some cut off"),
}


@dataclass(frozen=True, slots=True)
class PublishedFigure:
    """A percentage as printed: ``digits`` / 10 ** ``decimals``."""

    digits: int
    decimals: int

    def __str__(self) -> str:
        return f"{Decimal(self.digits).scaleb(-self.decimals):.{self.decimals}f}"

    @property
    def scale(self) -> int:
        """``bounds`` are in this many parts of a whole (half a last digit is one part)."""
        return 200 * int(10**self.decimals)

    def bounds(self, reading: Reading) -> tuple[int, int, int]:
        """Return (a, b, s): k / n prints as this figure exactly if a * n <= scale * k <= b * n - s, in whole numbers.

        Rounding is taken in the widest sense: a half may have gone up or down.
        """
        middle = 2 * self.digits
        low = middle if reading == "cut off" else middle - 1
        return (low, middle + 1, 0) if reading == "rounded" else (low, middle + 2, 1)

    def range(self, reading: Reading) -> tuple[Fraction, Fraction]:
        """Return the lowest and highest share (0..1) that print as this figure, ends included."""
        low, high, _ = self.bounds(reading)
        return max(Fraction(0), Fraction(low, self.scale)), min(Fraction(1), Fraction(high, self.scale))


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


@dataclass(frozen=True, slots=True)
class Explanation:
    """Counts that produce the published figures under one split.

    ``denominators`` are the split's sizes less ``dropped`` items. ``right`` is None where the figures leave a category
    open. ``solutions``: how many different counts do it (0: only bounds were compared, the figures say too little);
    with more than one, ``right`` is the one nearest to the figures. ``exchanged``: fits only with the figures of two
    categories exchanged; ``right`` and ``denominators`` are then those of the true categories.
    """

    split: Split
    reading: Reading
    denominators: tuple[int, ...]
    right: Right
    solutions: int
    exchanged: bool = False

    @property
    def dropped(self) -> int:
        """Items missing from the denominators."""
        return sum(self.split.sizes) - sum(self.denominators)


@dataclass(frozen=True, slots=True)
class Implied:
    """The overall accuracy (percent) that the three category figures imply on the full items of a split."""

    split: Split
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Plausibility:
    """The answer: ``sentences`` for people, the rest for programs.

    ``fits``: on full denominators. Only if nothing fits, ``dropped``: per split, fewest dropped items first; and
    ``categories_alone``: fits on full denominators of the three categories without overall and macro.
    ``impossible``: what no dropped items explain.
    """

    figures: Figures
    verdict: FitOutcome
    fits: tuple[Explanation, ...]
    dropped: tuple[Explanation, ...]
    categories_alone: tuple[Explanation, ...]
    implied: tuple[Implied, ...]
    impossible: tuple[str, ...]
    sentences: tuple[str, ...]


# Reading what people type ------------------------------------------------------------------------------------------

_PRINTED = re.compile(r"([0-9]{1,3})(?:[.,]([0-9]{1,30}))?\s*%?", re.ASCII)


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
        raise ValueError(_("{text!r} is not a percentage between 0 and 100, such as 71.9", text=text[:40]))
    if len(decimals) <= MOST_DECIMALS:
        return PublishedFigure(int(whole + decimals), len(decimals))
    return PublishedFigure(round(Fraction(int(whole + decimals), 10 ** (len(decimals) - MOST_DECIMALS))), MOST_DECIMALS)


def read_figures(given: Mapping[str, str | float | None], spec: BenchmarkSpec) -> Figures:
    """Return the published percentages, by the name of the score.

    Raises:
        ValueError: one is not a percentage, none is given, or all are at most 1 (fractions, it seems).
    """
    figures = {name: figure(given.get(name)) for name in spec.score_names}
    known = [printed for printed in figures.values() if printed is not None]
    if not known:
        raise ValueError(_("no figure was given: there is nothing to check"))
    if any(printed.digits for printed in known) and all(printed.digits <= 10**printed.decimals for printed in known):
        raise ValueError(_("all figures are at most 1: percent are needed (71.9), not fractions (0.719)"))
    return Figures(figures, spec)


# Counts that fit ---------------------------------------------------------------------------------------------------


def right_range(published_figure: PublishedFigure | None, n: Any, *, reading: Reading) -> tuple[Any, Any]:
    """Return the lowest and highest k that print as a figure over n items (a number or an array); empty if low >
    high."""
    if published_figure is None:
        return n * 0, n
    low, high, strict = published_figure.bounds(reading)
    # -(-a // b) rounds up; no count is below 0 or above n.
    return np.maximum(-(-low * n // published_figure.scale), 0), np.minimum(
        (high * n - strict) // published_figure.scale, n
    )


def _prints(published_figure: PublishedFigure, right: Any, *, total: Any, reading: Reading) -> Any:
    low, high, strict = published_figure.bounds(reading)
    return (low * total <= published_figure.scale * right) & (published_figure.scale * right <= high * total - strict)


def _mean_of_figures_prints(figures: Figures, reading: Reading) -> bool:
    """Return whether the macro is the mean of the printed categories: some authors average what they had rounded."""
    known = [category for category in figures.categories if category is not None]
    if len(known) < len(figures.categories) or figures.mean is None:
        return False
    mean = sum((Fraction(printed.digits, 100 * 10**printed.decimals) for printed in known), start=Fraction(0)) / len(
        known
    )
    return bool(_prints(figures.mean, mean.numerator, total=mean.denominator, reading=reading))


def _solve(figures: Figures, sizes: Sequence[int], *, reading: Reading) -> tuple[Right, int] | None:
    """(right per category, solutions) over exactly these denominators, or None if no counts do it."""
    ranges = [right_range(printed, n, reading=reading) for printed, n in zip(figures.categories, sizes, strict=True)]
    if any(low > high for low, high in ranges):
        return None
    if np.prod([high - low + 1 for low, high in ranges]) > _MOST_CELLS:
        low, high = (np.array(ends) for ends in zip(*ranges, strict=True))
        fits = _within_bounds(figures, np.array(sizes), low=low, high=high, reading=reading)
        return (tuple(int(k) if k == most else None for k, most in zip(low, high, strict=True)), 0) if fits else None
    counts = np.meshgrid(*(np.arange(low, high + 1, dtype=np.int64) for low, high in ranges), indexing="ij")
    fits = np.ones(counts[0].shape, dtype=bool)
    if figures.pooled is not None:
        fits &= _prints(figures.pooled, sum(counts), total=sum(sizes), reading=reading)
    if figures.mean is not None and not _mean_of_figures_prints(figures, reading):
        product = int(np.prod(sizes))
        scaled = sum(k * (product // n) for k, n in zip(counts, sizes, strict=True))
        fits &= _prints(figures.mean, scaled, total=len(sizes) * product, reading=reading)
    if not fits.any():
        return None
    result = np.stack([k[fits] for k in counts])
    return _nearest(figures, result, sizes=sizes), result.shape[1]


def _nearest(figures: Figures, int_array: IntArray, *, sizes: Sequence[int]) -> Right:
    """Return the counts (categories, solutions) that are nearest to the figures; None for a category left open."""
    distance = np.zeros(int_array.shape[1])
    for printed, k, n in zip(figures.categories, int_array, sizes, strict=True):
        if printed is not None:
            distance += np.abs(k / n - 2 * printed.digits / printed.scale)
    best = int_array[:, int(distance.argmin())]
    return tuple(
        None if printed is None and k.min() != k.max() else int(value)
        for printed, k, value in zip(figures.categories, int_array, best, strict=True)
    )


def _full_fits(
    figures: Figures, splits: Sequence[Split], *, readings: Sequence[Reading], exchanged: bool = False
) -> tuple[Explanation, ...]:
    """Return all splits that fit on full denominators, under the plainest reading that gives any.

    A looser reading beside a plainer one that fits would only add coincidences.
    """
    for reading in readings:
        solved = ((split, _solve(figures, split.sizes, reading=reading)) for split in splits)
        fits = tuple(
            Explanation(split, reading, split.sizes, *solution, exchanged) for split, solution in solved if solution
        )
        if fits:
            return fits
    return ()


# The fewest dropped items ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Denominators:
    """Of one category: for every n up to its size the lowest and highest count that print its figure."""

    low: IntArray  # (size + 1,)
    high: IntArray  # (size + 1,)
    possible: IntArray  # the n that have a count at all

    @classmethod
    def of(cls, published_figure: PublishedFigure | None, share: Shares, *, size: int) -> Denominators:
        """Return all denominators 1..size, for a figure that was rounded; without one, for the shares that are left
        to it."""
        n = np.arange(size + 1, dtype=np.int64)
        if published_figure is not None:
            low, high = right_range(published_figure, n, reading="rounded")
        else:
            low = -(-share[0].numerator * n // share[0].denominator)
            high = share[1].numerator * n // share[1].denominator
        return cls(low, high, possible=np.nonzero((low <= high) & (n > 0))[0])

    @property
    def size(self) -> int:
        """Return the full denominator."""
        return self.low.size - 1


def _shares(figures: Figures) -> list[Shares]:
    """Per category the shares that its rounded figure allows; the macro bounds a single missing one."""
    known = [category.range("rounded") for category in figures.categories if category is not None]
    missing = (Fraction(0), Fraction(1))
    if figures.mean is not None and len(known) == len(figures.categories) - 1:
        low, high = figures.mean.range("rounded")
        least = len(figures.categories) * low - sum((share[1] for share in known), start=Fraction(0))
        most = len(figures.categories) * high - sum((share[0] for share in known), start=Fraction(0))
        missing = (max(Fraction(0), least), min(Fraction(1), most))
    return [missing if category is None else category.range("rounded") for category in figures.categories]


def _within_bounds(figures: Figures, n: Any, *, low: Any, high: Any, reading: Reading) -> Any:
    """Return whether overall and macro are within what the counts of each category allow. Necessary, not sufficient.

    ``n``, ``low``, ``high``: (categories, ...) denominators and the counts they allow; gives (...,).
    """
    fits = np.ones(n.shape[1:], dtype=bool)
    if figures.pooled is not None:
        least, most = right_range(figures.pooled, n.sum(axis=0), reading=reading)
        fits &= (least <= high.sum(axis=0)) & (most >= low.sum(axis=0)) & (least <= most)
    if figures.mean is not None and not _mean_of_figures_prints(figures, reading):
        below, above = (float(len(figures.categories) * bound) for bound in figures.mean.range(reading))
        fits &= ((high / n).sum(axis=0) >= below - 1e-9) & ((low / n).sum(axis=0) <= above + 1e-9)
    return fits


def _least_by_bounds(figures: Figures, sizes: Sequence[int]) -> int | None:
    """Return a number of dropped items that the overall cannot do without; None if no number suffices.

    Every item dropped from the category furthest on the wrong side of the overall helps most, so taking those first
    is the optimum of the problem without whole numbers.
    """
    if figures.pooled is None:
        return 0
    low, high = figures.pooled.range("rounded")
    shares = _shares(figures)
    needed = 0
    for gains in ([share[1] - low for share in shares], [high - share[0] for share in shares]):
        balance = sum((n * gain for n, gain in zip(sizes, gains, strict=True)), start=Fraction(0))
        count = 0
        for gain, n in sorted(zip(gains, sizes, strict=True)):
            if balance >= 0 or gain >= 0:
                break
            drop = min(n - 1, -int(balance // -gain))
            balance -= drop * gain
            count += drop
        if balance < 0:
            return None
        needed = max(needed, count)
    return needed


def _candidates(figures: Figures, sizes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Denominators that pass the bounds, fewest dropped items first."""
    given = zip(figures.categories, _shares(figures), sizes, strict=True)
    parts = [Denominators.of(printed, share, size=size) for printed, share, size in given]
    start = _least_by_bounds(figures, sizes)
    if start is None:
        return
    if np.prod([part.possible.size for part in parts]) <= _MOST_TUPLES:
        grid = np.meshgrid(*(part.possible for part in parts), indexing="ij")
        yield from _passing(figures, parts, n=np.stack([axis.ravel() for axis in grid]))
        return
    for dropped in range(max(start, 1), min(start + _MOST_STEPS, sum(sizes) - 2)):
        yield from _passing(figures, parts, n=_with_total(parts, sum(sizes) - dropped, dropped=dropped))


def _with_total(parts: Sequence[Denominators], total: int, *, dropped: int) -> IntArray:
    """(categories, m): all possible denominators that add up to a total, when that many items are dropped."""
    heads = [part.possible[part.possible >= part.size - dropped] for part in parts[:-1]]
    if np.prod([head.size for head in heads]) > _MOST_SUMS:
        return np.zeros((len(parts), 0), dtype=np.int64)
    grid = np.meshgrid(*heads, indexing="ij")
    rest = total - np.sum(grid, axis=0)
    last = parts[-1]
    possible = np.zeros(last.size + 2, dtype=bool)  # with a last place for totals that are out of range
    possible[last.possible] = True
    fits = possible[np.where((rest > 0) & (rest <= last.size), rest, -1)]
    return np.stack([*(axis[fits] for axis in grid), rest[fits]])


def _passing(figures: Figures, parts: Sequence[Denominators], *, n: IntArray) -> Iterator[tuple[int, ...]]:
    low = np.stack([part.low[column] for part, column in zip(parts, n, strict=True)])
    high = np.stack([part.high[column] for part, column in zip(parts, n, strict=True)])
    passing = n[:, _within_bounds(figures, n, low=low, high=high, reading="rounded")]
    for index in np.argsort(-passing.sum(axis=0), kind="stable"):
        yield tuple(passing[:, index].tolist())


def _fewest_dropped(figures: Figures, splits: Sequence[Split]) -> Iterator[Explanation]:
    """Per split the first denominators, fewest dropped items first, that have counts for all figures.

    A split whose every size is at most that of an earlier one (v2 of v0) needs no search of its own if the earlier
    answer lies within it (dropping fewer would answer the earlier one better), or if there was no earlier answer.
    """
    result: dict[Split, Explanation | None] = {}
    for split in splits:
        wider = next((candidate for candidate in result if _within(split.sizes, candidate.sizes)), None)
        answer = result[wider] if wider else None
        if wider is None or (answer is not None and not _within(answer.denominators, split.sizes)):
            answer = _first_solution(figures, split)
        result[split] = replace(answer, split=split) if answer else None
    yield from (answer for answer in result.values() if answer)


def _within(sizes: Sequence[int], others: Sequence[int]) -> bool:
    return all(n <= other for n, other in zip(sizes, others, strict=True))


def _first_solution(figures: Figures, split: Split) -> Explanation | None:
    for sizes in islice(_candidates(figures, split.sizes), _MOST_EXACT):
        solved = _solve(figures, sizes, reading="rounded")
        if solved:
            return Explanation(split, "rounded", sizes, *solved)
    return None


# What cannot be, and what to say -------------------------------------------------------------------------------------


def _impossible(figures: Figures, splits: Sequence[Split]) -> Iterator[str]:
    """Yield what no counts over any denominators can produce, however the figures were rounded."""
    spec = figures.spec
    names = dict(zip(spec.category_keys, figures.categories, strict=True))
    known = {name: printed for name, printed in names.items() if printed is not None}
    for name, printed in known.items():
        size = max(split.sizes[spec.category_keys.index(name)] for split in splits)
        low, high = right_range(printed, np.arange(1, size + 1), reading="either")
        if not (low <= high).any():
            yield _(
                "{name} {value} is not a share of any number of pairs up to {size}.",
                name=_(spec.title_of(name)),
                value=printed,
                size=size,
            )
    ranges = [printed.range("either") if printed else (Fraction(0), Fraction(1)) for printed in names.values()]
    if figures.mean is not None and known:
        low, high = (sum(bounds, start=Fraction(0)) / len(ranges) for bounds in zip(*ranges, strict=True))
        stated = figures.mean.range("either")
        if (stated[1] < low or stated[0] > high) and not _mean_of_figures_prints(figures, "either"):
            every = _("the mean of the {ranges} categories", ranges=in_words(len(ranges)))
            what = every if len(known) == len(ranges) else _("a mean with the categories given")
            between = _("{low} and {high}", low=_points(low), high=_points(high))
            yield _(
                "{spec} {mean} is not {what}, which lies between {between}.",
                spec=_mean_title(spec),
                mean=figures.mean,
                what=what,
                between=between,
            )
    if figures.pooled is not None and len(known) == len(ranges):
        low, high = min(low for low, _ in ranges), max(high for _, high in ranges)
        stated = figures.pooled.range("either")
        if stated[1] < low or stated[0] > high:
            outside = _("outside the {ranges} categories", ranges=in_words(len(ranges)))
            yield (
                _(
                    "{pooled} {pooled2} is {outside} ({low} to {high}): no weights make it their average.",
                    pooled=_(spec.title_of(spec.pooled)),
                    pooled2=figures.pooled,
                    outside=outside,
                    low=_points(low),
                    high=_points(high),
                )
            )


def in_words(number: int) -> str:
    """Return a small number as a word."""
    return _WORDS[number] if number < len(_WORDS) else str(number)


def _mean_title(spec: BenchmarkSpec) -> str:
    return _(spec.title_of(str(spec.mean)))


def _points(share: Fraction) -> str:
    return f"{float(100 * share):.2f}"


def _implied(figures: Figures, splits: Sequence[Split]) -> Iterator[Implied]:
    ranges = [category.range("rounded") for category in figures.categories if category is not None]
    if len(ranges) < len(figures.categories):
        return
    for split in splits:
        low, high = (
            sum((n * share for n, share in zip(split.sizes, ends, strict=True)), start=Fraction(0)) / sum(split.sizes)
            for ends in zip(*ranges, strict=True)
        )
        yield Implied(split, float(100 * low), high=float(100 * high))


def _describe(explanation: Explanation, figures: Figures) -> str:
    """Return one explanation as a sentence, with its counts."""
    spec = figures.spec
    pairs = list(zip(spec.category_keys, explanation.right, explanation.denominators, strict=True))
    counts = joined([_count(_(spec.category_text(name)), f"{k}/{n}") for name, k, n in pairs if k is not None])
    right = [k for k in explanation.right if k is not None]
    if len(right) == len(pairs):
        shares = (Fraction(k, n) for k, n in zip(right, explanation.denominators, strict=True))
        macro = sum(shares, start=Fraction(0)) / len(right)
        total = sum(explanation.denominators)
        pooled = _count(_(spec.name_of(spec.pooled)), f"{sum(right)}/{total} = {100 * sum(right) / total:.2f}")
        mean = [_count(_(spec.name_of(spec.mean)), _points(macro))] if spec.mean else []
        counts = joined((counts, joined([pooled, *mean])), _("; "))
        stated = figures.mean
        exact = stated is None or _prints(stated, macro.numerator, total=macro.denominator, reading=explanation.reading)
        if not exact and _mean_of_figures_prints(figures, explanation.reading):
            counts = _("{counts} ({stated} is the mean of the rounded figures)", counts=counts, stated=stated)
    split = explanation.split
    where = _(
        "{sizes} ({grouping}, {revisions})",
        sizes=split.label,
        grouping=spec.grouping_text(split.grouping).words,
        revisions=joined(split.revisions, _(" and ")),
    )
    swapped = (
        _(" with {exchanged} exchanged", exchanged=_figures_named(spec.exchanged)) if explanation.exchanged else ""
    )
    example = _(" for example") if explanation.solutions > 1 and right else ""
    dropped = (
        ngettext(" if {n} pair is left out", " if {n} pairs are left out", explanation.dropped)
        if explanation.dropped
        else ""
    )
    fit = _(
        "fits {where}{swapped}{dropped}{reading}",
        where=where,
        swapped=swapped,
        dropped=dropped,
        reading=_READING_WORDS[explanation.reading],
    )
    if not counts:
        return _("{text}.", text=fit)
    return _("{fit}:{example} {counts}.", fit=fit, example=example, counts=counts)


def _count(name: str, figure: str) -> str:
    return joined((name, figure), " ")


def _figures_named(names: Sequence[str]) -> str:
    return _("{names} figure", names=joined([_("the {name}", name=_(name)) for name in names], _(" and ")))


def _overall_alone(published_figure: PublishedFigure, splits: Sequence[Split], *, title: str) -> Iterator[str]:
    """Yield what an overall says without any category: the counts behind it."""
    for total in sorted({sum(split.sizes) for split in splits}, reverse=True):
        names = dict.fromkeys(name for split in splits if sum(split.sizes) == total for name in split.revisions)
        low, high = right_range(published_figure, total, reading="rounded")
        counts = f"{low}" if low == high else _("{low} to {high}", low=low, high=high)
        verb = (
            _("is {counts} right out of {total}", counts=counts, total=total)
            if low <= high
            else _("is not a whole number of pairs out of {total}", total=total)
        )
        yield _(
            "{title} {figure} {verb} ({revisions}).",
            title=title,
            figure=published_figure,
            verb=verb,
            revisions=joined(names, _(" and ")),
        )


def _official_misfits(figures: Figures, splits: Sequence[Split]) -> Iterator[str]:
    """Category figures that no count over the official sizes gives, with the nearest count that there is."""
    spec = figures.spec
    for position, (name, printed) in enumerate(zip(spec.category_keys, figures.categories, strict=True)):
        sizes = sorted({split.sizes[position] for split in splits if split.grouping == spec.official}, reverse=True)
        if (
            printed is None
            or not sizes
            or any(low <= high for low, high in (right_range(printed, n, reading="either") for n in sizes))
        ):
            continue
        n = sizes[0]
        k = round(2 * printed.digits * n / printed.scale)
        yield _(
            "{name} {value} is not a whole number of pairs out of {n}; the nearest is {k}/{n} = {n2:.2f}.",
            name=_(spec.title_of(name)),
            value=printed,
            n=n,
            k=k,
            n2=100 * k / n,
        )


def _sentences(answer: Plausibility, splits: Sequence[Split]) -> Iterator[str]:
    figures = answer.figures
    official = figures.spec.official
    yield from answer.impossible
    if not any(figures.categories):
        if figures.pooled is not None:
            yield from _overall_alone(figures.pooled, splits, title=_(figures.spec.title_of(figures.spec.pooled)))
        yield _("Without the categories the grouping cannot be determined.")
        return
    for explanation in answer.fits:
        yield capital(_describe(explanation, figures))
    if not answer.fits:
        yield from _without_fit(answer)
    if not any(fit.split.grouping == official and not fit.exchanged for fit in answer.fits):
        yield from _official_misfits(figures, splits)
        implied = [explanation for explanation in answer.implied if explanation.split.grouping == official]
        if implied and figures.pooled is not None:
            yield (
                _(
                    "Under the official {label} the {categories} categories imply an overall of {low:.2f} to "
                    "{high:.2f}; {pooled} was reported.",
                    label=implied[0].split.label,
                    categories=in_words(len(figures.categories)),
                    low=implied[0].low,
                    high=implied[0].high,
                    pooled=figures.pooled,
                )
            )


def _without_fit(answer: Plausibility) -> Iterator[str]:
    if answer.dropped or answer.impossible:
        yield _(
            "No whole numbers of right answers over all pairs give these figures, under any grouping in circulation."
        )
    else:
        yield _("Tried: every grouping in circulation, with all pairs and with some left out.")
    for explanation in answer.categories_alone:
        yield capital(
            _(
                "without overall and macro, the categories' figures alone: {figures}",
                figures=_describe(explanation, answer.figures),
            )
        )
    official = answer.figures.spec.official
    # The fewest dropped items of all, and the fewest under the official grouping.
    groups = (
        answer.dropped[:1],
        [explanation for explanation in answer.dropped if explanation.split.grouping == official][:1],
    )
    yield from dict.fromkeys(
        capital(_describe(explanation, answer.figures)) for group in groups for explanation in group
    )


def check_numbers(figures: Figures, splits: Sequence[Split] | None = None) -> Plausibility:
    """Return which counts, grouping and revision are behind published percentages; what would be needed if none are.

    A macro that cannot be the mean of the categories is said to be impossible and then set aside, so that the
    other figures still get their explanation. Dropped items are only sought if nothing fits the full items, and for
    figures that were rounded: some tens of milliseconds. ``splits`` None: those that the definition states.

    Raises:
        ValueError: no split is known.
    """
    spec = figures.spec
    splits = spec.splits if splits is None else splits
    if not splits:
        raise ValueError(_("the sizes of {title} are not known: there is nothing to check against", title=spec.title))
    impossible = tuple(_impossible(figures, splits))
    rest = figures.without_mean() if any(text.startswith(_mean_title(spec)) for text in impossible) else figures
    fits = _full_fits(rest, splits, readings=("rounded", "cut off", "either"))
    if not fits and spec.exchanged and None not in (*figures.categories, figures.pooled):
        exchanged = rest.with_values(dict(zip(spec.exchanged, map(rest.values.get, spec.exchanged[::-1]), strict=True)))
        fits = _full_fits(exchanged, splits, readings=("rounded",), exchanged=True)
    dropped: tuple[Explanation, ...] = ()
    alone: tuple[Explanation, ...] = ()
    if not fits:
        dropped = tuple(sorted(_fewest_dropped(rest, splits), key=lambda explanation: explanation.dropped))
        if None not in figures.categories:
            alone = _full_fits(rest.without_mean().with_values({spec.pooled: None}), splits, readings=("rounded",))
    verdict: FitOutcome = "fits" if fits else "only with dropped items" if dropped else "not found"
    verdict = "impossible" if impossible else verdict
    answer = Plausibility(
        figures,
        verdict,
        fits=fits,
        dropped=dropped,
        categories_alone=alone,
        implied=tuple(_implied(figures, splits)),
        impossible=impossible,
        sentences=(),
    )
    return replace(answer, sentences=tuple(_sentences(answer, splits)))
