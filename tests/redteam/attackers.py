"""Those who want the labels. Each makes vote vectors, sees scores, and states what it believes every label is.

A vote vector is int8 over the items: 0, 1, or -1 for an abstention. What an attacker sees is its *view*: per group of
items the number of votes that agree with the label. Which groups, how exactly and how often is what a policy decides.
Sources: Lindström 1965 and Cantor & Mills 1966 (weighing designs), Blum & Hardt 2015 (majority of the lucky).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from benchmark.arrays import FloatArray

Vector = npt.NDArray[np.int8]
ShownCounts = npt.NDArray[np.float64]
"""How many votes agree with the label, one number a group; fractions where the view is too coarse for whole ones."""

Look = Callable[[Vector], ShownCounts]
"""Submit a vector, see its counts."""


@dataclass(frozen=True, slots=True)
class Groups:
    """The groups of items that a view has a count for: a partition. ``of``: per item the number of its group."""

    of: npt.NDArray[np.int64]

    def members(self) -> list[npt.NDArray[np.int64]]:
        """Return item indices by group."""
        return [np.flatnonzero(self.of == number) for number in range(int(self.of.max()) + 1)]


def agreement(belief: Vector, labels: Vector) -> float:
    """Return the share of labels that are believed rightly; 0.5 is chance."""
    return float((belief == labels).mean())


# A1, A10: random probes, least squares -----------------------------------------------------------------------------


def random_probes(count: int, items: int, *, dice: np.random.Generator) -> list[Vector]:
    """Fair coins."""
    return [dice.integers(0, 2, items).astype(np.int8) for _ in range(count)]


def least_squares(
    probes: Sequence[Vector], views: Sequence[ShownCounts], *, groups: Groups, prior: FloatArray
) -> Vector:
    """Return what the labels are likeliest to be, given the probes' counts.

    With labels and votes as +1 and -1, a count of n items says that votes times labels sum to 2 count - n: m linear
    equations a group. ``prior``: (items,) the expected label before, between -1 and 1 (zeros: nothing is known). The
    belief is the sign of the point nearest to the prior that fulfils them all.
    """
    signs = 2.0 * np.array(probes) - 1.0
    belief = prior.astype(np.float64).copy()
    for number, held in enumerate(groups.members()):
        x = signs[:, held]
        sums = 2.0 * np.array([view[number] for view in views]) - len(held)
        belief[held] += np.linalg.lstsq(x, sums - x @ prior[held], rcond=None)[0]
    return (belief > 0).astype(np.int8)


# A2, A3: a weighing design -------------------------------------------------------------------------------------------


def design(rank: int) -> npt.NDArray[np.int8]:
    """2^rank weighings (-1, 0, 1) that tell (rank + 2) 2^(rank - 1) bits apart."""
    made = np.ones((1, 1), dtype=np.int8)
    for _ in range(rank):
        none = np.zeros((len(made), len(made)), dtype=np.int8)
        made = np.block([[made, made, np.eye(len(made), dtype=np.int8)], [made, -made, none]]).astype(np.int8)
    return made


def solve(sums: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the bits behind the sums of ``design``'s weighings. The last columns are found by parity, the rest by
    halving."""
    if len(sums) == 1:
        return sums
    half = len(sums) // 2
    upper, lower = sums[:half], sums[half:]
    odd = (upper + lower) % 2
    return np.concatenate([solve((upper + lower - odd) // 2), solve((upper - lower - odd) // 2), odd])


def rank_for(items: int) -> int:
    """Return the smallest design for so many bits."""
    return next(rank for rank in range(20) if (rank + 2) * 2**rank >= 2 * items)


def weighings(groups: Groups, most: int | None = None) -> list[Vector]:
    """Vote vectors with abstentions; all groups are weighed at once. ``most``: stop after the largest design that fits.

    A weight of 1 is a vote for response 1, -1 one for response 0, 0 an abstention.
    """
    members = groups.members()
    rank = max(rank_for(len(held)) for held in members)
    if most is not None:
        rank = min(rank, most.bit_length() - 1)
    weights = design(rank)
    votes = np.full((len(weights), len(groups.of)), -1, dtype=np.int8)
    for held in members:
        some = held[: weights.shape[1]]
        chosen = weights[:, : len(some)]
        votes[:, some] = np.where(chosen == 0, -1, (chosen + 1) // 2)
    return list(votes)


def weighed(vectors: Sequence[Vector], views: Sequence[ShownCounts], *, groups: Groups, start: Vector) -> Vector:
    """Return the labels behind the counts of ``weighings``; ``start`` where nothing was weighed."""
    belief = start.copy()
    weights = design((len(vectors)).bit_length() - 1)
    for number, held in enumerate(groups.members()):
        some = held[: weights.shape[1]]
        counts = np.array([round(view[number]) for view in views])
        # A vote for response 0 agrees where the bit is 0: each such vote adds one that the weighing does not have.
        sums = counts - (weights[:, : len(some)] == -1).sum(axis=1)
        belief[some] = solve(sums.astype(np.int64))[: len(some)]
    return belief


def without_abstaining(vectors: Iterable[Vector]) -> list[Vector]:
    """Return each vector as two that answer everything: once 1 and once 0 where it abstains."""
    return [np.where(vector < 0, filler, vector).astype(np.int8) for vector in vectors for filler in (1, 0)]


def rejoined(views: Sequence[ShownCounts], vectors: Sequence[Vector], *, groups: Groups) -> list[ShownCounts]:
    """Return the counts of the vectors with abstentions, from those of ``without_abstaining``.

    Together the two fillers of an item agree exactly once, so the pair's counts sum to twice the count of the answered
    items plus the number of the others.
    """
    silent = [np.bincount(groups.of, weights=vector < 0, minlength=len(views[0])) for vector in vectors]
    pairs = zip(views[::2], views[1::2], silent, strict=True)
    return [(one + other - absent) / 2 for one, other, absent in pairs]


def two_in_one(first: Vector, second: Vector) -> npt.NDArray[np.int8]:
    """(items, 3) votes that show two vectors' scores at once, where the first vote is scored by itself as well.

    The majority of the three is ``second``, and undecided where that abstains; the first vote is ``first``.
    """
    return np.stack([first, second, second], axis=1)


# A6: climbing --------------------------------------------------------------------------------------------------------


def climb(look: Look, start: Vector, *, tries: int, flips: int, dice: np.random.Generator) -> Vector:
    """Turn some answers over and keeps what scores higher, the first look included in ``tries``."""
    best, height = start.copy(), float(look(start).sum())
    for _ in range(tries - 1):
        other = best.copy()
        turned = dice.choice(len(best), flips, replace=False)
        other[turned] = 1 - other[turned]
        if (seen := float(look(other).sum())) > height:
            best, height = other, seen
    return best


# A7: the majority of the lucky ---------------------------------------------------------------------------------------


def lucky_majority(probes: Sequence[Vector], views: Sequence[ShownCounts], *, groups: Groups) -> Vector:
    """Return votes of the probes that did better than chance, each turned over if it did worse."""
    half = np.array([len(held) / 2 for held in groups.members()])
    signs = np.zeros(len(groups.of))
    for probe, view in zip(probes, views, strict=True):
        signs += np.where(view >= half, 1, -1)[groups.of] * (2 * probe - 1)
    return (signs > 0).astype(np.int8)
