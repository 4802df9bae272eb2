"""Number check: item counts and groupings that fit published percentages (in the manner of GRIM).

A table in a paper says general / hallucination / reasoning / overall / macro in percent. Behind every honest one are
whole numbers k of right answers over n items, overall = sum k / sum n and macro = mean of k / n. Three groupings of
the same 1,250 pairs are in circulation, and two sizes of the benchmark (v2 has three pairs fewer); this module finds
the ones that fit, in whole numbers, with no tolerance but the printed digits.

``arithmetic_check`` is the coarser thing that the board shows beside reported rows: sizes times percentages, within
0.15 points.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from benchmark.items import CATEGORIES

Reading = Literal["rounded", "cut off", "either"]
Verdict = Literal["fits", "only with dropped items", "not found", "impossible"]
Right = tuple[int | None, int | None, int | None]
Shares = tuple[Fraction, Fraction]  # lowest and highest, 0..1
IntArray = npt.NDArray[np.int64]
MOST_DECIMALS = 6  # shares over at most 1,250 items differ by more than 1e-5 points, so further digits say nothing
ARITHMETIC_TOLERANCE = 0.15  # points: what rounding to one decimal in four columns can add up to, and a little
_MOST_CELLS = 200_000  # combinations of counts looked at one by one
_MOST_TRIPLES = 400_000  # denominators compared with the bounds in one go
_MOST_EXACT = 3_000  # denominators that pass the bounds and are then solved exactly
_MOST_STEPS = 60  # numbers of dropped items tried beyond the least that the bounds allow


@dataclass(frozen=True, slots=True)
class Split:
    """A grouping of the benchmark's items into the three categories: the number of items in each."""

    grouping: str
    revisions: tuple[str, ...]
    sizes: tuple[int, int, int]

    @property
    def label(self) -> str:
        """As people write it: 183/749/318."""
        return "/".join(str(n) for n in self.sizes)


