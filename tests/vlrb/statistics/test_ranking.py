"""Order, shared ranks and rank ranges."""

import math
from itertools import combinations, permutations
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rank_ranges import order_parts, ranges_by, ranges_over
from vlrb.statistics.ranking import (
    RankingEntry,
    display_order,
    influence,
    normal_draws,
    paired_tests,
    rank_ranges,
    standings,
    step_down,
)
from vlrb.statistics.selection import select_best
from vlrb.statistics.uncertainty import macro_difference, mcnemar_exact

PATTERNS = {"1111": 500, "1110": 150, "1100": 120, "1000": 60, "0110": 70, "0011": 90, "0100": 50, "0000": 210}


def entry(name, macro, *, overall=0.5, counts=(1, 2), submitted="2026-01-01"):
    return RankingEntry(name, (macro, overall), counts=counts, submitted=submitted)


def order(entries):
    return [entries[i].id for i in display_order(entries)]


def ranks(entries):
    return {entries[index].id: rank for index, rank in standings(entries).items()}


def test_the_order_is_macro_then_overall_then_the_earlier_submission_then_the_id():
    entries = [
        entry("d", 0.6, overall=0.7, submitted="2026-03-01"),
        entry("c", 0.6, overall=0.7, submitted="2026-02-01"),
        entry("b", 0.6, overall=0.8),
        entry("a", 0.7, overall=0.1),
        entry("e", 0.6, overall=0.7, submitted="2026-03-01"),
    ]
    assert order(entries) == ["a", "b", "c", "d", "e"]


def test_equal_counts_share_a_rank_and_the_next_rank_is_skipped():
    entries = [
        entry("first", 0.7, counts=(7, 10)),
        entry("second", 0.6, counts=(6, 10)),
        entry("twin", 0.6, counts=(6, 10), submitted="2026-02-01"),
        entry("fourth", 0.5, counts=(5, 10)),
    ]
    assert ranks(entries) == {"first": 1, "second": 2, "twin": 2, "fourth": 4}


def test_equal_scores_of_different_counts_do_not_share_a_rank():
    entries = [entry("half of ten", 0.5, counts=(5, 10)), entry("half of eight", 0.5, counts=(4, 8))]
    assert sorted(ranks(entries).values()) == [1, 2]


def test_reported_rows_stand_in_the_order_but_carry_no_rank_and_take_none_away():
    entries = [
        entry("scored", 0.7, counts=(7, 10)),
        RankingEntry("reported", (0.65, None), counts=None, submitted="2025-01-01"),
        entry("next", 0.6, counts=(6, 10)),
        entry("unscorable", None),
    ]
    assert order(entries) == ["scored", "reported", "next", "unscorable"]
    assert ranks(entries) == {"scored": 1, "reported": None, "next": 2, "unscorable": None}


def test_a_reported_row_between_equals_does_not_part_them():
    entries = [
        entry("early", 0.6, counts=(6, 10), submitted="2026-01-01"),
        RankingEntry("reported", (0.6, 0.5), counts=None, submitted="2026-01-15"),
        entry("late", 0.6, counts=(6, 10), submitted="2026-02-01"),
    ]
    assert ranks(entries) == {"early": 1, "reported": None, "late": 1}


value = st.none() | st.sampled_from([0.0, 0.25, 0.5, 1.0])
contender = st.tuples(value, value, st.none() | st.tuples(st.integers(0, 2)), st.sampled_from(["", "2025", "2026"]))


@given(st.lists(contender, max_size=4))
def test_the_order_is_total_whatever_order_the_rows_come_in(rows):
    entries = [
        RankingEntry(str(i), (macro, overall), counts=counts, submitted=day)
        for i, (macro, overall, counts, day) in enumerate(rows)
    ]
    expected = order(entries)
    for shuffled in permutations(entries):
        assert order(list(shuffled)) == expected
    numbers = [entries[int(name)].values[0] for name in expected]
    assert numbers == sorted(numbers, key=lambda v: (v is None, 0 if v is None else -v))


