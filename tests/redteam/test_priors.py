"""Knowledge of hidden labels that attackers with a prior gain, for each disclosure level, with and without each rule.

`make attack` runs the long form. Where an attack succeeds under a defence, the test says so: that is a bound too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import pytest

from benchmark.anomalies import like_public_labels
from tests.redteam.attackers import ShownCounts, Vector
from tests.redteam.policy import Secret
from tests.redteam.priors import (
    Defence,
    Level,
    PriorBoard,
    ProbeShape,
    Search,
    corrected,
    run_judge,
    run_sparse,
    sparse,
)

EXACT, ROUNDED = "categories", "overall"
SHAPES: tuple[ProbeShape, ...] = ("null", "complement")


@dataclass
class Recording(PriorBoard):
    """A board that keeps the files."""

    sent_files: list[Vector] = field(default_factory=list)

    def look(self, votes: Vector) -> ShownCounts | None:
        self.sent_files.append(votes.copy())
        return super().look(votes)


@pytest.fixture(scope="module")
def secret() -> Secret:
    return Secret()


def share(secret: Secret, defence: Defence, *, shape: ProbeShape = "complement", seed: int = 1) -> float:
    return run_sparse(secret.truth, secret.categories.of, defence=defence, shape=shape, seed=seed).share


def gain(secret: Secret, defence: Defence, *, shape: ProbeShape = "complement", accuracy: float = 0.85) -> float:
    runs = (
        run_judge(secret.truth, secret.categories.of, defence=defence, shape=shape, seed=seed, accuracy=accuracy)
        for seed in range(5)
    )
    return float(np.mean([run.share for run in runs]))


# A sparse difference -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES)
def test_control_where_categories_are_shown_three_accounts_find_every_pair_that_differs(
    secret: Secret, shape: ProbeShape
) -> None:
    found = run_sparse(secret.truth, secret.categories.of, defence=Defence(EXACT), shape=shape, seed=1)
    assert found.share == 1.0
    assert found.sent <= 36  # three accounts, a year's quota


def test_files_with_few_votes_tell_nothing_before_a_maintainer_has_approved_them(secret: Secret) -> None:
    found = run_sparse(secret.truth, secret.categories.of, defence=Defence(EXACT, nulls=True), shape="null", seed=1)
    assert (found.share, found.shown) == (0.0, 0)


def test_the_rule_about_missing_votes_does_not_stop_pairs_that_are_turned_over(secret: Secret) -> None:
    assert share(secret, Defence(EXACT, nulls=True)) == 1.0


def test_the_ladder_alone_does_not_hide_a_small_correction_from_who_plans_the_scores(secret: Secret) -> None:
    found = run_sparse(
        secret.truth, secret.categories.of, defence=Defence(EXACT, ladder=True), shape="complement", seed=1
    )
    assert found.share > 0.3
    assert found.shown > 24  # each file scores just above the bar


@pytest.mark.parametrize("ladder", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_where_the_overall_alone_is_shown_three_accounts_find_few_pairs_in_a_year(
    secret: Secret, ladder: bool, shape: ProbeShape
) -> None:
    assert share(secret, Defence(ROUNDED, ladder=ladder), shape=shape) <= 0.125


@pytest.mark.slow
def test_control_where_the_overall_alone_is_shown_and_no_quota_holds_every_pair_is_found(secret: Secret) -> None:
    found = run_sparse(
        secret.truth, secret.categories.of, defence=Defence(ROUNDED, files=120), shape="complement", seed=1
    )
    assert found.share == 1.0
    assert 36 < found.sent <= 120


def test_the_files_of_the_attack_strike_maintainers(secret: Secret) -> None:
    """By equality with the public labels where pairs are left out, by runs where stretches are turned over."""
    for shape in SHAPES:
        dice = np.random.default_rng(1)
        public = corrected(secret.truth, secret.categories.of, dice=dice)
        board = Recording(secret.truth, secret.categories.of, defence=Defence(EXACT))
        sparse(public, board, shape=shape, dice=dice)
        seen = [like_public_labels(votes, public, groups=secret.table.source_index) for votes in board.sent_files]
        assert sum(one is not None for one in seen) >= 24


def test_what_remains_possible_is_what_a_slow_search_over_all_places_says() -> None:
    """The slow oracle: after each answer the search allows exactly the sets of pairs that fit all answers."""
    pairs = np.arange(12)
    for places in ([0, 5], [3, 4], [2, 11]):
        search = Search.of(pairs, 2)
        search.settle()
        possible = list(combinations(range(12), 2))
        for _ in range(40):
            if not search.open:
                break
            members, _ = search.open[0]
            half = members[: len(members) // 2]
            answer = np.isin(places, half).sum()
            possible = [one for one in possible if np.isin(one, half).sum() == answer]
            search.keep(search.left[:, 0] == answer)
        assert possible == [tuple(places)]
        assert sorted(search.found().tolist()) == places
        assert len(search.clean()) == 10


# A strong judge as prior ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [EXACT, ROUNDED])
@pytest.mark.parametrize("ladder", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_judge_of_85_percent_gains_less_than_a_point_from_three_accounts_in_a_year(
    secret: Secret, level: Level, ladder: bool, shape: ProbeShape
) -> None:
    assert gain(secret, Defence(level, ladder=ladder), shape=shape) <= 0.01


@pytest.mark.parametrize(("level", "least"), [(EXACT, 0.08), (ROUNDED, 0.02)])
def test_control_without_a_quota_the_same_judge_gains_many_points(secret: Secret, level: Level, least: float) -> None:
    found = run_judge(secret.truth, secret.categories.of, defence=Defence(level, files=400), shape="complement", seed=1)
    assert found.share > least


def test_the_ladder_stops_most_of_what_random_files_tell_who_has_no_prior(secret: Secret) -> None:
    without, under = (gain(secret, Defence(EXACT, ladder=rule), accuracy=0.5000001) for rule in (False, True))
    assert without > 0.08
    assert under < 0.05
