"""Figures: their numbers, on every page width and ground."""

import re
from collections import Counter
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from plotly.offline import get_plotlyjs_version

from leaderboard.charts.base import MOST_JUDGES, Chart, ChartQuery
from leaderboard.charts.catalog import CHARTS
from leaderboard.charts.dot_plots import ChartLine, dots
from leaderboard.charts.estimates import Estimate
from leaderboard.charts.judge_charts import category_chart, source_chart, vote_chart
from leaderboard.charts.layout import CHANCE, ChartText, Page, columns_of, on_lines, plain
from leaderboard.charts.tag_chart import tag_chart
from leaderboard.ranking.reported_results import load_published
from leaderboard.ranking.rows import build_board
from leaderboard.site.colours import DARK, LIGHT, Palette, dark_colours
from leaderboard.site.render import assets
from tests.factories.snapshots import entries, entry, items, label_sets, snapshot
from tests.factories.specs import BUCKETS, CATEGORIES, CHART_SCORES, SOURCES, VL
from vlrb.scorecard import score_row
from vlrb.scoring import Tally
from vlrb.statistics.lengths import preferred_lengths
from vlrb.statistics.pairwise import compare_all
from vlrb.statistics.uncertainty import wilson

V2 = ChartQuery("v2", Page(VL))
GPT = {"base_model": "OpenAI/GPT-4o"}
JUDGES = [entry(1, 0.8, k=5, **GPT), entry(2, 0.6, k=1, **GPT), entry(3, 0.4, k=4, **GPT)]


def test_a_name_from_right_to_left_moves_nothing_beside_it() -> None:
    arabic = "نموذج الحكم"
    chart = category_chart([entry(1, 0.8, model=f"{arabic}-7B"), entry(2, 0.6, model="Judge B")], V2)
    texts = layout(chart)["yaxis"]["ticktext"]
    assert texts == [f"\u2068{arabic}-7B\u2069", "Judge B"]


def everywhere(found: list[dict[str, Any]]) -> ChartQuery:
    """Return a view of these entries with all that is around them: a board, relations, difficulty."""
    body = {**snapshot(found), "created_at": "2026-11-21T22:00:00Z"}
    rows = build_board(body, VL, published=load_published(VL)).rows
    names = [entry["id"] for entry in found]
    verdicts = np.random.default_rng(3).integers(0, 2, (len(found), len(items()))).astype(np.int8)
    related = compare_all(names, verdicts[:, :, np.newaxis], labels=label_sets()["v2"], table=items())
    difficulty = {"general": [1] * 10, "hallucination": [2] * 10, "reasoning": [0] * 10}
    return replace(
        V2,
        rows=rows,
        relations=related.relations,
        summary={
            "difficulty": difficulty,
            "lengths": preferred_lengths(label_sets()["v2"], items()),
            "entries": names,
            "self_preference": {"gpt": {name: [0.1, -0.02, 0.2, 40, 0.5, 0.4] for name in names}},
        },
        as_of="2026-11-21T22:00:00Z",
    )


@cache
def judges_everywhere() -> ChartQuery:
    """Return the view of `JUDGES`; no test changes it."""
    return everywhere(JUDGES)


def layout(chart: Chart) -> dict[str, Any]:
    assert chart.figure is not None
    return dict(chart.figure.to_plotly_json()["layout"])


def traces(chart: Chart) -> list[dict[str, Any]]:
    """Return what is drawn at the values."""
    assert chart.figure is not None
    return [trace for trace in chart.figure.to_plotly_json()["data"] if trace.get("hoverinfo") == "text"]


def words(chart: Chart) -> str:
    assert chart.figure is not None
    return str(chart.figure.to_plotly_json())


def estimate(k: int, n: int) -> Estimate:
    low, high = wilson(k, n)
    return Estimate(100 * k / n, n, (100 * low, 100 * high))


