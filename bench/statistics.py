"""The simulations behind docs/statistics.md: `python -m bench.statistics` prints its tables.

Judges answer 183, 749 and 318 pairs; how hard a pair is, is shared by all. Everything is seeded.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np
import numpy.typing as npt

from vlrb.arrays import BoolArray
from vlrb.statistics.ranking import (
    MANY,
    best_set,
    best_set_limit,
    influence,
    normal_draws,
    paired_tests,
    ranges_of,
    step_down,
)
from vlrb.statistics.uncertainty import ALPHA, holm

SIZES = (183, 749, 318)
CATEGORY = np.repeat(np.arange(3), SIZES)
PARTS: list[BoolArray] = [np.equal(CATEGORY, code) for code in range(3)]


def main() -> None:
    """Print all tables; it takes some minutes."""
    for line in chain(ranges(), [""], first_place()):
        print(line, flush=True)


def macro(right: BoolArray) -> npt.NDArray[np.float64]:
    """Return the mean over categories, judge by judge."""
    return np.asarray(np.mean([right[:, part].mean(axis=1) for part in PARTS], axis=0))


def board(random: np.random.Generator, abilities: npt.NDArray[np.float64], *, alike: float = 1.5) -> BoolArray:
    """Return judges that find the same pairs hard: right where ability plus noise exceeds difficulty, on a logistic
    scale. ``alike``: standard deviation of difficulty; the larger, the fewer pairs two equal judges differ on."""
    hard = random.normal(0, alike, len(CATEGORY))
    return np.asarray(
        random.random((len(abilities), len(CATEGORY))) < 1 / (1 + np.exp(hard - abilities[:, np.newaxis]))
    )


def ranges() -> Iterator[str]:
    """Family-wise errors and mean widths of rank ranges, Holm beside the step-down max-T procedure; how often a truly
    best judge is said not to be first, and how often one judge alone could be."""
    yield (
        "| judges | abilities | boards | errors, Holm | errors, max-T | mean range, Holm | mean range, max-T "
        "| best left out | one alone |"
    )
    yield "|---|---|---|---|---|---|---|---|---|"
    draws = [normal_draws(len(CATEGORY), entries) for entries in (0, MANY + 1)]
    cases = ((12, 0.0, 400), (40, 0.0, 200), (12, 2.0, 100), (40, 2.0, 100), (150, 2.0, 10), (500, 2.0, 3))
    for judges, spread, boards in cases:
        random, result, sets = np.random.default_rng(judges), [], []
        for _ in range(boards):
            abilities = np.linspace(-spread / 2, spread / 2, judges) + 0.7
            right = board(random, abilities)
            tests = paired_tests(right, PARTS, exact=False)
            first = best_set(judges, tests, clear=tests.p < best_set_limit(judges))
            sets.append((not first[-1], first.sum() == 1))
            wrong = (tests.delta > 0) == (abilities[tests.first] <= abilities[tests.second])
            for rejected in (
                holm(tests.p) < ALPHA,
                step_down(tests, influence(right, PARTS), draws=draws[judges > MANY]),
            ):
                false = (rejected & (wrong if spread else True)).any()
                result.append((float(false), judges - 2 * rejected.sum() / judges))
        pairs = np.array(result).reshape(-1, 2, 2).mean(axis=0)
        (left_out, alone), kind = np.mean(sets, axis=0), "spread" if spread else "equal"
        yield (
            f"| {judges} | {kind} | {len(result) // 2} | {pairs[0, 0]:.3f} | {pairs[1, 0]:.3f} "
            f"| {pairs[0, 1]:.2f} | {pairs[1, 1]:.2f} | {left_out:.3f} | {alone:.2f} |"
        )


def first_place() -> Iterator[str]:
    """Power and level of first place: 22 judges, one ahead of 21 equals that differ on a share of the pairs; how often
    it stands alone by its rivals and by all pairs, and how often it is left out."""
    judges, boards = 22, 200
    yield "| equals differ on | lead, points | alone, best set | alone, all pairs | best left out |"
    yield "|---|---|---|---|---|"
    for alike, lead in ((1.5, 0.0), (1.5, 0.2), (1.5, 0.4), (1.5, 0.6), (4.5, 0.0), (4.5, 0.4), (4.5, 0.7)):
        random, result = np.random.default_rng(judges), []
        for _ in range(boards):
            right = board(random, np.append(np.full(judges - 1, 0.7), 0.7 + lead), alike=alike)
            tests = paired_tests(right, PARTS, exact=False)
            first = best_set(judges, tests, clear=tests.p < best_set_limit(judges))
            beaten = ranges_of(judges, tests, rejected=holm(tests.p) < ALPHA).worst[-1] == 1
            ahead = macro(right)
            differ = (right[0] != right[1]).mean()
            alone_first = first[-1] and first.sum() == 1
            result.append((differ, ahead[-1] - ahead[:-1].mean(), alone_first, beaten, not first[-1]))
        differ, points, alone, all_pairs, left_out = np.array(result, dtype=float).mean(axis=0)
        yield f"| {differ:.0%} | {100 * points:.1f} | {alone:.2f} | {all_pairs:.2f} | {left_out:.3f} |"


if __name__ == "__main__":
    main()
