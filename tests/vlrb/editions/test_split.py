"""Matched splits, against slow counting."""

from __future__ import annotations

import random

import pandas as pd
import pytest

from vlrb.editions.edition import HIDDEN, PUBLIC, split

TRAITS = ["id", "category", "source", "difficulty", "words"]


def test_a_split_has_its_share_of_every_category_and_source_and_is_matched() -> None:
    chance = random.Random(1)
    rows = [(str(i), "ab"[i % 2], "xyz"[i % 3], chance.randrange(5) / 4, chance.randrange(300)) for i in range(600)]
    pairs = pd.DataFrame(rows, columns=TRAITS)
    parts = split(pairs, 0.3)
    pairs["part"] = pairs["id"].map(parts)
    for _, held in pairs.groupby(["category", "source"]):
        assert abs((held["part"] == HIDDEN).sum() - 0.3 * len(held)) <= 1
    for trait in ("difficulty", "words"):
        means = pairs.groupby("part")[trait].mean()
        assert abs(means[HIDDEN] - means[PUBLIC]) < 0.1 * pairs[trait].std()
    assert parts == split(pairs[::-1], 0.3)


@pytest.mark.parametrize("share", [0.25, 0.5, 0.75])
@pytest.mark.parametrize("sizes", [(2, 2), (1, 1, 1, 1), (2, 1, 1), (100, 4), (7, 5, 3, 1)])
def test_a_small_split_has_its_share_in_total_and_of_every_category(sizes: tuple[int, ...], share: float) -> None:
    rows = [(f"{c}-{n}", str(c), str(n % 3), 0.5, n) for c, size in enumerate(sizes) for n in range(size)]
    pairs = pd.DataFrame(rows, columns=TRAITS)
    hidden = pairs["id"].map(split(pairs, share)) == HIDDEN
    assert hidden.sum() == int(len(pairs) * share + 0.5)
    by_category = hidden.groupby(pairs["category"]).sum().tolist()
    assert all(abs(number - size * hidden.mean()) < 1 for number, size in zip(by_category, sizes, strict=True))


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_a_split_may_leave_one_part_empty(share: float) -> None:
    pairs = pd.DataFrame([(str(number), "x", "s", 0.5, number) for number in range(4)], columns=TRAITS)
    assert set(split(pairs, share).values()) == {HIDDEN if share else PUBLIC}
