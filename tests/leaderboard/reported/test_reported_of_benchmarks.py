"""Reported results that come with the definitions: rows with ids of their own, judges that are the same everywhere."""

from __future__ import annotations

import html
import json
import re
from itertools import groupby

import pytest
from starlette.testclient import TestClient

from leaderboard.judges.table import judge_lines, sorted_lines
from leaderboard.ranking.opening import finding
from leaderboard.ranking.reported_results import ReportedFigures, by_judge, load_published, mixed_definitions
from leaderboard.ranking.rows import build_board
from leaderboard.share.summary import summarize
from leaderboard.site.render import overall_of
from tests.factories.board_app import board_app
from tests.factories.three_benchmarks import application, board_of, boards
from vlrb.benchmarks.spec_file import load_spec
from vlrb.numbers.reported import check_reported

OTHERS = ("mm-rlhf-rewardbench", "multimodal-rewardbench")


def test_an_id_names_one_row_of_all_benchmarks() -> None:
    rows = [row.id for name in ("vl-rewardbench", *OTHERS) for row in load_published(load_spec(name))]
    assert len(rows) == len(set(rows)) > 130


def test_what_was_judged_with_help_does_not_lead_the_reports_of_its_judge() -> None:
    same = by_judge(load_published(load_spec("mm-rlhf-rewardbench")))["mm-rlhf-reward-7b"]
    assert [row.figures["micro"] for row in same] == [85, 82, 93]


def _result(name: str, place: str) -> ReportedFigures:
    found = [row for benchmark in OTHERS for row in load_published(load_spec(benchmark))]
    return next(row for row in found if (row.name, row.place) == (name, place))