SPLITS = (
    Split("official", ("v0", "v1"), (183, 749, 318)),
    Split("povid-in-general", ("v0", "v1"), (631, 301, 318)),
    Split("rl-in-general", ("v0", "v1"), (484, 448, 318)),
    Split("official", ("v2",), (181, 749, 317)),
    Split("povid-in-general", ("v2",), (629, 301, 317)),
    Split("rl-in-general", ("v2",), (482, 448, 317)),
)
_GROUPING_WORDS = {
    "official": "the official categories",
    "povid-in-general": "POVID counted as general",
    "rl-in-general": "RLAIF-V and RLHF-V counted as general",
}
_READING_WORDS: Mapping[Reading, str] = {
    "rounded": "",
    "cut off": ", if the figures were cut off instead of rounded",
    "either": ", if some figures were rounded and some cut off",
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
    """Published figures in percent; None where absent."""

    general: PublishedFigure | None
    hallucination: PublishedFigure | None
    reasoning: PublishedFigure | None
    overall: PublishedFigure | None
    macro: PublishedFigure | None

    @property
    def categories(self) -> tuple[PublishedFigure | None, PublishedFigure | None, PublishedFigure | None]:
        """In the order of CATEGORIES."""
        return (self.general, self.hallucination, self.reasoning)


@dataclass(frozen=True, slots=True)
class Explanation:
    """Counts that produce the published figures under one split.

    ``denominators`` are the split's sizes less ``dropped`` items. ``right`` is None where the figures leave a category
    open. ``solutions``: how many different counts do it (0: only bounds were compared, the figures say too little);
    with more than one, ``right`` is the one nearest to the figures. ``exchanged``: fits only with the general and the
    reasoning figure exchanged; ``right`` and ``denominators`` are then those of the true categories.
    """

    split: Split
    reading: Reading
    denominators: tuple[int, int, int]
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
    verdict: Verdict
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
    found = _PRINTED.fullmatch(text)
    whole, decimals = (found[1], found[2] or "") if found else ("", "")
    if not found or Decimal(f"{whole}.{decimals or 0}") > 100:
        raise ValueError(f"{text[:40]!r} is not a percentage between 0 and 100, such as 71.9")
    if len(decimals) <= MOST_DECIMALS:
        return PublishedFigure(int(whole + decimals), len(decimals))
    return PublishedFigure(round(Fraction(int(whole + decimals), 10 ** (len(decimals) - MOST_DECIMALS))), MOST_DECIMALS)


def read_figures(
    general: str | float | None = None,
    hallucination: str | float | None = None,
    reasoning: str | float | None = None,
    overall: str | float | None = None,
    macro: str | float | None = None,
) -> Figures:
    """Return the published percentages.

    Raises:
        ValueError: one is not a percentage, none is given, or all are at most 1 (fractions, it seems).
    """
    figures = [figure(value) for value in (general, hallucination, reasoning, overall, macro)]
    given = [one for one in figures if one is not None]
    if not given:
        raise ValueError("no figure was given: there is nothing to check")
    if any(one.digits for one in given) and all(one.digits <= 10**one.decimals for one in given):
        raise ValueError("all figures are at most 1: percent are needed (71.9), not fractions (0.719)")
    return Figures(*figures)


# Counts that fit ---------------------------------------------------------------------------------------------------


def right_range(one: PublishedFigure | None, n: Any, reading: Reading) -> tuple[Any, Any]:
    """Return the lowest and highest k that print as a figure over n items (a number or an array); empty if low >
    high."""
    if one is None:
        return n * 0, n
    low, high, strict = one.bounds(reading)
    # -(-a // b) rounds up; no count is below 0 or above n.
    return np.maximum(-(-low * n // one.scale), 0), np.minimum((high * n - strict) // one.scale, n)


def _prints(one: PublishedFigure, right: Any, total: Any, reading: Reading) -> Any:
    low, high, strict = one.bounds(reading)
    return (low * total <= one.scale * right) & (one.scale * right <= high * total - strict)


def _mean_of_figures_prints(figures: Figures, reading: Reading) -> bool:
    """Return whether the macro is the mean of the printed categories: some authors average what they had rounded."""
    known = [one for one in figures.categories if one is not None]
    if len(known) < len(CATEGORIES) or figures.macro is None:
        return False
    mean = sum((Fraction(one.digits, 100 * 10**one.decimals) for one in known), start=Fraction(0)) / len(known)
    return bool(_prints(figures.macro, mean.numerator, mean.denominator, reading))


def _solve(figures: Figures, sizes: Sequence[int], reading: Reading) -> tuple[Right, int] | None:
    """(right per category, solutions) over exactly these denominators, or None if no counts do it."""
    ranges = [right_range(one, n, reading) for one, n in zip(figures.categories, sizes, strict=True)]
    if any(low > high for low, high in ranges):
        return None
    if np.prod([high - low + 1 for low, high in ranges]) > _MOST_CELLS:
        low, high = (np.array(ends) for ends in zip(*ranges, strict=True))
        fits = _within_bounds(figures, np.array(sizes), low, high, reading)
        return (_right(int(k) if k == most else None for k, most in zip(low, high, strict=True)), 0) if fits else None
    counts = np.meshgrid(*(np.arange(low, high + 1, dtype=np.int64) for low, high in ranges), indexing="ij")
    fits = np.ones(counts[0].shape, dtype=bool)
    if figures.overall is not None:
        fits &= _prints(figures.overall, sum(counts), sum(sizes), reading)
    if figures.macro is not None and not _mean_of_figures_prints(figures, reading):
        product = int(np.prod(sizes))
        scaled = sum(k * (product // n) for k, n in zip(counts, sizes, strict=True))
        fits &= _prints(figures.macro, scaled, 3 * product, reading)
    if not fits.any():
        return None
    found = np.stack([k[fits] for k in counts])
    return _nearest(figures, found, sizes), found.shape[1]


def _right(counts: Iterable[int | None]) -> Right:
    general, hallucination, reasoning = counts
    return (general, hallucination, reasoning)


def _nearest(figures: Figures, found: IntArray, sizes: Sequence[int]) -> Right:
    """Of the counts (3, solutions) the ones nearest to the figures; None for a category left open."""
    distance = np.zeros(found.shape[1])
    for one, k, n in zip(figures.categories, found, sizes, strict=True):
        if one is not None:
            distance += np.abs(k / n - 2 * one.digits / one.scale)
    best = found[:, int(distance.argmin())]
    return _right(
        None if one is None and k.min() != k.max() else int(value)
        for one, k, value in zip(figures.categories, found, best, strict=True)
    )


def _full_fits(
    figures: Figures, splits: Sequence[Split], readings: Sequence[Reading], exchanged: bool = False
) -> tuple[Explanation, ...]:
    """Return all splits that fit on full denominators, under the plainest reading that gives any.

    A looser reading beside a plainer one that fits would only add coincidences.
    """
    for reading in readings:
        solved = ((split, _solve(figures, split.sizes, reading)) for split in splits)
        fits = tuple(Explanation(split, reading, split.sizes, *found, exchanged) for split, found in solved if found)
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
    def of(cls, one: PublishedFigure | None, share: Shares, size: int) -> Denominators:
        """Return all denominators 1..size, for a figure that was rounded; without one, for the shares that are left
        to it."""
        n = np.arange(size + 1, dtype=np.int64)
        if one is not None:
            low, high = right_range(one, n, "rounded")
        else:
            low = -(-share[0].numerator * n // share[0].denominator)
            high = share[1].numerator * n // share[1].denominator
        return cls(low, high, np.nonzero((low <= high) & (n > 0))[0])

    @property
    def size(self) -> int:
        """Return the full denominator."""
        return self.low.size - 1


def _shares(figures: Figures) -> list[Shares]:
    """Per category the shares that its rounded figure allows; the macro bounds a single missing one."""
    known = [one.range("rounded") for one in figures.categories if one is not None]
    missing = (Fraction(0), Fraction(1))
    if figures.macro is not None and len(known) == len(CATEGORIES) - 1:
        low, high = figures.macro.range("rounded")
        least = 3 * low - sum((share[1] for share in known), start=Fraction(0))
        most = 3 * high - sum((share[0] for share in known), start=Fraction(0))
        missing = (max(Fraction(0), least), min(Fraction(1), most))
    return [missing if one is None else one.range("rounded") for one in figures.categories]


def _within_bounds(figures: Figures, n: Any, low: Any, high: Any, reading: Reading) -> Any:
    """Return whether overall and macro are within what the counts of each category allow. Necessary, not sufficient.

    ``n``, ``low``, ``high``: (3, ...) denominators and the counts they allow; gives (...,).
    """
    fits = np.ones(n.shape[1:], dtype=bool)
    if figures.overall is not None:
        least, most = right_range(figures.overall, n.sum(axis=0), reading)
        fits &= (least <= high.sum(axis=0)) & (most >= low.sum(axis=0)) & (least <= most)
    if figures.macro is not None and not _mean_of_figures_prints(figures, reading):
        below, above = (float(3 * bound) for bound in figures.macro.range(reading))
        fits &= ((high / n).sum(axis=0) >= below - 1e-9) & ((low / n).sum(axis=0) <= above + 1e-9)
    return fits


def _least_by_bounds(figures: Figures, sizes: Sequence[int]) -> int | None:
    """Return a number of dropped items that the overall cannot do without; None if no number suffices.

    Every item dropped from the category furthest on the wrong side of the overall helps most, so taking those first
    is the optimum of the problem without whole numbers.
    """
    if figures.overall is None:
        return 0
    low, high = figures.overall.range("rounded")
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
    parts = [Denominators.of(one, share, size) for one, share, size in given]
    start = _least_by_bounds(figures, sizes)
    if start is None:
        return
    if np.prod([part.possible.size for part in parts]) <= _MOST_TRIPLES:
        grid = np.meshgrid(*(part.possible for part in parts), indexing="ij")
        yield from _passing(figures, parts, np.stack([axis.ravel() for axis in grid]))
        return
    for dropped in range(max(start, 1), min(start + _MOST_STEPS, sum(sizes) - 2)):
        yield from _passing(figures, parts, _with_total(parts, sum(sizes) - dropped, dropped))


def _with_total(parts: Sequence[Denominators], total: int, dropped: int) -> IntArray:
    """(3, m): all possible denominators that add up to a total, when that many items are dropped."""
    first, second = (part.possible[part.possible >= part.size - dropped] for part in parts[:2])
    third = total - first[:, None] - second
    possible = np.zeros(parts[2].size + 2, dtype=bool)  # with a last place for totals that are out of range
    possible[parts[2].possible] = True
    i, j = np.nonzero(possible[np.where((third > 0) & (third <= parts[2].size), third, -1)])
    return np.stack([first[i], second[j], third[i, j]])


def _passing(figures: Figures, parts: Sequence[Denominators], n: IntArray) -> Iterator[tuple[int, ...]]:
    low = np.stack([part.low[column] for part, column in zip(parts, n, strict=True)])
    high = np.stack([part.high[column] for part, column in zip(parts, n, strict=True)])
    passing = n[:, _within_bounds(figures, n, low, high, "rounded")]
    for index in np.argsort(-passing.sum(axis=0), kind="stable"):
        yield tuple(passing[:, index].tolist())


def _fewest_dropped(figures: Figures, splits: Sequence[Split]) -> Iterator[Explanation]:
    """Per split the first denominators, fewest dropped items first, that have counts for all figures.

    A split whose every size is at most that of an earlier one (v2 of v0) needs no search of its own if the earlier
    answer lies within it (dropping fewer would answer the earlier one better), or if there was no earlier answer.
    """
    found: dict[Split, Explanation | None] = {}
    for split in splits:
        wider = next((one for one in found if _within(split.sizes, one.sizes)), None)
        answer = found[wider] if wider else None
        if wider is None or (answer is not None and not _within(answer.denominators, split.sizes)):
            answer = _first_solution(figures, split)
        found[split] = replace(answer, split=split) if answer else None
    yield from (answer for answer in found.values() if answer)


def _within(sizes: Sequence[int], others: Sequence[int]) -> bool:
    return all(n <= other for n, other in zip(sizes, others, strict=True))


def _first_solution(figures: Figures, split: Split) -> Explanation | None:
    for general, hallucination, reasoning in islice(_candidates(figures, split.sizes), _MOST_EXACT):
        sizes = (general, hallucination, reasoning)
        solved = _solve(figures, sizes, "rounded")
        if solved:
            return Explanation(split, "rounded", sizes, *solved)
    return None


# What cannot be, and what to say -------------------------------------------------------------------------------------


def _impossible(figures: Figures, splits: Sequence[Split]) -> Iterator[str]:
    """Yield what no counts over any denominators can produce, however the figures were rounded."""
    names = dict(zip(CATEGORIES, figures.categories, strict=True))
    known = {name: one for name, one in names.items() if one is not None}
    for name, one in known.items():
        size = max(split.sizes[CATEGORIES.index(name)] for split in splits)
        low, high = right_range(one, np.arange(1, size + 1), "either")
        if not (low <= high).any():
            yield f"{name.capitalize()} {one} is not a share of any number of items up to {size}."
    ranges = [one.range("either") if one else (Fraction(0), Fraction(1)) for one in names.values()]
    if figures.macro is not None and known:
        low, high = (sum(bounds, start=Fraction(0)) / 3 for bounds in zip(*ranges, strict=True))
        stated = figures.macro.range("either")
        if (stated[1] < low or stated[0] > high) and not _mean_of_figures_prints(figures, "either"):
            what = "the mean of the three categories" if len(known) == 3 else "a mean with the categories given"
            yield f"Macro {figures.macro} is not {what}, which lies between {_points(low)} and {_points(high)}."
    if figures.overall is not None and len(known) == 3:
        low, high = min(low for low, _ in ranges), max(high for _, high in ranges)
        stated = figures.overall.range("either")
        if stated[1] < low or stated[0] > high:
            yield (
                f"Overall {figures.overall} is outside the three categories ({_points(low)} to {_points(high)}): "
                "no weights make it their average."
            )


def _points(share: Fraction) -> str:
    return f"{float(100 * share):.2f}"


def _implied(figures: Figures, splits: Sequence[Split]) -> Iterator[Implied]:
    ranges = [one.range("rounded") for one in figures.categories if one is not None]
    if len(ranges) < len(CATEGORIES):
        return
    for split in splits:
        low, high = (
            sum((n * share for n, share in zip(split.sizes, ends, strict=True)), start=Fraction(0)) / sum(split.sizes)
            for ends in zip(*ranges, strict=True)
        )
        yield Implied(split, float(100 * low), float(100 * high))


def _describe(one: Explanation, figures: Figures) -> str:
    """Return one explanation as a sentence, with its counts."""
    pairs = list(zip(CATEGORIES, one.right, one.denominators, strict=True))
    counts = ", ".join(f"{name} {k}/{n}" for name, k, n in pairs if k is not None)
    right = [k for k in one.right if k is not None]
    if len(right) == len(pairs):
        macro = sum((Fraction(k, n) for k, n in zip(right, one.denominators, strict=True)), start=Fraction(0)) / 3
        counts += f"; overall {sum(right)}/{sum(one.denominators)} = {100 * sum(right) / sum(one.denominators):.2f}"
        counts += f", macro {_points(macro)}"
        stated = figures.macro
        exact = stated is None or _prints(stated, macro.numerator, macro.denominator, one.reading)
        if not exact and _mean_of_figures_prints(figures, one.reading):
            counts += f" ({stated} is the mean of the rounded figures)"
    where = f"{one.split.label} ({_GROUPING_WORDS[one.split.grouping]}, {' and '.join(one.split.revisions)})"
    swapped = " with the general and the reasoning figure exchanged" if one.exchanged else ""
    example = " for example" if one.solutions > 1 and right else ""
    dropped = f" if {one.dropped} item{'s are' if one.dropped > 1 else ' is'} left out" if one.dropped else ""
    return f"fits {where}{swapped}{dropped}{_READING_WORDS[one.reading]}" + (f":{example} {counts}." if counts else ".")


def _overall_alone(one: PublishedFigure, splits: Sequence[Split]) -> Iterator[str]:
    """Yield what an overall says without any category: the counts behind it."""
    for total in sorted({sum(split.sizes) for split in splits}, reverse=True):
        names = dict.fromkeys(name for split in splits if sum(split.sizes) == total for name in split.revisions)
        low, high = right_range(one, total, "rounded")
        counts = f"{low}" if low == high else f"{low} to {high}"
        verb = f"is {counts} right out of {total}" if low <= high else f"is no whole number out of {total}"
        yield f"Overall {one} {verb} ({' and '.join(names)})."


def _official_misfits(figures: Figures, splits: Sequence[Split]) -> Iterator[str]:
    """Category figures that no count over the official sizes gives, with the nearest count that there is."""
    for position, (name, one) in enumerate(zip(CATEGORIES, figures.categories, strict=True)):
        sizes = sorted({split.sizes[position] for split in splits if split.grouping == "official"}, reverse=True)
        if one is None or not sizes or any(low <= high for low, high in (right_range(one, n, "either") for n in sizes)):
            continue
        n = sizes[0]
        k = round(2 * one.digits * n / one.scale)
        yield f"{name.capitalize()} {one} is no whole number out of {n}; the nearest is {k}/{n} = {100 * k / n:.2f}."


def _sentences(answer: Plausibility, splits: Sequence[Split]) -> Iterator[str]:
    figures = answer.figures
    yield from answer.impossible
    if not any(figures.categories):
        if figures.overall is not None:
            yield from _overall_alone(figures.overall, splits)
        yield "Without the categories the grouping cannot be told."
        return
    for one in answer.fits:
        yield _capital(_describe(one, figures))
    if not answer.fits:
        yield from _without_fit(answer)
    if not any(one.split.grouping == "official" and not one.exchanged for one in answer.fits):
        yield from _official_misfits(figures, splits)
        implied = [one for one in answer.implied if one.split.grouping == "official"]
        if implied and figures.overall is not None:
            yield (
                f"Under the official {implied[0].split.label} the three categories imply an overall of "
                f"{implied[0].low:.2f} to {implied[0].high:.2f}; {figures.overall} is stated."
            )


def _without_fit(answer: Plausibility) -> Iterator[str]:
    yield "No whole numbers of right answers over all items give these figures, under any grouping in circulation."
    for one in answer.categories_alone:
        yield _capital(f"without overall and macro, the categories' figures alone: {_describe(one, answer.figures)}")
    # The fewest dropped items of all, and the fewest under the official grouping.
    shown = (answer.dropped[:1], [one for one in answer.dropped if one.split.grouping == "official"][:1])
    yield from dict.fromkeys(_capital(_describe(one, answer.figures)) for group in shown for one in group)
    if not answer.dropped and not answer.impossible:
        yield "No counts with dropped items were found that give these figures either."


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def check_numbers(figures: Figures, splits: Sequence[Split] = SPLITS) -> Plausibility:
    """Return which counts, grouping and revision are behind published percentages; what would be needed if none are.

    A macro that cannot be the mean of the categories is said to be impossible and then set aside, so that the
    other figures still get their explanation. Dropped items are only sought if nothing fits the full items, and for
    figures that were rounded: some tens of milliseconds.
    """
    impossible = tuple(_impossible(figures, splits))
    rest = replace(figures, macro=None) if any(text.startswith("Macro") for text in impossible) else figures
    fits = _full_fits(rest, splits, ("rounded", "cut off", "either"))
    if not fits and None not in (*figures.categories, figures.overall):
        exchanged = replace(rest, general=rest.reasoning, reasoning=rest.general)
        fits = _full_fits(exchanged, splits, ("rounded",), exchanged=True)
    dropped: tuple[Explanation, ...] = ()
    alone: tuple[Explanation, ...] = ()
    if not fits:
        dropped = tuple(sorted(_fewest_dropped(rest, splits), key=lambda one: one.dropped))
        if None not in figures.categories:
            alone = _full_fits(replace(rest, overall=None, macro=None), splits, ("rounded",))
    verdict: Verdict = "fits" if fits else "only with dropped items" if dropped else "not found"
    verdict = "impossible" if impossible else verdict
    answer = Plausibility(figures, verdict, fits, dropped, alone, tuple(_implied(figures, splits)), impossible, ())
    return replace(answer, sentences=tuple(_sentences(answer, splits)))


# The arithmetic check of reported rows -------------------------------------------------------------------------------

_FULL_SPLITS = SPLITS[:3]  # reported rows are compared with the sizes of v0 and v1, under which nearly all were made


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

    @property
    def overall_ok(self) -> bool | None:
        """Whether the overall fits the official sizes."""
        return None if self.overall_minus_recomputed is None else "official" in self.fitting

    @property
    def macro_ok(self) -> bool | None:
        """Whether the macro is the mean of the categories."""
        return None if self.macro_minus_mean is None else abs(self.macro_minus_mean) <= ARITHMETIC_TOLERANCE

    @property
    def grouping(self) -> str | None:
        """Return the grouping to show: the official one if it fits, else the closest that does, else None."""
        if self.overall_ok:
            return "official"
        return self.closest if self.fitting else None

    @property
    def remark(self) -> str | None:
        """Return the short phrase beside a row that does not fit the official sizes; None if there is none."""
        if self.macro_ok is False:
            return "macro is not the mean"
        if self.overall_ok is not False:
            return None
        sizes = {split.grouping: split.label for split in _FULL_SPLITS}
        return f"fits {sizes[self.grouping]}" if self.grouping else "fits no grouping"


def arithmetic_check(
    general: float | None,
    hallucination: float | None,
    reasoning: float | None,
    overall: float | None,
    macro: float | None,
) -> ArithmeticCheck | None:
    """Return the coarse check of a reported row (percent): None where it does not give all three categories."""
    if general is None or hallucination is None or reasoning is None:
        return None
    categories = (general, hallucination, reasoning)
    exact = {
        split.grouping: sum(n * value for n, value in zip(split.sizes, categories, strict=True)) / sum(split.sizes)
        for split in _FULL_SPLITS
    }
    mean = sum(categories) / len(categories)
    off = None if overall is None else {name: round(overall - value, 2) for name, value in exact.items()}
    return ArithmeticCheck(
        overall_recomputed={name: round(value, 2) for name, value in exact.items()},
        overall_minus_recomputed=off,
        fitting=() if off is None else tuple(name for name, gap in off.items() if abs(gap) <= ARITHMETIC_TOLERANCE),
        closest=None if off is None else min(off, key=lambda name: abs(off[name])),
        macro_recomputed=round(mean, 2),
        macro_minus_mean=None if macro is None else round(macro - mean, 2),
    )