def worked_example():
    bits = np.array([[int(bit) for bit in pattern] for pattern, n in PATTERNS.items() for _ in range(n)], dtype=bool).T
    return bits, np.zeros(bits.shape[1], dtype=int)


def spans(ranges):
    return list(zip(ranges.best.tolist(), ranges.worst.tolist(), strict=True))


def test_the_boards_rank_ranges_are_the_worked_ones():
    found = ranges_by(*worked_example(), "overall")
    assert spans(found) == [(2, 3), (1, 1), (2, 3), (4, 4)]


def could_be_first(correct, category, *, order_by):
    """Rival by rival: the one-sided p of the order's own test, times the number of rivals."""
    tests = paired_tests(correct, order_parts(category, order_by), exact=order_by != "macro")
    smallest = [1.0] * len(correct)
    for i, j, delta, p in zip(tests.first, tests.second, tests.delta, tests.p, strict=True):
        for judge, ahead in ((i, delta < 0), (j, delta > 0)):
            smallest[judge] = min(smallest[judge], p / 2 if ahead else 1 - p / 2)
    return [p * (len(correct) - 1) for p in smallest]


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("order_by", ["macro", "overall"])
def test_ranges_begin_at_one_for_those_that_no_rival_beats_and_for_no_other(order_by, hidden):
    alone = 0
    for seed in range(12):
        correct, category = judges_of_shared_difficulty(seed, 6, items=150)
        first = [p > 0.05 for p in could_be_first(correct, category, order_by=order_by)]
        tests = paired_tests(correct, order_parts(category, order_by), exact=order_by == "overall")
        found = rank_ranges(len(correct), tests) if hidden else ranges_by(correct, category, order_by)
        assert (found.best == 1).tolist() == first
        alone += sum(first) == 1
    assert 0 < alone < 12, "both kinds of boards were there"


def slow_worst(correct, category, *, order_by):
    """Return the worst rank of each: pair by pair, item by item, Holm by the book."""
    entries = len(correct)
    codes = sorted({c for c in category if c >= 0}) if order_by in ("macro", "overall") else [order_by]
    tests = {}
    for i, j in combinations(range(entries), 2):
        parts = []
        for code in codes:
            items = [n for n, c in enumerate(category) if c == code]
            b = sum(correct[i][n] and not correct[j][n] for n in items)
            c = sum(correct[j][n] and not correct[i][n] for n in items)
            parts.append((int(b), int(c), len(items)))
        if order_by == "macro":
            difference = macro_difference([(b - c, b + c, n) for b, c, n in parts])
            tests[i, j] = (difference.p, difference.delta)
        else:
            b, c = sum(p[0] for p in parts), sum(p[1] for p in parts)
            tests[i, j] = (mcnemar_exact(b, c), b - c)
    better, still = set(), True
    for step, (pair, (p, delta)) in enumerate(sorted(tests.items(), key=lambda test: test[1][0])):
        still = still and p * (len(tests) - step) < 0.05
        if still:
            better.add(pair if delta > 0 else pair[::-1])
    return [entries - sum((i, j) in better for j in range(entries)) for i in range(entries)]


@pytest.mark.parametrize("order_by", ["macro", "overall", 2])
@pytest.mark.parametrize("seed", range(2))
def test_where_labels_are_hidden_rank_ranges_are_those_of_pair_by_pair_tests_by_holm(order_by, seed):
    correct, category = judges_of_shared_difficulty(seed)
    expected = slow_worst(correct.tolist(), category.tolist(), order_by=order_by)
    tests = paired_tests(correct, order_parts(category, order_by), exact=order_by != "macro")
    assert rank_ranges(len(correct), tests).worst.tolist() == expected
    assert len(set(expected)) > 1


def judges_of_shared_difficulty(seed, judges=9, *, items=240):
    rng = np.random.default_rng(seed)
    category = rng.choice([-1, 0, 1, 2], size=items, p=[0.1, 0.2, 0.4, 0.3])
    ability, difficulty = rng.normal(scale=1.0, size=(judges, 1)), rng.normal(size=items)
    return ability - difficulty + rng.normal(scale=0.4, size=(judges, items)) > 0, category


