"""Reported results that come with the definitions: rows with ids of their own, judges that are the same everywhere."""

from __future__ import annotations

from statistics import fmean

import pytest

from benchmark.spec import load_spec
from leaderboard.board.reported_results import load_published

OTHERS = ("mm-rlhf-rewardbench", "multimodal-rewardbench")


def test_an_id_names_one_row_of_all_benchmarks() -> None:
    rows = [row.id for name in ("vl-rewardbench", *OTHERS) for row in load_published(load_spec(name))]
    assert len(rows) == len(set(rows)) > 130


@pytest.mark.parametrize("name", OTHERS)
def test_each_judge_of_another_benchmark_is_one_of_the_first(name: str) -> None:
    first = {row.judge for row in load_published(load_spec("vl-rewardbench"))}
    assert {row.judge for row in load_published(load_spec(name))} <= first


def test_an_overall_of_multimodal_rewardbench_stands_under_the_definition_that_it_fits() -> None:
    spec = load_spec("multimodal-rewardbench")
    mixed = 0
    for row in load_published(spec):
        parts = [row.figures[key] for key in spec.parts_of("mean-of-seven")]
        known = [value for value in parts if value is not None]
        if len(known) == 7:
            fits = abs(fmean(known) - (row.figures["mean-of-seven"] or 0)) <= 0.11
            assert fits is (row.figures["micro-released"] is None)
            mixed += not fits
    assert mixed == 3, "the three rows of BaseReward print a share of all pairs in the column of means"


def test_an_accuracy_of_mm_rlhf_is_a_number_of_170_pairs_or_its_table_is_known_to_round() -> None:
    micro = [row.figures["micro"] for row in load_published(load_spec("mm-rlhf-rewardbench"))]
    whole = [value for value in micro if abs(round(value * 1.7) / 1.7 - value) < 0.006]
    assert (len(micro), len(whole)) == (17, 14)
