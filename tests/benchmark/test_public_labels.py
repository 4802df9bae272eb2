"""Files made of public labels are told from judges, as far as that is possible at all."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pytest

from benchmark import anomalies
from benchmark.anomalies import like_public_labels, runs_z
from benchmark.items import ItemTable
from benchmark.statistics.reliability import majority
from benchmark.votes import UNDECIDED
from predictions.parse import parse_predictions
from tests.factories.specs import VL
from tests.real_data import real_file
from workers.labels.loader import load_labels

N = 1247
GROUPS = np.repeat(np.arange(7), 179)[:N]
REAL = (
    "predictions/vl-reward-model_qwen2vl7b_reward.json",
    "predictions/vl-reward-model_qwen2vl7b_judge.json",
    "tools/lmms_061.jsonl",
    "tools/official_k3.jsonl",
    "tools/vlmeval_tsv.tsv",
)


def labels(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 2, N).astype(np.int8)


def test_the_runs_test_has_the_mean_and_variance_of_all_orders() -> None:
    """The slow oracle: every order of a short sequence."""
    for ones, zeros in ((2, 3), (4, 2), (3, 4)):
        orders = set(permutations([True] * ones + [False] * zeros))
        runs = [1 + sum(a != b for a, b in pairwise(order)) for order in orders]
        for order, count in zip(orders, runs, strict=True):
            assert runs_z([np.array(order)]) == pytest.approx((count - np.mean(runs)) / np.std(runs))


def test_sequences_are_tested_together_and_constant_ones_not_at_all() -> None:
    dice = np.random.default_rng(1)
    assert runs_z([]) == runs_z([np.ones(50, dtype=bool), np.zeros(3, dtype=bool)]) == 0.0
    values = [runs_z([dice.random(60) < 0.3, dice.random(200) < 0.8]) for _ in range(2000)]
    assert abs(np.mean(values)) < 0.08
    assert 0.93 < np.std(values) < 1.07


@pytest.mark.parametrize("flipped", [False, True])
@pytest.mark.parametrize("left_out", [0.0, 0.5, 0.9])
def test_public_labels_or_their_complement_strike_whatever_is_left_out(left_out: float, flipped: bool) -> None:
    dice = np.random.default_rng(2)
    votes = labels() ^ flipped
    votes[dice.choice(N, 40, replace=False)] ^= 1
    votes[dice.random(N) < left_out] = UNDECIDED
    assert like_public_labels(votes, labels(), groups=GROUPS)


@pytest.mark.parametrize("width", [20, 60, 300])
def test_public_labels_that_are_turned_over_in_blocks_strike(width: int) -> None:
    votes = labels() ^ (np.arange(N) // width % 2).astype(np.int8)
    seen = like_public_labels(votes, labels(), groups=GROUPS)
    assert seen is not None and seen["runs_below_chance_sd"] > anomalies.BLOCKS_FROM


def test_no_judge_strikes_however_good_and_though_sources_are_unequally_hard() -> None:
    dice = np.random.default_rng(3)
    for _ in range(300):
        skill = dice.uniform(0.1, 0.93, 7)[GROUPS]
        votes = labels() ^ (dice.random(N) > skill).astype(np.int8)
        votes[dice.random(N) < 0.07] = UNDECIDED
        assert like_public_labels(votes, labels(), groups=GROUPS) is None


def test_what_is_turned_over_at_random_places_looks_like_a_judge() -> None:
    """The limit of it, in docs/security.md too."""
    dice = np.random.default_rng(4)
    assert like_public_labels(labels() ^ (dice.random(N) < 0.3).astype(np.int8), labels(), groups=GROUPS) is None


def test_a_handful_of_decided_pairs_means_nothing() -> None:
    votes = np.full(N, UNDECIDED, dtype=np.int8)
    votes[:29] = labels()[:29]
    assert like_public_labels(votes, labels(), groups=GROUPS) is None
    votes[29] = labels()[29]
    assert like_public_labels(votes, labels(), groups=GROUPS)


def test_verdicts_come_back_from_their_planes() -> None:
    made = np.random.default_rng(5).choice(np.array([0, 1, UNDECIDED], dtype=np.int8), size=(5, N))
    for one, packed in zip(made, anomalies.pack_bits(made), strict=True):
        assert (anomalies.unpacked(packed, N) == one).all()


@pytest.mark.parametrize("name", REAL)
def test_files_of_real_judges_and_tools_do_not_strike(name: str) -> None:
    table = ItemTable.load(VL)
    public = load_labels(str(real_file("data/items_meta_v0.jsonl")), "v0", table=table).preferred
    votes = parse_predictions(real_file(f"data/{name}").read_bytes(), table).votes.matrix
    verdicts = majority(votes[np.newaxis])[0]
    assert like_public_labels(verdicts, public, groups=table.source_index) is None
    decided = (verdicts >= 0) & (public >= 0)
    groups = [(verdicts == public)[decided & (table.source_index == group)] for group in range(7)]
    assert abs(runs_z(groups)) < 2
