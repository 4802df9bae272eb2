"""Self-preference against a slow count over pairs and judges."""

from __future__ import annotations

import numpy as np
import pytest

from tests.factories.labels import labels, table
from tests.factories.specs import VL
from vlrb.benchmarks.items import ItemTable
from vlrb.statistics.self_preference import family_of, self_preference_json, self_preferences, worse_by_family
from vlrb.statistics.uncertainty import paired_interval


def test_a_judge_that_likes_its_own_family_is_told_from_one_that_does_not() -> None:
    dice = np.random.default_rng(2)
    worse = np.where(dice.random(600) < 0.3, dice.integers(0, 2, 600), -1).astype(np.int8)
    verdicts = np.where(dice.random((8, 600)) < 0.3, worse, 1 - worse).astype(np.int8)
    verdicts[0] = np.where(dice.random(600) < 0.6, worse, 1 - worse)
    verdicts[1, dice.random(600) < 0.4] = -1  # abstains
    verdicts[:, worse < 0] = 0
    found = self_preferences(verdicts, worse)
    for judge, one in enumerate(found):
        pairs = [at for at in range(600) if worse[at] >= 0 and verdicts[judge, at] >= 0]
        b = c = 0.0
        for at in pairs:
            others = [verdicts[other, at] for other in range(8) if other != judge and verdicts[other, at] >= 0]
            share = sum(verdict == worse[at] for verdict in others) / len(others)
            chosen = verdicts[judge, at] == worse[at]
            b, c = b + chosen * (1 - share), c + (not chosen) * share
        assert one is not None and one.pairs == len(pairs)
        assert one.value == pytest.approx((b - c) / len(pairs), abs=1e-5)
        assert (one.low, one.high) == pytest.approx(paired_interval(b, c, n=len(pairs)), abs=1e-5)
        assert one.value == pytest.approx(one.own - one.others, abs=1e-5)
        assert (one.low > 0) == (judge == 0)


def test_nothing_is_said_of_few_pairs_or_judges() -> None:
    worse = np.where(np.arange(200) < 29, 1, -1).astype(np.int8)
    assert self_preferences(np.ones((5, 200), dtype=np.int8), worse) == [None] * 5
    worse[:40] = 1
    assert self_preferences(np.ones((2, 200), dtype=np.int8), worse) == [None] * 2
    assert all(self_preferences(np.ones((3, 200), dtype=np.int8), worse))


@pytest.mark.parametrize(
    ("name", "family"),
    [("Qwen/Qwen2-VL-7B", "qwen"), ("GPT-4o", "gpt"), ("chatgpt", ""), ("Claude 3.5", "claude"), ("", "")],
)
def test_the_family_is_the_first_that_the_name_of_the_base_model_begins_a_word_with(name: str, family: str) -> None:
    assert family_of(name, ("gpt", "claude", "qwen")) == family


def test_the_items_name_who_wrote_the_worse_response_and_others_say_nothing() -> None:
    real = ItemTable.load(VL)
    known = worse_by_family(labels(real), real)
    assert {"gpt", "claude", "qwen", "llava"} <= known.keys()
    assert (known["gpt"] >= 0).sum() > 100
    written = (known["gpt"] >= 0) & (known["claude"] >= 0)
    assert not written.any(), "one response has one author"
    invented = table()
    assert (
        self_preference_json(
            ["a"], np.zeros((1, len(invented)), dtype=np.int8), labels=labels(invented), table=invented
        )
        == {}
    )