def test_the_category_figure_shows_the_numbers_of_the_scorecard_with_their_intervals() -> None:
    chart = category_chart(JUDGES, V2)
    row = score_row(Tally.from_json(JUDGES[0]["tallies"]["v2"], VL), "strict", grouping="official")
    drawn = {(one, key): rest for one, key, *rest in chart.rows}
    for key in CHART_SCORES:
        value, low, high, _ = drawn["Judge 1", key]
        assert (value, low, high) == pytest.approx((100 * row[key], *[100 * end for end in row["interval"][key]]))
    best = traces(chart)[0]
    assert best["x"][0] == pytest.approx(100 * row["macro"])
    assert best["error_x"]["array"][0] == pytest.approx(100 * (row["interval"]["macro"][1] - row["macro"]))


def test_judges_stand_in_the_order_of_the_board_whatever_the_order_of_the_choice() -> None:
    assert [row[0] for row in category_chart(JUDGES[::-1], V2).rows if row[1] == "macro"] == [
        "Judge 1",
        "Judge 2",
        "Judge 3",
    ]


def test_every_panel_states_its_number_of_pairs_and_the_axis_says_what_better_is() -> None:
    said = words(category_chart(JUDGES, V2))
    assert all(f"n {n}" in said for n in (183, 749, 318))
    assert "mean of three" in said
    assert "right is better" in said
    assert "left is better" in words(tag_chart(JUDGES, V2))
    assert "up is better" in words(vote_chart(JUDGES, V2))


def test_colour_means_category() -> None:
    colours = {trace["marker"]["color"] for trace in traces(category_chart(JUDGES, V2))}
    assert colours == {LIGHT.ink, LIGHT.of("general", VL), LIGHT.of("hallucination", VL), LIGHT.of("reasoning", VL)}
    assert {colour for trace in traces(vote_chart(JUDGES, V2)) for colour in trace["marker"]["color"]} == {LIGHT.ink}


def test_the_error_rate_of_a_tag_is_what_did_not_agree_and_reasoning_is_the_sixth_bucket() -> None:
    counted = Tally.from_json(JUDGES[0]["tallies"]["v2"], VL)
    drawn = {key: rest for one, key, *rest in tag_chart(JUDGES, V2).rows if one == "Judge 1"}
    assert set(drawn) == set(BUCKETS)
    cell = counted.cell("counting")
    low, high = wilson(cell["n"] - cell["agree"], cell["n"])
    assert drawn["counting"] == pytest.approx([100 * (1 - cell["agree"] / cell["n"]), 100 * low, 100 * high, cell["n"]])
    reasoning = score_row(counted, "strict", grouping="official")["reasoning"]
    assert drawn["reasoning"][0] == pytest.approx(100 - 100 * reasoning)


def test_tags_stand_by_harm_on_one_axis_and_each_judge_can_be_hidden() -> None:
    chart = tag_chart(JUDGES, V2)
    rates = Counter[object]()
    for _name, tag, value, *_rest in chart.rows:
        rates[tag] += value  # type: ignore[operator]
    *tags, last = [key for name, key, *_rest in chart.rows if name == "Judge 1"]
    assert tags == sorted(tags, key=lambda key: -rates[key])
    assert last == "reasoning"
    drawn = {trace["name"]: list(trace["x"]) for trace in traces(chart)}
    assert drawn == {
        f"Judge {number}": [row[2] for row in chart.rows if row[0] == f"Judge {number}"] for number in (1, 2, 3)
    }
    assert layout(chart)["showlegend"]
    assert all(trace.get("xaxis", "x") == "x" for trace in traces(chart))


def test_the_error_rate_follows_the_rule_chosen() -> None:
    cell = Tally.from_json(JUDGES[0]["tallies"]["v2"], VL).cell("existence")
    drawn = {key: rest for one, key, *rest in tag_chart(JUDGES, replace(V2, protocol="paper")).rows if one == "Judge 1"}
    assert drawn["existence"][0] == pytest.approx(100 * cell["reject"] / (cell["agree"] + cell["reject"]))
    assert drawn["existence"][3] == cell["agree"] + cell["reject"]


