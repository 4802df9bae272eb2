"""Answer of the number check: counts that explain published figures, or why there are none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from vlrb.benchmarks.spec import Split
from vlrb.numbers.figures import Figures, Reading

FitOutcome = Literal["fits", "only with dropped items", "not found", "impossible"]
Right = tuple[int | None, ...]


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
