"""Records for other sites, for each of the three benchmarks: valid by their schemas, with its names and sizes."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
import yaml
from huggingface_hub import parse_eval_result_entries

from leaderboard.board.query import BoardQuery
from leaderboard.board.rows import Board, build_board
from leaderboard.share import hub_eval_results
from leaderboard.share.exports import FORMATS, EntryFacts, extract
from tests.factories.three_benchmarks import SERVED, board_of
from tests.leaderboard.share.test_every_eval_ever import SCHEMA, problems
from vlrb.benchmarks.spec_file import load_spec

BASE = "https://board.example"


def made(benchmark: str) -> tuple[dict[str, Any], Board]:
    spec = load_spec(benchmark)
    body = board_of(spec, [0.8, 0.6])
    return body, replace(build_board(body, spec), snapshot_id="5f0c" * 16)


def records(benchmark: str) -> tuple[Board, list[Any]]:
    body, board = made(benchmark)
    facts = EntryFacts({one["id"]: one for one in body["entries"]}.get, "1", base=BASE)
    taken = extract(board, BoardQuery(board.spec), address=BASE, facts=facts)
    return board, json.loads(FORMATS["eee.json"].write(taken))


@pytest.mark.parametrize("benchmark", SERVED)
def test_every_accuracy_is_in_a_valid_record(benchmark: str) -> None:
    board, found = records(benchmark)
    assert len(found) == 2
    for record in found:
        assert not list(problems(record, SCHEMA))
        assert record["eval_library"]["name"] == f"{benchmark}-leaderboard"
        names = [one["metric_config"]["metric_id"] for one in record["evaluation_results"]]
        assert names == [f"{benchmark}.{name}" for name in board.values]
        for one in record["evaluation_results"]:
            bounds = one["score_details"]["uncertainty"]["confidence_interval"]
            assert bounds["lower"] <= one["score_details"]["score"] <= bounds["upper"]
            number = one["score_details"]["uncertainty"]["num_samples"]
            assert one["source_data"].get("samples_number", number) == number > 0


def test_groups_are_said_to_be_groups_and_counted_as_such() -> None:
    _, (record, _) = records("mm-rlhf-rewardbench")
    (groups,) = (one for one in record["evaluation_results"] if one["metric_config"]["metric_id"].endswith("acc-plus"))
    assert groups["source_data"]["samples_number"] == 20
    assert "every pair is judged" in groups["metric_config"]["evaluation_description"]


def test_a_mean_is_over_the_pairs_of_its_categories_and_a_dataset_elsewhere_has_its_address() -> None:
    board, (record, _) = records("multimodal-rewardbench")
    by_name = {one["metric_config"]["metric_id"].partition(".")[2]: one for one in record["evaluation_results"]}
    mean = by_name["mean-of-seven"]
    without_toxicity = board.sizes["micro"] - board.sizes["toxicity"]
    assert mean["score_details"]["uncertainty"]["num_samples"] == without_toxicity
    assert mean["source_data"]["url"] == [board.spec.dataset]


@pytest.mark.parametrize("benchmark", SERVED)
def test_the_hub_gets_the_tasks_that_its_definition_declares(benchmark: str) -> None:
    body, board = made(benchmark)
    row = next(row for row in board.rows if row.tier == "scored")
    declared = yaml.safe_load(hub_eval_results.dataset_definition(board))
    assert (declared["name"], declared["evaluation_framework"]) == (board.spec.title, benchmark)
    if board.spec.hub_dataset:
        facts = next(one for one in body["entries"] if one["id"] == row.id)
        found = yaml.safe_load(hub_eval_results.eval_results(facts, row, board=board, address=BASE))
        tasks = {task["id"] for task in declared["tasks"]}
        assert {one.task_id for one in parse_eval_result_entries(found)} == tasks
    else:
        assert str(hub_eval_results.refusal(row, board)).startswith(f"{board.spec.title} is not a dataset")
        assert hub_eval_results.not_counted(row, board) is None  # other records need no Hub


@pytest.mark.parametrize(
    ("benchmark", "names"),
    [
        ("vl-rewardbench", {"macro": "Macro accuracy", "overall": "Overall accuracy"}),
        ("multimodal-rewardbench", {"micro": "Overall accuracy", "mean-of-seven": "Mean of 7"}),
        ("mm-rlhf-rewardbench", {"micro": "ACC", "acc-plus": "ACC+", "mean-of-five": "Mean of 5"}),
    ],
)
def test_a_metric_has_the_name_of_its_benchmark_and_a_mean_is_not_called_a_share(
    benchmark: str, names: dict[str, str]
) -> None:
    board, (record, _) = records(benchmark)
    metrics = {one["metric_config"]["metric_id"].partition(".")[2]: one for one in record["evaluation_results"]}
    for key, name in names.items():
        config = metrics[key]["metric_config"]
        assert config["metric_name"] == name
        assert ("Share of pairs" in config["evaluation_description"]) is (key in (board.spec.pooled,))
        assert ("edition" in config["metric_parameters"]) is (board.spec.fields is not None)
