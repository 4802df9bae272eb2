"""Rules against a slow reading of their words, and the share of wrong labels against a simulation."""

from __future__ import annotations

import random

import numpy as np
import pandas as pd
import pytest

from vlrb.common.command_line import CommandError
from vlrb.editions.runs import WRONG, WRONG_IN_ALL, as_verdicts, kept_by
from vlrb.editions.wrong_labels import true_shares, wrong_share

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
    with pytest.raises(CommandError, match="--rule"):
        kept_by(rule, verdicts(random.Random(1), 10))


@pytest.mark.parametrize("independent", [True, False])
def test_the_share_of_wrong_labels_is_that_of_a_simulation(independent: bool) -> None:
    judge, chances = np.array(JUDGES), {"better": np.array([0.6, 0.5, 0.8]), "worse": np.array([0.2, 0.4, 0.2])}
    share = wrong_share("wrong >= 3/6", JUDGES, **chances, prior=0.1, independent=independent)
    dice = np.random.default_rng(5)
    label_wrong = dice.random(200_000) < 0.1
    draws = dice.random((200_000, 6))[:, range(6) if independent else judge]
    better, worse = draws < chances["better"][judge], draws > 1 - chances["worse"][judge]
    stays = np.where(label_wrong[:, None], better, worse).sum(axis=1) >= 3
    assert share == pytest.approx(label_wrong[stays].mean(), abs=0.01)


@pytest.mark.parametrize(("label_error", "expected"), [(0.01, 0.5899), (0.05, 0.9309), (0.20, 0.99997)])
def test_accuracies_measured_against_wrong_labels_are_corrected_for_them(label_error: float, expected: float) -> None:
    """Four judges that agree with 77% of the labels; recomputed by a script that imports nothing of the project."""
    right, wrong = np.full(4, 0.77), np.full(4, 0.23)
    better, worse = true_shares(right, wrong, label_error=label_error)
    share = wrong_share(WRONG_IN_ALL, range(4), better=better, worse=worse, prior=label_error, independent=True)
    assert share == pytest.approx(expected, abs=0.00005)


@pytest.mark.parametrize("independent", [True, False])
def test_too_many_runs_have_no_figure_rather_than_a_wrong_one(independent: bool) -> None:
    chances = {"better": np.array([0.6]), "worse": np.array([0.4])}
    share = wrong_share(WRONG_IN_ALL, (0,) * 20, **chances, prior=0.1, independent=independent)
    assert (share is None) == independent