def test_a_rule_that_counts_nothing_leaves_no_figure_of_tags() -> None:
    assert tag_chart(JUDGES, replace(V2, protocol="lmms-eval")).figure is None


def test_labels_without_tags_are_said_in_words_instead_of_an_empty_figure() -> None:
    chart = tag_chart(JUDGES, ChartQuery("v0", Page(VL)))
    assert chart.figure is None
    assert any("no error tags" in note for note in chart.notes)


@pytest.mark.parametrize("name", [name for name, kind in CHARTS.items() if kind.of_judges])
def test_an_empty_choice_draws_nothing(name: str) -> None:
    assert CHARTS[name].draw([], V2).figure is None


def test_a_judge_without_scores_under_the_labels_is_named() -> None:
    chart = category_chart([*JUDGES, {**entry(9, 0.5), "tallies": {}}], V2)
    assert any("Judge 9" in note for note in chart.notes)
    assert "Judge 9" not in words(chart)


def test_a_rule_without_intervals_draws_none_and_says_so() -> None:
    judges = [{**judge, "parse_rate": 1.0} for judge in JUDGES]
    chart = category_chart(judges, replace(V2, protocol="lmms-eval"))
    assert all(not any(trace["error_x"]["array"]) for trace in traces(chart))
    assert any("No intervals" in note for note in chart.notes)


def test_the_vote_curve_joins_odd_numbers_and_ends_in_the_score() -> None:
    chart = vote_chart(JUDGES, V2)
    row = score_row(Tally.from_json(JUDGES[0]["tallies"]["v2"], VL), "strict", grouping="official")
    first, _second, end = (row for row in chart.rows if row[0] == "Judge 1")
    assert [name[1] for name in chart.rows] == ["1 votes", "3 votes", "5 votes", "1 votes", "3 votes"]
    assert first[3:] == (None, None, None)
    assert end[2:5] == pytest.approx((100 * row["macro"], *[100 * bound for bound in row["interval"]["macro"]]))
    assert any("One vote per pair" in note and "Judge 2" in note for note in chart.notes)


def test_at_most_six_lines_are_drawn_because_more_cannot_be_named() -> None:
    chart = vote_chart(entries([(number, 0.5 + number / 50) for number in range(9)], k=3), V2)
    assert len({row[0] for row in chart.rows}) == 6
    assert any("best 6 of the 9" in note for note in chart.notes)


def test_the_curve_of_a_judge_ends_where_it_stops_answering_and_one_vote_is_a_point() -> None:
    chart = CHARTS["confidence"].draw(JUDGES, V2)
    for judge in JUDGES:
        counted = Tally.from_json(judge["tallies"]["v2"], VL)
        sources = [counted.cell(source) for source in SOURCES]
        right, wrong, none = (sum(cell[name] for cell in sources) for name in ("agree", "reject", "undecided"))
        name = f"{judge['model']} {judge['version']}".strip()
        points = [row for row in chart.rows if row[:2] == (name, "coverage")]
        asked = right + wrong + none
        assert points[-1][2:] == (100 * (right + wrong) / asked, 100 * right / (right + wrong), right + wrong)
        assert len(points) == 1 or judge["votes_per_item"] > 1
        bins = [row for row in chart.rows if row[:2] == (name, "confidence")]
        assert sum(row[4] for row in bins) == (right + wrong if judge["votes_per_item"] > 1 else 0)


def test_the_preference_for_the_own_family_is_that_of_the_declared_base_model() -> None:
    view = judges_everywhere()
    silent = entry(4, 0.5, model="Nobody knows")
    chart = CHARTS["family"].draw([*JUDGES, silent], view)
    known = view.summary["self_preference"]["gpt"]
    for row, judge in zip(chart.rows, JUDGES, strict=True):
        value, low, high, pairs, _own, _others = known[judge["id"]]
        assert row == (judge["model"], "gpt", 100 * value, 100 * low, 100 * high, pairs)
    assert any("Nobody knows" in note for note in chart.notes)


