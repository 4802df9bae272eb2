"""Rules against a slow reading of their words."""

from __future__ import annotations

import random

import numpy as np
import pandas as pd
import pytest

from vlrb.editions.errors import CurateError
from vlrb.editions.runs import WRONG, as_verdicts, kept_by

JUDGES = (0, 0, 0, 1, 1, 2)  # of each run


def verdicts(chance: random.Random, pairs: int) -> pd.DataFrame:
    return as_verdicts(np.array([[chance.choice((0, 0, 1, 1, -1)) for _ in JUDGES] for _ in range(pairs)]), JUDGES)


def slow(pair: int, given: pd.DataFrame) -> dict[str, float]:
    """The shares that a rule asks for, run by run."""
    runs, judges = range(len(JUDGES)), set(JUDGES)
    wrong = [bool(given.iloc[pair, i] == WRONG) for i in runs]
    judges_wrong = 0
    for judge in judges:
        own = [i for i in runs if JUDGES[i] == judge]
        judges_wrong += sum(wrong[i] for i in own) > len(own) / 2
    return {"wrong": sum(wrong) / len(JUDGES), "judges_wrong": judges_wrong / len(judges)}


@pytest.mark.parametrize(
    "rule",
    ["wrong == 1", "wrong >= 3/6", "judges_wrong >= 2/3", "judges_wrong > 0 and not wrong >= 5/6"],
)
def test_any_rule_keeps_what_its_words_say(rule: str) -> None:
    given = verdicts(random.Random(5), 200)
    stays = [bool(eval(rule, slow(pair, given))) for pair in range(200)]
    assert kept_by(rule, given).tolist() == stays
    assert 0 < sum(stays) < 200


@pytest.mark.parametrize(
    "rule", ["", "wrong", "best > 1", "wrong ==", "wrong > 'x'", "1 > 0", "import os", "wrong.sum()"]
)
def test_rules_that_are_none_are_refused(rule: str) -> None:
    with pytest.raises(CurateError, match="--rule"):
        kept_by(rule, verdicts(random.Random(1), 10))
