"""Rules against a slow reading of their words, and the share of wrong labels against a simulation."""

from __future__ import annotations

import contextlib
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vlrb.editions.errors import CurateError
from vlrb.editions.label_quality import kept_chances, true_shares
from vlrb.editions.rules import FilterRule, check_counts, kept, read_rule, rule_from_json
from vlrb.editions.runs import RunVerdicts

JUDGES = (0, 0, 0, 1, 1, 2)  # of each run


def verdicts(chance: random.Random, pairs: int) -> RunVerdicts:
    said = np.array([[chance.choice((0, 0, 1, 1, 2)) for _ in JUDGES] for _ in range(pairs)])
    shown = np.array([[chance.choice((0, 1, -1)) for _ in JUDGES] for _ in range(pairs)], dtype=np.int8)
    return RunVerdicts(("x", "y", "z"), np.array(JUDGES, dtype=np.int8), right=said == 0, wrong=said == 1, shown=shown)


def rule(chance: random.Random, depth: int) -> dict[str, Any]:
    kinds = ["wrong-in-all", "wrong-at-least", "judges-wrong-at-least", "unstable"]
    kind = chance.choice([*kinds, "any", "all", "not"] if depth else kinds)
    if kind in ("any", "all", "not"):
        count = 1 if kind == "not" else chance.randrange(1, 4)
        return {"rule": kind, "rules": [rule(chance, depth - 1) for _ in range(count)]}
    return {"rule": kind} | ({} if kind == "wrong-in-all" else {"at_least": chance.randrange(1, 5)})


def slow(data: dict[str, Any], pair: int, *, given: RunVerdicts, undecided_is_wrong: bool) -> bool:
    """Whether a pair stays, run by run."""
    runs = range(len(JUDGES))
    wrong = [bool(given.wrong[pair, i]) or (undecided_is_wrong and not given.right[pair, i]) for i in runs]
    parts = [slow(one, pair, given=given, undecided_is_wrong=undecided_is_wrong) for one in data.get("rules", [])]
    if data["rule"] in ("any", "all", "not"):
        return any(parts) if data["rule"] == "any" else all(parts) if data["rule"] == "all" else not parts[0]
    if data["rule"] == "wrong-in-all":
        return all(wrong)
    if data["rule"] == "wrong-at-least":
        return sum(wrong) >= data["at_least"]
    judges = 0
    for judge in set(JUDGES):
        own = [i for i in runs if JUDGES[i] == judge]
        if data["rule"] == "judges-wrong-at-least":
            judges += sum(wrong[i] for i in own) > len(own) / 2
            continue
        sides = []
        for order in (0, 1):
            here = [i for i in own if given.shown[pair, i] == order]
            right_votes, wrong_votes = (sum(bool(votes[pair, i]) for i in here) for votes in (given.right, given.wrong))
            sides.append("right" if right_votes > len(here) / 2 else "wrong" if wrong_votes > len(here) / 2 else "none")
        judges += set(sides) == {"right", "wrong"}
    return judges >= data["at_least"]


@pytest.mark.parametrize("seed", range(12))
def test_any_rule_keeps_what_its_words_say(seed: int) -> None:
    chance = random.Random(seed)
    given, data, undecided = verdicts(chance, 60), rule(chance, 2), seed % 3 == 0
    found = rule_from_json(data | ({"undecided": "wrong"} if undecided else {}))
    assert kept(found, given).tolist() == [
        slow(data, pair, given=given, undecided_is_wrong=undecided) for pair in range(60)
    ]
    assert rule_from_json(json.loads(json.dumps(found.to_json()))) == found
    assert found.words()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ([], "object"),
        ({"rule": "best"}, "known are"),
        ({"rule": "wrong-at-least", "at_least": 0}, "from 1"),
        ({"rule": "wrong-at-least", "at_least": True}, "from 1"),
        ({"rule": "any", "rules": []}, "list of rules"),
        ({"rule": "not", "rules": [{"rule": "unstable"}, {"rule": "unstable"}]}, "one"),
    ],
)
def test_rules_that_are_none_are_refused(data: Any, said: str, tmp_path: Path) -> None:
    (tmp_path / "rule.json").write_text(json.dumps(data))
    with pytest.raises(CurateError, match=said):
        read_rule(str(tmp_path / "rule.json"))


@pytest.mark.parametrize(
    "text", ["at-least", "at-least:0", "none", "all-wrong:x", "all-wrong:3", "judges:", "judges:\u00b2", "unstable:0"]
)
def test_names_of_rules_on_the_command_line(text: str) -> None:
    with pytest.raises(CurateError):
        read_rule(text)


@pytest.mark.parametrize(("text", "holds"), [("at-least:6", True), ("at-least:7", False), ("judges:3", False)])
def test_a_rule_that_counts_more_than_there_is_is_refused(text: str, holds: bool) -> None:
    inner = FilterRule("not", rules=(FilterRule("any", rules=(read_rule(text),)),))
    with contextlib.nullcontext() if holds else pytest.raises(CurateError, match="2 judges with 6 runs in all"):
        check_counts(inner, runs=6, judges=2)


@pytest.mark.parametrize("undecided_is_wrong", [True, False])
@pytest.mark.parametrize("independent", [True, False])
def test_the_share_of_wrong_labels_is_that_of_a_simulation(independent: bool, undecided_is_wrong: bool) -> None:
    found = FilterRule("wrong-at-least", 3, undecided_is_wrong=undecided_is_wrong)
    runs, accuracies, errors = (2, 2, 1), (0.6, 0.5, 0.8), (0.2, 0.4, 0.2)
    chances = kept_chances(found, runs, accuracies=accuracies, errors=errors, independent_runs=independent)
    assert chances is not None
    dice = np.random.default_rng(5)
    pairs, judge = 200_000, np.repeat(np.arange(3), runs)
    label_wrong = dice.random(pairs) < 0.1
    draws = dice.random((pairs, 5)) if independent else dice.random((pairs, 3))[:, judge]
    better, worse = draws < np.array(accuracies)[judge], draws > 1 - np.array(errors)[judge]
    wrong = np.where(label_wrong[:, None], better, worse) | (undecided_is_wrong & ~better & ~worse)
    stays = wrong.sum(axis=1) >= 3
    assert chances.wrong_share(0.1) == pytest.approx(label_wrong[stays].mean(), abs=0.01)


@pytest.mark.parametrize(
    ("label_error", "expected"), [(0.01, 0.5899), (0.02, 0.7685), (0.05, 0.9309), (0.10, 0.9874), (0.20, 0.99997)]
)
def test_accuracies_measured_against_wrong_labels_are_corrected_for_them(label_error: float, expected: float) -> None:
    """Four judges that agree with 77% of the labels; recomputed by a script that imports nothing of the project."""
    better, worse = true_shares(0.77, 0.23, label_error=label_error)
    assert (1 - label_error) * better + label_error * worse == pytest.approx(0.77)
    rule = FilterRule("wrong-in-all")
    chances = kept_chances(rule, (1,) * 4, accuracies=(better,) * 4, errors=(worse,) * 4, independent_runs=True)
    assert chances is not None
    assert chances.wrong_share(label_error) == pytest.approx(expected, abs=0.00005)


def test_too_many_runs_have_no_figure_rather_than_a_wrong_one() -> None:
    found = FilterRule("wrong-in-all")
    assert kept_chances(found, (20,), accuracies=(0.6,), errors=(0.4,), independent_runs=True) is None
    assert kept_chances(found, (20,), accuracies=(0.6,), errors=(0.4,), independent_runs=False) is not None