def test_sources_carry_their_numbers_in_the_cells() -> None:
    chart = source_chart(JUDGES, V2)
    (drawn,) = traces(chart)
    cell = Tally.from_json(JUDGES[0]["tallies"]["v2"], VL).cell("POVID")
    assert drawn["z"][0][SOURCES.index("POVID")] == pytest.approx(100 * cell["agree"] / cell["n"])
    said = words(chart)
    assert f"{100 * cell['agree'] / cell['n']:.1f}" in said
    assert all(source in said for source in SOURCES)


@cache
def hostile_everywhere() -> tuple[list[dict[str, Any]], ChartQuery]:
    """Return `JUDGES` with a hostile name among them, and their view; no test changes either."""
    hostile = entry(1, 0.7, k=3, model="<a href='javascript:x'>%{x}</a>", version="&amp;", parameters_b=7.0, **GPT)
    found = [{**hostile, "submitted_at": "2026-01-01T00:00:00Z"}, *JUDGES[1:]]
    return found, everywhere(found)


@pytest.mark.parametrize("name", list(CHARTS))
def test_what_a_submitter_wrote_is_text_in_every_figure(name: str) -> None:
    found, view = hostile_everywhere()
    chart = CHARTS[name].draw(found, view)
    assert "<a" not in words(chart)
    if name not in ("critics", "difficulty", "lengths"):
        assert "&lt;a href" in words(chart)
    assert all("%{" not in str(trace.get("text")) for trace in traces(chart) if "texttemplate" in trace)
    assert not any(key.startswith("hovertemplate") for trace in traces(chart) for key in trace)


def test_a_cell_of_few_pairs_is_slanted_and_pale_and_the_figure_says_so() -> None:
    chart = source_chart(JUDGES, V2)
    (drawn,) = traces(chart)
    counted = Tally.from_json(JUDGES[0]["tallies"]["v2"], VL)
    few = [counted.cell(source)["n"] < 30 for source in SOURCES]
    assert any(few)
    assert [text.startswith("<i>") for text in drawn["text"][0]] == few
    assert abs(drawn["z"][0][few.index(True)] - CHANCE) <= 12.5
    assert "fewer than 30 pairs" in words(chart)


def test_a_dot_of_few_pairs_is_faded_with_a_line_that_says_so() -> None:
    lines = [ChartLine("A", {"macro": estimate(6, 12)}), ChartLine("B", {"macro": estimate(300, 400)})]
    drawn, full = (dots(of, keys=("macro",), page=V2.page, words=ChartText("", "", "")) for of in (lines, lines[1:]))
    assert [mark < 1 for mark in drawn.data[0].marker.opacity] == [True, False]
    assert "Faded: fewer than 30 pairs" in drawn.layout.annotations[-1].text
    assert "Faded" not in str(full.layout.annotations)


def test_a_figure_speaks_the_language_of_its_page() -> None:
    said = words(category_chart(JUDGES, replace(V2, page=Page(VL, language="zh-CN"))))
    assert "一致率" in said
    assert "right is better" not in said


def test_names_are_cut_by_what_they_take_up() -> None:
    assert plain("short", 8) == "short"
    assert plain("a very long name", 8) == "a ver…me"
    assert plain("多模态奖励模型", 8) == "多模…型"
    assert plain("<b>", 8) == "&lt;b&gt;"


@pytest.mark.parametrize("narrow", [True, False])
@pytest.mark.parametrize("count", [1, 2, MOST_JUDGES])
def test_each_dot_has_a_line_of_its_own_and_panels_stand_above_one_another_on_a_telephone(
    count: int, narrow: bool
) -> None:
    judges = entries([(number, 0.3 + number / 60) for number in range(count)], model="A judge with quite a long name")
    chart = category_chart(judges, replace(V2, page=Page(VL, narrow)))
    dots = [(trace["xaxis"], y) for trace in traces(chart) for y in trace["y"]]
    assert len(dots) == len(set(dots)) == count * len(CHART_SCORES)
    starts = {axis["domain"][0] for key, axis in layout(chart).items() if key.startswith("xaxis")}
    assert (len(starts) == 1) == narrow


