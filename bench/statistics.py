"""The simulations behind docs/statistics.md: `python -m bench.statistics [--quick]` prints its tables.

Judges answer 183, 749 and 318 pairs; how hard a pair is, is shared by all. Everything is seeded.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

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
from vlrb.statistics.selection import luck, select_best
from vlrb.statistics.uncertainty import (
    ALPHA,
    clopper_pearson,
    holm,
    macro_difference,
    mover_macro,
    paired_interval,
)

SIZES = (183, 749, 318)
CATEGORY = np.repeat(np.arange(3), SIZES)
PARTS: list[BoolArray] = [np.equal(CATEGORY, code) for code in range(3)]


def main() -> None:
    """Print all tables; some minutes, or some seconds with --quick."""
    share = 0.05 if "--quick" in sys.argv[1:] else 1.0
    for table in (best_of, ranges, first_place, paired_intervals):
        for line in table(share):
            print(line, flush=True)
        print()


def variants(
    random: np.random.Generator, k: int, *, differing: float, spread: float = 0.0, share: float = 0.65
) -> tuple[BoolArray, Any]:
    """Correctness of k variants of which two differ on a share of the pairs, and their true accuracies."""
    anew = 1 - np.sqrt(1 - differing / (2 * share * (1 - share)))
    ability = np.clip(share + spread * np.linspace(-1, 1, k), 0, 1)[:, np.newaxis]
    base = random.random(len(CATEGORY)) < share
    redrawn = random.random((k, len(CATEGORY))) < anew
    right = np.where(redrawn, random.random((k, len(CATEGORY))) < ability, base)
    return right, (1 - anew) * share + anew * ability[:, 0]


def macro(right: BoolArray) -> npt.NDArray[np.float64]:
    """Return the mean over categories, judge by judge."""
    return np.asarray(np.mean([right[:, part].mean(axis=1) for part in PARTS], axis=0))


def one_choice(random: np.random.Generator, k: int, *, differing: float, spread: float) -> tuple[float, ...]:
    """Return gain, expected gain, whether plain and fair interval cover, and whether an equal rival is beaten."""
    right, truth = variants(random, k, differing=differing, spread=spread)
    order = np.argsort(-macro(right), kind="stable")
    right, true = right[order], float(truth[order[0]])
    chosen = select_best(right, PARTS)
    counts = [(int(right[0][part].sum()), int(part.sum())) for part in PARTS]
    plain, low = mover_macro(counts), mover_macro(counts, chosen.z).low
    rival = random.random(len(CATEGORY)) < true
    ahead_on = right[0].astype(int) - rival
    result = macro_difference([(ahead_on[p].sum(), (ahead_on[p] ** 2).sum(), p.sum()) for p in PARTS])
    ahead = result.delta > 0
    return (
        float(macro(right)[0]) - true,
        chosen.gain,
        plain.low <= true <= plain.high,
        low <= true <= plain.high,
        ahead and result.p < ALPHA,
        ahead and chosen.near * result.p < ALPHA,
    )


def best_of(share: float = 1.0) -> Iterator[str]:
    """Coverage and false claims of the best of k variants."""
    yield f"Anchors, points: {', '.join(f'{k}: {100 * luck(k, 0.1 / 1250):.2f}' for k in (5, 10, 27, 50))}"
    heads = ("gain", "expected", "covered, plain", "covered, best of k", "rival beaten, plain", "adjusted")
    yield f"| k | differ on | abilities | {' | '.join(heads)} |"
    yield "|---|---|---|---|---|---|---|---|---|"
    cases = (
        (2, 0.1, 0.0),
        (5, 0.1, 0.0),
        (12, 0.1, 0.0),
        (27, 0.1, 0.0),
        (12, 0.2, 0.0),
        (12, 0.3, 0.0),
        (12, 0.2, 0.3),
    )
    for k, differing, spread in cases:
        random = np.random.default_rng(k)
        runs = np.array(
            [one_choice(random, k, differing=differing, spread=spread) for _ in range(round(1000 * share))], dtype=float
        )
        gain, expected, plain, fair, beaten, adjusted = runs.mean(axis=0)
        kind = "spread" if spread else "equal"
        yield (
            f"| {k} | {differing:.0%} | {kind} | {100 * gain:.2f} | {100 * expected:.2f} | {plain:.3f} | {fair:.3f} "
            f"| {beaten:.3f} | {adjusted:.3f} |"
        )


def board(random: np.random.Generator, abilities: npt.NDArray[np.float64], *, alike: float = 1.5) -> BoolArray:
    """Return judges that find the same pairs hard: right where ability plus noise exceeds difficulty, on a logistic
    scale. ``alike``: standard deviation of difficulty; the larger, the fewer pairs two equal judges differ on."""
    hard = random.normal(0, alike, len(CATEGORY))
    return np.asarray(
        random.random((len(abilities), len(CATEGORY))) < 1 / (1 + np.exp(hard - abilities[:, np.newaxis]))
    )


def ranges(share: float = 1.0) -> Iterator[str]:
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
        for _ in range(max(2, round(boards * share))):
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


def first_place(share: float = 1.0) -> Iterator[str]:
    """Power and level of first place: 22 judges, one ahead of 21 equals that differ on a share of the pairs; how often
    it stands alone by its rivals and by all pairs, and how often it is left out."""
    judges, boards = 22, round(200 * share)
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


def paired_intervals(share: float = 1.0) -> Iterator[str]:
    """Coverage of paired intervals: the limits of the exact test alone, and as they are shown."""
    yield "| pairs | discordant | for the first | covered, exact limits alone | covered, shown |"
    yield "|---|---|---|---|---|"
    random = np.random.default_rng(0)
    for n, discordant, first in ((183, 0.1, 0.5), (183, 0.1, 0.9), (183, 0.1, 1.0), (749, 0.1, 0.6), (1250, 0.1, 0.8)):
        truth, covered = discordant * (2 * first - 1), []
        for b, c, _ in random.multinomial(
            n, [discordant * first, discordant * (1 - first), 1 - discordant], round(2000 * share)
        ).tolist():
            limits = clopper_pearson(b, b + c) if b + c else (0.5, 0.5)
            alone = [(b + c) * (2 * limit - 1) / n for limit in limits]
            interval = paired_interval(b, c, n=n)
            covered.append((alone[0] <= truth <= alone[1], interval.low <= truth <= interval.high))
        alone_share, shown_share = np.mean(covered, axis=0)
        yield f"| {n} | {discordant:.0%} | {first:.0%} | {alone_share:.3f} | {shown_share:.3f} |"


if __name__ == "__main__":
    main()
