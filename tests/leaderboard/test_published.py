"""Published results: their form, what was left out, and the arithmetic."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from benchmark.uncertainty import wilson
from leaderboard.board import build_board
from leaderboard.published import Published, load_published
from leaderboard.render import safe_link
from leaderboard.site import empty_snapshot

RESULTS = load_published()
SOURCE_FILE = Path(__file__).parents[3] / "shared" / "reference" / "published.json"
FIGURES = ("general", "hallucination", "reasoning", "overall", "macro")
OURS = {
    "organisation": "organisation",
    "base_model": "base_model",
    "params_b": "parameters_b",
    "open": "open_weights",
    "date": "date",
    "judge_type": "judge_type",
}


def raw() -> list[dict[str, Any]]:
    path = Path(__file__).parents[2] / "leaderboard" / "published.json"
    rows: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return rows


@pytest.mark.parametrize("row", raw(), ids=lambda row: row["id"])
def test_every_row_has_a_name_figures_and_a_source_that_can_be_opened(row: dict[str, Any]) -> None:
    required = {"id", "name", *FIGURES, "source", "url"}
    optional = {*OURS.values(), "votes_per_item", "place", "notes"}
    assert required <= row.keys() <= required | optional
    assert re.fullmatch(r"r-[a-z0-9-]{3,80}", row["id"])
    assert row["name"]
    assert row["source"]
    assert safe_link(row["url"]) == row["url"]
    assert any(row[name] is not None for name in ("overall", "macro"))
    assert all(row[name] is None or 0 <= row[name] <= 100 for name in FIGURES)
    assert re.fullmatch(r"\d{4}-\d{2}(-\d{2})?", row.get("date", "2025-01"))
    assert row.get("judge_type", "critic") in ("generative-pairwise", "generative-pointwise", "scalar", "critic")
    assert None not in (row[name] for name in row.keys() & optional), "what is not known is left out"


def test_ids_are_unique_and_rows_of_one_name_differ_in_source() -> None:
    assert len({row.id for row in RESULTS}) == len(RESULTS)
    assert len({(row.name, row.source) for row in RESULTS}) == len(RESULTS)


@pytest.mark.skipif(not SOURCE_FILE.exists(), reason="the collection that the results were taken from is not here")
def test_nothing_survived_that_was_only_remembered_and_figures_are_as_collected() -> None:
    collected = json.loads(SOURCE_FILE.read_text(encoding="utf-8"))
    for row in raw():
        same = [
            one
            for one in collected
            if all(one[name] == row[name] for name in FIGURES)
            and row["source"].split(":")[-1].split("/")[0].split(",")[0].split(" ")[0] in one["source"]
        ]
        assert same, f"{row['id']} is not in the collection"
        for one in same:
            remembered = {OURS[name] for name in one["metadata_from_memory"]}
            assert not remembered & row.keys(), row["id"]


@pytest.mark.skipif(not SOURCE_FILE.exists(), reason="the collection that the results were taken from is not here")
def test_results_known_at_second_hand_are_left_out() -> None:
    doubtful = re.compile(r"paper notes|secondary|AI-written|not stated", re.IGNORECASE)
    names = {one["name"] for one in json.loads(SOURCE_FILE.read_text()) if doubtful.search(one["source"])}
    assert not {row.name for row in RESULTS} & names


def named(name: str, source: str = "") -> Published:
    return next(row for row in RESULTS if row.name == name and row.source.startswith(source))


def test_r1_reward_follows_484_448_318_exactly() -> None:
    one = named("R1-Reward")
    assert one.remark == "fits 484/448/318"
    assert one.sizes == (484, 448, 318)
    assert "899/1250 = 71.92" in one.explanation[0]


def test_unifiedreward_think_follows_631_301_318() -> None:
    assert named("UnifiedReward-Think").remark == "fits 631/301/318"


def test_omni_rewardmodel_follows_no_grouping_and_its_correction_the_official_one() -> None:
    assert named("Omni-RewardModel-BT", "arXiv").remark == "fits no grouping"
    assert named("Omni-RewardModel-BT", "OmniReward").remark == ""
    assert named("Omni-RewardModel-BT", "OmniReward").sizes == (183, 749, 318)


def test_a_missing_figure_leaves_nothing_to_check() -> None:
    one = named("InternVL2.5-2B LoRA v1 reward")
    assert (one.check, one.remark, one.sizes) == (None, "", None)


@pytest.mark.skipif(not SOURCE_FILE.exists(), reason="the collection that the results were taken from is not here")
def test_the_check_is_our_own_and_agrees_with_the_collected_one() -> None:
    collected = json.loads(SOURCE_FILE.read_text(encoding="utf-8"))
    for row in RESULTS:
        for one in collected:
            if row.check and all(one[name] == row.figures[name] for name in FIGURES):
                official = any(name.startswith("official") for name in one["check"]["grouping_consistent_within_0.15"])
                assert bool(row.check.overall_ok) == official, row.id


def test_a_macro_that_is_not_the_mean_of_its_categories_has_no_interval() -> None:
    (row,) = build_board(empty_snapshot("vl-rewardbench"), published=[named("LLaVA-Critic-8B")]).rows
    assert row.note == "macro is not the mean"
    assert "macro" not in row.interval


def test_only_figures_whose_denominators_are_known_have_intervals() -> None:
    board = build_board(empty_snapshot("vl-rewardbench"), published=RESULTS)
    known = {one.id: one.sizes for one in RESULTS}
    assert {bool(known[row.id]) for row in board.rows} == {True, False}
    for row in board.rows:
        sizes = known[row.id]
        if sizes is None:
            assert row.interval == {}, row.id
        elif row.general is not None:
            assert row.interval["general"] == pytest.approx(tuple(wilson(row.general * sizes[0], sizes[0])))