def test_more_judges_than_fit_are_cut_to_the_best() -> None:
    many = entries([(number, 0.3 + number / 100) for number in range(MOST_JUDGES + 5)])
    chart = category_chart(many, V2)
    assert len({row[0] for row in chart.rows}) == MOST_JUDGES
    assert any(f"best {MOST_JUDGES} of the {MOST_JUDGES + 5}" in note for note in chart.notes)


@pytest.mark.parametrize("name", list(CHARTS))
def test_every_colour_of_a_figure_has_one_for_a_dark_ground(name: str) -> None:
    chart = CHARTS[name].draw(JUDGES, judges_everywhere())
    colours = set(re.findall(r"#[0-9a-fA-F]{3,8}|(?<=rgba\()\d+,\d+,\d+", words(chart)))
    assert LIGHT.ground in colours
    assert colours <= dark_colours(VL).keys()
    assert dark_colours(VL)[LIGHT.ink] == DARK.ink


def test_the_script_that_draws_is_of_the_version_that_the_library_is_made_for() -> None:
    head = assets(VL)["plotly-cartesian.min.js"].body.encodings["identity"][:200].decode()
    assert f"v{get_plotlyjs_version()}" in head


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("p", [LIGHT, DARK])
def test_all_text_colours_have_aa_contrast(p: Palette) -> None:
    for name in ("ink", "soft", "faint", "accent", "warning", *CATEGORIES):
        assert contrast(p.of(name, VL) if name in CATEGORIES else getattr(p, name), p.ground) >= 4.5, name
    assert contrast(p.ink, p.shade) >= 4.5, "numbers in the darkest cell of the heat map"


# --- reported results -------------------------------------------------------------------------------------------------

HOLLOW = {"categories"}  # of the figures about chosen judges, those whose numbers are published
AROUND = {name for name, kind in CHARTS.items() if not kind.of_judges}  # figures about all judges, anyone who is chosen


def with_reported(view: ChartQuery) -> ChartQuery:
    """Return the view of a reader who has also chosen two reported results."""
    rows = [row for row in view.rows if row.model in ("R1-Reward", "GPT-4o (2024-08-06)")]
    assert len(rows) == 2
    return replace(view, reported=rows)


@pytest.mark.parametrize("name", sorted(set(CHARTS) - AROUND))
def test_reported_results_are_hollow_where_their_numbers_are_published_and_else_named_as_left_out(name: str) -> None:
    chart = CHARTS[name].draw(JUDGES, with_reported(judges_everywhere()))
    said = "\n".join(chart.notes)
    if name in HOLLOW:
        sources = {row[-1] for row in chart.rows if row[0] == "R1-Reward"}
        assert sources == {"arXiv:2505.02835"}
        assert "R1-Reward fits 484/448/318" in said
        drawn = [
            one for trace in traces(chart) for one in zip(trace["hovertext"], trace["marker"]["symbol"], strict=True)
        ]
        assert {symbol for text, symbol in drawn if "R1-Reward" in text} == {"circle-open"}
    else:
        assert "Left out: R1-Reward, GPT-4o (2024-08-06)" in said
        assert not any(row[0] == "R1-Reward" for row in chart.rows)


def test_a_line_fits_a_page_whatever_scripts_it_mixes_and_no_word_of_it_is_broken() -> None:
    text = "宏平均（越高越好），n 71 个结果；因空间不足未标名称：R1-Reward、LLaVA-Critic-7B、Think（指向圆点可见）"
    lines = on_lines(text, Page(VL, narrow=True))
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert all(columns_of(line) <= 48 and line[0] not in "，）；：、" for line in lines)
    assert any("LLaVA-Critic-7B" in line for line in lines)