def slow_step_down(tests, correct, *, parts, draws):
    """Romano and Wolf by the book: one draw, one pair at a time."""

    def deviation(entry, draw):
        return sum(
            sum(draw[n] * (correct[entry][n] - correct[entry][part].mean()) for n in np.flatnonzero(part)) / part.sum()
            for part in parts
        ) / len(parts)

    def error(i, j):
        return math.sqrt(
            sum(((correct[i][part] - correct[j][part].astype(float)).var() / part.sum()) for part in parts)
        ) / len(parts)

    pairs = list(zip(tests.first.tolist(), tests.second.tolist(), strict=True))
    errors = {pair: error(*pair) for pair in pairs}
    found = [[deviation(entry, draw) for entry in range(len(correct))] for draw in draws]
    deviates = {pair: -NormalDist().inv_cdf(max(p, 1e-300) / 2) for pair, p in zip(pairs, tests.p, strict=True)}
    rejected, new = set(), True
    while new:
        rest = [pair for pair in pairs if pair not in rejected and errors[pair] > 0]
        largest = sorted(max((abs(d[i] - d[j]) / errors[i, j] for i, j in rest), default=0.0) for d in found)
        limit = largest[math.ceil(0.95 * (len(draws) + 1)) - 1]
        new = {pair for pair in pairs if pair not in rejected and deviates[pair] > limit}
        rejected |= new
    return [pair in rejected for pair in pairs]


@pytest.mark.parametrize("order_by", ["macro", "overall", 1])
@pytest.mark.parametrize("seed", range(3))
def test_pairs_differ_as_the_step_down_procedure_by_the_book_says(order_by, seed):
    correct, category = judges_of_shared_difficulty(seed, 6, items=150)
    parts = order_parts(category, order_by)
    tests = paired_tests(correct, parts, exact=order_by != "macro")
    draws = normal_draws(150)[:60]
    found = step_down(tests, influence(correct, parts), draws=draws)
    assert found.tolist() == slow_step_down(tests, correct, parts=parts, draws=draws)
    assert found.any()


def test_a_judge_rarely_differs_significantly_from_its_equals():
    """Family-wise error under equal ability: at most .05; of 120 simulated boards that is at most 12 (p = .01). So is
    the chance that one of the truly best is said not to be first."""
    wrong, out, draws = 0, 0, normal_draws(400)
    parts = order_parts(np.arange(400) % 3)
    for seed in range(120):
        rng = np.random.default_rng(seed)
        difficulty = rng.random(400)
        correct = rng.random((8, 400)) < difficulty
        found = ranges_over(correct, parts, exact=False, draws=draws)
        wrong += (found.worst < 8).any()
        out += found.best[0] > 1
    assert wrong <= 12
    assert out <= 12


def test_the_best_of_many_equal_variants_beats_an_equal_rival_no_more_often_than_one_judge_would():
    plain, fair, draws = 0, 0, normal_draws(600)
    for seed in range(60):
        rng = np.random.default_rng(seed)
        base = rng.random(600) < 0.65
        variants = np.where(rng.random((12, 600)) < 0.35, rng.random((12, 600)) < 0.65, base)
        variants = variants[np.argsort(-variants.mean(axis=1))]
        both = np.stack([variants[0], rng.random(600) < 0.65])
        parts = [np.ones(600, dtype=bool)]
        near = select_best(variants, parts).near
        plain += ranges_over(both, parts, exact=True, draws=draws).worst[0] == 1
        fair += ranges_over(both, parts, exact=True, tried={0: near}, draws=draws).worst[0] == 1
    assert plain > 5  # of 1.5 that one judge is allowed
    assert fair <= 3


def test_one_entry_is_surely_first_and_identical_entries_share_every_rank():
    category = np.zeros(10, dtype=int)
    alone = ranges_by(np.ones((1, 10)), category)
    assert (alone.best.tolist(), alone.worst.tolist()) == ([1], [1])
    equal = ranges_by(np.ones((3, 10)), category)
    assert (equal.best.tolist(), equal.worst.tolist()) == ([1, 1, 1], [3, 3, 3])
