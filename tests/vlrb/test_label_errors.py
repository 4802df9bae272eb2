"""Candidate label errors: planted ones are found, chance is exact, and nobody outvotes others by being many."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from vlrb import demo
from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.labels import LabelSet, make_label_set
from vlrb.label_quality.label_errors import FEWEST, MOST, candidates, distinct_judges, qualified_judges, tail
from vlrb.votes import ABSENT, UNDECIDED, Matrix

PLANTED = 25


@pytest.fixture(scope="module")
def benchmark_and_labels() -> tuple[ItemTable, LabelSet]:
    pairs = demo.demo_pairs()
    table = demo.demo_items(pairs)
    return table, demo.demo_labels(pairs, table)


def judges(labels: LabelSet, abilities: list[float], *, seed: int) -> Matrix:
    """Verdicts that are right with the ability given, less so on pairs that are hard for all, at times undecided."""
    rng = np.random.default_rng(seed)
    items = len(labels.preferred)
    hard = rng.random(items) < 0.15
    chance = np.array(abilities)[:, np.newaxis] - 0.2 * hard
    right = rng.random((len(abilities), items)) < chance
    verdicts = np.where(right, labels.preferred, 1 - labels.preferred)
    verdicts[rng.random(verdicts.shape) < 0.03] = UNDECIDED
    return verdicts.astype(np.int8)


def flipped(labels: LabelSet, table: ItemTable, *, seed: int) -> tuple[LabelSet, set[int]]:
    planted = set(np.random.default_rng(seed).choice(len(table), PLANTED, replace=False).tolist())
    wrong = {i: int(value) ^ (i in planted) for i, value in enumerate(labels.preferred)}
    return make_label_set("wrong", table, preferred=wrong, tags=None), planted


STRONG = [0.93, 0.92, 0.9, 0.89, 0.88, 0.87, 0.86, 0.85, 0.84, 0.82]


@pytest.mark.parametrize("seed", range(4))
def test_planted_label_errors_are_found_and_little_else(
    benchmark_and_labels: tuple[ItemTable, LabelSet], seed: int
) -> None:
    table, labels = benchmark_and_labels
    wrong, planted = flipped(labels, table, seed=seed)
    found = candidates(judges(labels, STRONG, seed=seed), wrong, table=table)
    hits = planted & set(found.items)
    assert len(hits) >= 0.9 * len(found.items)
    assert len(hits) >= 0.6 * PLANTED
    assert found.looked_at == len(table)


def test_nothing_is_proposed_where_labels_are_right_or_judges_near_chance(
    benchmark_and_labels: tuple[ItemTable, LabelSet],
) -> None:
    table, labels = benchmark_and_labels
    assert len(candidates(judges(labels, STRONG, seed=9), labels, table=table).items) <= 2
    wrong, _ = flipped(labels, table, seed=9)
    assert candidates(judges(labels, [0.55] * 12, seed=9), wrong, table=table).looked_at == 0
    assert candidates(judges(labels, [0.7] * 6, seed=9), wrong, table=table).items == ()


def test_a_judge_is_heard_about_the_categories_in_which_it_is_right_on_sixty_percent(
    benchmark_and_labels: tuple[ItemTable, LabelSet],
) -> None:
    table, labels = benchmark_and_labels
    categories = np.array([item.category for item in table.items])
    verdicts = np.tile(labels.preferred, (3, 1))
    general = np.flatnonzero(categories == "general")
    verdicts[1, general[: len(general) // 2]] ^= 1
    verdicts[2] = UNDECIDED
    assert qualified_judges(verdicts, labels, table=table) == {
        "general": (0,),
        "hallucination": (0, 1),
        "reasoning": (0, 1),
    }


def test_too_few_judges_propose_nothing(benchmark_and_labels: tuple[ItemTable, LabelSet]) -> None:
    table, labels = benchmark_and_labels
    wrong, _ = flipped(labels, table, seed=1)
    verdicts = judges(labels, STRONG, seed=1)[: FEWEST - 1]
    assert candidates(verdicts, wrong, table=table).items == ()


def slow_candidates(verdicts: Matrix, labels: LabelSet, *, table: ItemTable) -> set[int]:
    """Return item by item, and every way in which the judges could have erred."""
    chances: dict[int, float] = {}
    for item, one in enumerate(table.items):
        label = labels.preferred[item]
        errors, against = [], 0
        for judge in verdicts:
            others = [i for i, other in enumerate(table.items) if other.category == one.category and i != item]
            same = [i for i in others if judge[i] >= 0]
            right = sum(judge[i] == labels.preferred[i] for i in same)
            if judge[item] < 0 or not same or right / len(same) < 0.6:
                continue
            errors.append(1 - (right + 0.5) / (len(same) + 1))
            against += int(judge[item] != label)
        if len(errors) < FEWEST:
            continue
        chance = 0.0
        for erred in product((0, 1), repeat=len(errors)):
            if sum(erred) >= against:
                chance += float(np.prod([p if bad else 1 - p for p, bad in zip(errors, erred, strict=True)]))
        chances[item] = chance if 3 * against >= 2 * len(errors) else 1.0
    return {item for item, chance in chances.items() if chance * len(chances) <= 0.05}


def test_the_list_is_that_of_a_slow_count_over_all_ways_to_err() -> None:
    pairs = demo.demo_pairs()[1100:1180]
    table = demo.demo_items(pairs)
    labels = demo.demo_labels(pairs, table)
    rng = np.random.default_rng(5)
    planted = set(rng.choice(len(table), 5, replace=False).tolist())
    wrong = make_label_set(
        "wrong", table, preferred={i: int(v) ^ (i in planted) for i, v in enumerate(labels.preferred)}, tags=None
    )
    verdicts = judges(labels, [0.95, 0.94, 0.92, 0.9, 0.88, 0.86], seed=5)
    verdicts[2, :10] = ABSENT
    found = candidates(verdicts, wrong, table=table)
    assert set(found.items) == slow_candidates(verdicts, wrong, table=table) != set()


def test_the_tail_is_the_binomial_one_for_equal_chances() -> None:
    # P(X >= 2) of four fair coins: (6 + 4 + 1) / 16
    assert tail([0.5] * 4, 2) == pytest.approx(11 / 16)
    assert tail([0.1, 0.2], 2) == pytest.approx(0.02)
    assert tail([0.3], 0) == 1


def test_an_account_has_one_voice_and_a_copy_has_none(benchmark_and_labels: tuple[ItemTable, LabelSet]) -> None:
    _, labels = benchmark_and_labels
    verdicts = judges(labels, [0.9] * 4, seed=3)
    nearly = verdicts[0].copy()
    nearly[:5] = 1 - np.abs(nearly[:5])
    everybody = np.concatenate([verdicts, nearly[np.newaxis], verdicts[1:2]])
    assert distinct_judges(everybody, ["x", "y", "y", "z", "puppet", "other"]) == (0, 1, 3)
    many = judges(labels, [0.8] * (MOST + 3), seed=4)
    assert len(distinct_judges(many, [str(n) for n in range(len(many))])) == MOST