@pytest.mark.parametrize(
    ("name", "place", "remark"),
    [
        ("GPT-4o", "Table 8", "no count gives ACC+ 26.01"),
        ("SliME-8B", "Table 8", "no count gives ACC 17.10, Video 7.52, ACC+ 1.76"),
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
    assert check_reported(figures, spec).remark == "fits Mean of 7, not all pairs alike"


def test_a_table_that_mixes_definitions_in_one_column_is_marked_at_each_of_its_rows_alone() -> None:
    rows = load_published(load_spec("multimodal-rewardbench"))
    mixed = {row.id: mixed_definitions(row, rows) for row in rows}
    told = {row.id for row in rows if row.place == "Table 10"}
    assert {mixed[name] for name in told} == {("mean-of-seven", "micro-released")}
    assert {names for one, names in mixed.items() if one not in told} == {()}
    other = load_published(load_spec("mm-rlhf-rewardbench"))
    assert not any(mixed_definitions(row, other) for row in other)


def test_a_reported_figure_has_an_interval_only_where_its_number_of_pairs_is_known() -> None:
    known = _result("GPT-4o", "Table 10").check
    sizes, official = known.sizes, load_spec("multimodal-rewardbench").official
    assert known.grouping == official, "its categories can be compared with those of the board"
    assert (sizes["correctness"], sizes["math"], "micro-released" in sizes) == (623, 514, False)
    assert _result("BaseReward (Qwen2-VL)", "Table 10").check.sizes["micro-released"] == 4711
    for name, place in (("BaseReward (ensemble)", "Table 10"), ("Proxy-GRM", ""), ("R1-Reward", "Table 8")):
        assert not _result(name, place).check.sizes


@pytest.fixture(scope="module")
def visitor() -> TestClient:
    return TestClient(application(boards(3)))


def test_one_click_on_a_reported_entry_fills_the_check_and_gives_its_finding(visitor: TestClient) -> None:
    for name, place, shown in (
        ("GPT-4o", "Table 8", ('value="58.23"', 'value="26.01"', "gives the printed ACC+")),
        ("GPT-4o", "Table 10", ('value="70.8"', 'value="69.0"', "The overall is “Mean of 7”")),
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
    assert "No intervals: pairs" in page


def test_other_results_of_a_judge_show_the_overall_that_they_state() -> None:
    spec = load_spec("multimodal-rewardbench")
    board = build_board(board_of(spec, [0.8]), spec, published=load_published(spec))
    rows = {row.tier: row for row in board.rows}
    row = board.find(_result("GPT-4o", "Table 10").id)
    assert row is not None
    assert (overall_of(row, board), overall_of(rows["scored"], board)) == ("mean-of-seven", "micro")


def test_the_page_of_a_judge_says_what_arithmetic_says_of_each_report(visitor: TestClient) -> None:
    page = visitor.get("/judges/gpt-4o").text
    assert re.search(r"ACC\+ 26\.01 [\w ]+ 46 groups: 11 of 46 is 23\.91, 12 of 46 is 26\.09\.", page)
    assert "The overall column of arXiv:2509.16127, Table 10 mixes “Mean of 7” and “No toxicity”" in page
    cells = visitor.get("/api/v1/judges/gpt-4o").json()["benchmarks"]
    mm_rlhf, mmrb = (
        next(row for row in cells[name]["reported"] if row["result"].startswith("r-gpt-4o-2509")) for name in OTHERS
    )
    assert (mm_rlhf["arithmetic"], mm_rlhf["mixed"]) == ("no count gives ACC+ 26.01", [])
    assert (mmrb["arithmetic"], mmrb["mixed"]) == (None, ["mean-of-seven", "micro-released"])
    assert mmrb["finding"].startswith("The overall is “Mean of 7”.")


def test_a_board_of_a_part_keeps_the_overalls_that_papers_report() -> None:
    spec = load_spec("multimodal-rewardbench")
    body = board_of(spec, [0.8])
    for tally in (entry["tallies"]["v2"] for entry in body["entries"]):
        tally["counts"][spec.source_keys.index("vqa")] = [0] * len(tally["counts"][0])
    board = build_board(body, spec, published=load_published(spec))
    assert "mean-of-seven" in board.values
    assert "vqa" not in board.values, "no pairs, and no overall"
    sizes = [board.sizes[name] for name in ("micro-5211", "unstated", "micro")]
    assert sizes == [0, 0, sum(board.sizes[key] for key in spec.category_keys)], "of which no accuracy is given"
    (row,) = (row for row in board.rows if row.id == _result("GPT-4o", "Table 10").id)
    assert row.scores["mean-of-seven"] == 0.708
    assert summarize(row, board).score.startswith("Mean of 7 70.8")


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
    board = visitor.get("/b/multimodal-rewardbench/").text
    assert "4,711 released pairs" in board
    assert "file v" not in board and "file part" not in board


def test_a_composite_with_a_part_of_a_benchmark_says_so_on_the_page_and_in_json(visitor: TestClient) -> None:
    mmrb, mm_rlhf = ({"pairs": pairs, "released": released} for pairs, released in ((241, 4711), (76, 170)))
    page = visitor.get("/judges?q=Judge").text
    assert "as whole benchmarks" in page and "Composite, with parts" in page
    composites = [line["composite"] for line in visitor.get("/api/v1/judges?q=Judge").json()["judges"]]
    parts = {json.dumps(one["parts"]) for one in composites if one}
    assert parts == {json.dumps({OTHERS[1]: mmrb, OTHERS[0]: mm_rlhf})}
    assert "part of the pairs: Multimodal RewardBench (241 of 4,711 pairs)" in visitor.get("/agreement").text
    pairs = visitor.get("/api/v1/agreement").json()["pairs"]
    assert [list(one["parts"]) for one in pairs] == [[OTHERS[1]], [OTHERS[0]], [OTHERS[1], OTHERS[0]]]


def test_a_row_of_judges_is_led_by_a_plain_result_and_variants_are_named_everywhere(visitor: TestClient) -> None:
    judge = visitor.get("/api/v1/judges/r1-reward").json()["benchmarks"]["vl-rewardbench"]["reported"]
    assert [(one["model"], one["votes_per_item"]) for one in judge] == [
        ("R1-Reward", None),
        ("R1-Reward Voting@15", 15),
        ("R1-Reward Voting@5", 5),
    ]
    helped = visitor.get("/api/v1/judges/mm-rlhf-reward-7b").json()["benchmarks"]["mm-rlhf-rewardbench"]["reported"]
    assert [(one["figures"][0]["value"], one["oracle"]) for one in helped] == [
        (0.85, False),
        (0.82, False),
        (0.93, True),
    ]
    page = visitor.get("/judges/mm-rlhf-reward-7b").text
    assert "MM-RLHF-Reward (with ground-truth annotation)</bdi>, given the answer" in page
    assert "R1-Reward Voting@15</bdi>, 15 votes" in visitor.get("/judges/r1-reward").text
    assert "76.4" not in visitor.get("/judges?q=r1-reward").text


def test_a_judge_that_was_given_the_answer_leads_no_board() -> None:
    spec = load_spec("mm-rlhf-rewardbench")
    board = build_board(board_of(spec, [0.5]), spec, published=load_published(spec))
    assert board.rows[-1].oracle and "was given the answer" in board.rows[-1].note
    assert "92.9" in str(finding(board)[-1])


def test_a_column_of_several_definitions_is_sorted_within_each_and_tells_them_apart(visitor: TestClient) -> None:
    name = "multimodal-rewardbench"
    spec = load_spec(name)
    board = build_board(board_of(spec, [0.8]), spec, published=load_published(spec))
    for descending in (True, False):
        lines = sorted_lines(judge_lines([board]), [board], sort=name, descending=descending)
        leading = [cell.leading for line in lines if (cell := line.cells[0]) and cell.leading]
        keys = [figure.key for figure in leading]
        assert keys[0] == board.headline and len({figure.label for figure in leading}) == len({*keys}) > 3
        for key in keys:
            values = [figure.value for figure in leading if figure.key == key]
            assert values == sorted(values, reverse=descending)
        assert [key for key, _ in groupby(keys)] == list(dict.fromkeys(keys)), "one run for each definition"
    assert "All 5,211, reported" in visitor.get("/judges?q=gpt-4o").text


def test_the_page_of_an_entry_of_another_benchmark_is_found_from_the_first() -> None:
    home = "/b/mm-rlhf-rewardbench/entries/e1"
    app = board_app(boards(1)[0], elsewhere=lambda name: home if name == "e1" else None)
    client = TestClient(app, follow_redirects=False)
    answer = client.get("/entries/e1")
    assert (answer.status_code, answer.headers["location"]) == (308, home)
    assert client.get("/entries/e2").status_code == 404
