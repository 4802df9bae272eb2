"""Reported results that come with the definitions: rows with ids of their own, judges that are the same everywhere."""

from __future__ import annotations

import html
import re
from statistics import fmean

import pytest
import yaml
from starlette.testclient import TestClient

from benchmark.spec import load_spec
from leaderboard.board import reported_definitions
from leaderboard.board.reported_results import ReportedFigures, load_published, mixed_definitions
from leaderboard.board.rows import build_board
from leaderboard.render import overall_of
from leaderboard.share import hub_eval_results
from leaderboard.share.summary import summarize
from tests.factories.three_benchmarks import application, board_of, boards

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


def _result(name: str, place: str) -> ReportedFigures:
    found = [row for benchmark in OTHERS for row in load_published(load_spec(benchmark))]
    return next(row for row in found if (row.name, row.place) == (name, place))


@pytest.mark.parametrize(
    ("name", "place", "remark"),
    [
        ("GPT-4o", "Table 8", "no count gives ACC+ 26.01"),
        ("SliME-8B", "Table 8", "no count gives Video 7.52, ACC 17.10, ACC+ 1.76"),
        ("BaseReward (Qwen2.5-VL)", "Table 8", "no count gives Choice 95.74, Long 97.38, Short 94.13"),
        ("NVLM-D", "Table 8", ""),  # prints 50 and 40 beside figures with two decimals
        ("MM-RLHF-Reward", "Table 8", ""),
        ("BaseReward (ensemble)", "Table 10", "fits no definition of overall"),
        ("BaseReward (Qwen2-VL)", "Table 10", ""),
        ("GPT-4o", "Table 10", ""),
        ("Proxy-GRM", "", ""),
    ],
)
def test_the_remark_beside_a_result_is_what_arithmetic_says_of_it(name: str, place: str, remark: str) -> None:
    assert _result(name, place).remark == remark


def test_an_overall_that_stands_under_another_definition_than_it_fits_is_named() -> None:
    spec = load_spec("multimodal-rewardbench")
    figures = dict(_result("GPT-4o", "Table 10").figures)
    figures["micro"] = figures.pop("mean-of-seven")
    check = reported_definitions.check_reported(figures, spec)
    assert check is not None
    stated = reported_definitions.stated_overall(figures, spec)
    assert reported_definitions.remark(check, stated) == "fits Mean of 7, not Overall"


def test_a_table_that_mixes_definitions_in_one_column_is_told_at_each_of_its_rows_alone() -> None:
    rows = load_published(load_spec("multimodal-rewardbench"))
    mixed = {row.name: mixed_definitions(row, rows) for row in rows}
    assert mixed.pop("Proxy-GRM") == ()
    assert set(mixed.values()) == {("mean-of-seven", "micro")}
    other = load_published(load_spec("mm-rlhf-rewardbench"))
    assert not any(mixed_definitions(row, other) for row in other)


def test_a_reported_figure_has_an_interval_only_where_its_number_of_pairs_is_known() -> None:
    sizes = _result("GPT-4o", "Table 10").denominators
    assert (sizes["correctness"], sizes["math"], "micro-released" in sizes) == (623, 514, False)
    assert _result("BaseReward (Qwen2-VL)", "Table 10").denominators["micro-released"] == 4711
    for name, place in (("BaseReward (ensemble)", "Table 10"), ("Proxy-GRM", ""), ("R1-Reward", "Table 8")):
        assert not _result(name, place).denominators


@pytest.fixture(scope="module")
def visitor() -> TestClient:
    return TestClient(application(boards(3)))


def test_one_click_on_a_reported_entry_fills_the_check_and_gives_its_finding(visitor: TestClient) -> None:
    for name, place, shown in (
        ("GPT-4o", "Table 8", ('value="58.23"', 'value="26.01"', "No count of pairs gives the printed ACC+")),
        ("GPT-4o", "Table 10", ('value="70.8"', 'value="69.0"', "The overall is “mean-of-seven”")),
    ):
        result = _result(name, place)
        page = visitor.get(f"/b/{result.spec.id}/entries/{result.id}").text
        assert shown[-1] in page
        link = re.search(r'href="([^"]*/check-numbers\?[^"]*)"', page)
        assert link is not None
        answer = visitor.get(html.unescape(link[1])).text
        assert [text for text in shown if text not in answer] == []


def test_a_reported_entry_says_where_its_intervals_come_from_or_that_it_has_none(visitor: TestClient) -> None:
    sized, grouped = (_result("GPT-4o", place) for place in ("Table 10", "Table 8"))
    page = visitor.get(f"/b/{sized.spec.id}/entries/{sized.id}").text
    assert re.search(r"<title>95% interval\s+6\d\.\d", page)
    assert "Safety: bias 508 and Visual question answering 1,198 are inferred" in page
    page = visitor.get(f"/b/{grouped.spec.id}/entries/{grouped.id}").text
    assert "No intervals: pairs of one question are right or wrong together" in page


def test_other_results_of_a_judge_show_the_overall_that_they_state() -> None:
    spec = load_spec("multimodal-rewardbench")
    board = build_board(board_of(spec, [0.8]), spec, published=load_published(spec))
    rows = {row.tier: row for row in board.rows}
    row = board.find(_result("GPT-4o", "Table 10").id)
    assert row is not None
    assert (overall_of(row, board), overall_of(rows["scored"], board)) == ("mean-of-seven", "micro")


def test_the_page_of_a_judge_says_what_arithmetic_says_of_each_report(visitor: TestClient) -> None:
    page = visitor.get("/judges/gpt-4o").text
    assert "ACC+ 26.01 is no count of 46 groups: 11 of 46 is 23.91, 12 of 46 is 26.09." in page
    assert "The overall column of arXiv:2509.16127, Table 10 mixes “mean-of-seven” and “micro”" in page
    cells = visitor.get("/api/v1/judges/gpt-4o").json()["benchmarks"]
    (mm_rlhf,), (mmrb,) = (cells[name]["reported"] for name in OTHERS)
    assert (mm_rlhf["arithmetic"], mm_rlhf["mixed"]) == ("no count gives ACC+ 26.01", [])
    assert (mmrb["arithmetic"], mmrb["mixed"]) == (None, ["mean-of-seven", "micro"])
    assert mmrb["finding"].startswith("The overall is “mean-of-seven”.")


def test_a_board_of_a_part_keeps_the_overalls_that_papers_report() -> None:
    spec = load_spec("multimodal-rewardbench")
    body = board_of(spec, [0.8])
    for tally in (entry["tallies"]["v2"] for entry in body["entries"]):
        tally["counts"][spec.source_keys.index("vqa")] = [0] * len(tally["counts"][0])
    board = build_board(body, spec, published=load_published(spec))
    assert "mean-of-seven" in board.values and "mean-of-seven" not in board.counted_values
    assert {"vqa", "micro-5211"}.isdisjoint(board.values), "no pairs, and nobody states it"
    (row,) = (row for row in board.rows if row.id == _result("GPT-4o", "Table 10").id)
    assert row.scores["mean-of-seven"] == 0.708
    assert summarize(row, board).score.startswith("Mean of 7 70.8")
    tasks = yaml.safe_load(hub_eval_results.dataset_definition(board))["tasks"]
    assert [task["id"] for task in tasks] == list(board.counted_values)


def test_results_of_another_definition_than_the_order_stand_by_their_own_value() -> None:
    spec = load_spec("multimodal-rewardbench")
    board = build_board(board_of(spec, [0.8]), spec, published=load_published(spec))
    reported = [row for row in board.rows if row.tier == "reported"]
    shares = [row.scores["micro-released"] for row in reported[:3]]
    means = [row.scores["mean-of-seven"] or 0.0 for row in reported[3:]]
    assert (shares, means) == ([0.736, 0.728, 0.687], sorted(means, reverse=True))


def test_a_reported_entry_shows_what_its_source_prints_and_no_empty_lines(visitor: TestClient) -> None:
    result = _result("GPT-4o", "Table 10")
    page = visitor.get(f"/b/{result.spec.id}/entries/{result.id}").text
    table = page.partition("Figures as published")[2].partition("</table>")[0]
    assert (">69.0<" in table, ">72.0<" in table, "–<" in table, "toxicity" in table) == (True, True, False, False)
    assert "Mean of 7 70.8" in page.partition("How to cite")[2]


def test_a_scored_entry_of_a_pair_benchmark_speaks_of_its_own_overall(visitor: TestClient) -> None:
    page = visitor.get("/b/mm-rlhf-rewardbench/entries/e20000000000").text
    assert "Strict ACC with its 95% interval" in page
    assert "note = {ACC " in page
    assert "micro accuracy" not in page
    assert re.search(r"entry\. <a [^>]*><u>\.eval_results", page)
    board = visitor.get("/b/multimodal-rewardbench/").text
    assert "file v" not in board and "file part" not in board
