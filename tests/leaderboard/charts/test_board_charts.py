"""Figures about the board around the judges, and the sources of their numbers."""

from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from leaderboard.charts.base import Chart, ChartQuery
from leaderboard.charts.bias_charts import length_estimates
from leaderboard.charts.board_charts import best_so_far, heights, log_axis
from leaderboard.charts.catalog import CHARTS
from leaderboard.charts.estimates import judges
from leaderboard.charts.layout import Page
from leaderboard.charts.scatter_plots import Point2D
from leaderboard.ranking.reported_results import load_published
from leaderboard.ranking.rows import build_board
from tests.factories import pairwise
from tests.factories.snapshots import entry, snapshot
from tests.factories.specs import CATEGORIES, VL
from vlrb.baselines import EARLIER
from vlrb.scoring import Tally
from vlrb.statistics.pairwise import unpack


@cache
def body() -> dict[str, Any]:
    """Return a board whose judges are compared."""
    return pairwise.body()


def view_of(body: dict[str, Any], **more: Any) -> ChartQuery:
    rows = build_board(body, VL, published=load_published(VL)).rows
    summary = body.get("relations", {}).get("v2", {})
    relations = unpack(pairwise.related()[1]) if summary else None
    view = ChartQuery("v2", Page(VL), rows=rows, relations=relations, summary=summary, as_of=body["created_at"])
    return replace(view, **more)


@cache
def view() -> ChartQuery:
    """Return what figures of this board are about."""
    return view_of(body())


def data(chart: Chart) -> list[dict[str, Any]]:
    assert chart.figure is not None
    return list(chart.figure.to_plotly_json()["data"])


def marks(chart: Chart) -> list[tuple[Any, str, str]]:
    """Return the points: place, name beside it, symbol."""
    return [
        one
        for trace in data(chart)
        if "markers" in trace["mode"]
        for one in zip(trace["x"], trace["text"], trace["marker"]["symbol"], strict=True)
    ]


def words(chart: Chart) -> str:
    assert chart.figure is not None
    return str(chart.figure.to_plotly_json())


# --- the paper's figures ----------------------------------------------------------------------------------------------


def test_the_figure_of_critics_has_the_papers_numbers_which_fit_one_another() -> None:
    chart = CHARTS["critics"].draw([], view())
    assert "gains up to 14.7 points" in chart.words.title
    values = {(row[0], row[1]): row[2] for row in chart.rows}
    for name in ("Base model", "Pointwise critic", "Pairwise critic"):
        mean = sum(float(str(values[name, key])) for key in CATEGORIES) / 3
        assert mean == pytest.approx(values[name, "macro"], abs=0.11), name


# --- who is alike, and how hard the pairs are -------------------------------------------------------------------------


def test_agreement_in_the_figure_is_that_of_the_relations_in_the_order_of_the_board() -> None:
    chart = CHARTS["agreement"].draw(body()["entries"][:4], view())
    relations = view().relations
    assert relations is not None
    place = {f"Judge {'ABCDEF'[int(name[-1]) - 1]}": at for at, name in enumerate(relations.entries)}
    assert len(chart.rows) == 6
    for one, other, agreement, consistency in chart.rows:
        at, to = place[str(one)], place[str(other)]
        assert agreement == pytest.approx(relations.agreement[at, to])
        assert f"{agreement:.2f}" in words(chart)
        assert consistency == relations.error_consistency(relations.entries[at], relations.entries[to])
    assert all(data(chart)[0]["z"][at][at] is None for at in range(4))


def test_agreement_says_what_is_missing_instead_of_an_empty_figure() -> None:
    assert "two judges" in " ".join(CHARTS["agreement"].draw(body()["entries"][:1], view()).notes)
    assert "a minute after scores" in " ".join(
        CHARTS["agreement"].draw(body()["entries"], view_of(body(), relations=None)).notes
    )
    unknown = entry(9, 0.5)
    chart = CHARTS["agreement"].draw([*body()["entries"][:2], unknown], view())
    assert any("Judge 9" in note for note in chart.notes)
    assert len(chart.rows) == 1


def test_difficulty_shows_the_bands_of_the_snapshot_and_names_no_pair() -> None:
    chart = CHARTS["difficulty"].draw([], view())
    known = body()["relations"]["v2"]["difficulty"]
    assert [list(trace["y"]) for trace in data(chart)] == [known[name] for name in CATEGORIES]
    assert sum(int(str(row[2])) for row in chart.rows) == 1250
    assert "over 6 judges" in words(chart)
    assert "at least 5 judges" in " ".join(CHARTS["difficulty"].draw([], view_of(body(), summary={})).notes)


def test_lengths_of_responses_are_those_of_the_snapshot_with_a_label_for_each_bar() -> None:
    chart = CHARTS["lengths"].draw([], view())
    known = body()["relations"]["v2"]["lengths"]
    assert [list(trace["y"]) for trace in data(chart)] == [known[name]["counts"] for name in CATEGORIES]
    labels = [row[1] for row in chart.rows][:13]
    assert (labels[0], labels[5:8], labels[12]) == (
        "−110 or less",
        ["−29 to −10", "−9 to 9", "10 to 29"],
        "110 or more",
    )
    assert CHARTS["lengths"].draw([], view_of(body(), summary={})).figure is None


# --- habits -----------------------------------------------------------------------------------------------------------


def biased(number: int, value: float | None) -> dict[str, Any]:
    """Return an entry with a position bias of so much, known to 2 points."""
    made = entry(number, 0.7)
    bias = None if value is None else {"value": value, "low": value - 0.02, "high": value + 0.02, "pairs": 1200}
    tallies = {
        name: {**tally, "behaviour": {**tally["behaviour"], "position_bias": bias}}
        for name, tally in made["tallies"].items()
    }
    return {**made, "tallies": tallies}


def test_position_is_drawn_in_points_around_none() -> None:
    chart = CHARTS["position"].draw([biased(1, 0.05), biased(2, -0.03)], view())
    assert sorted(row[2:] for row in chart.rows) == [pytest.approx((-3, -5, -1, 1200)), pytest.approx((5, 3, 7, 1200))]
    assert "+5.0" in words(chart) and "\u22123.0" in words(chart)


def test_a_bias_is_counted_only_where_the_interval_excludes_none() -> None:
    judges = [biased(at, value) for at, value in enumerate((0.1, -0.1, 0.005))]
    assert CHARTS["position"].draw(judges, view()).words.title == "Position bias: significant for 2 of 3"
    silent = CHARTS["position"].draw([biased(1, None)], view())
    assert silent.figure is None
    assert "Judge 1" in silent.notes[0]


def test_length_shows_the_difference_of_both_cells_of_the_tally_with_its_interval() -> None:
    one = entry(1, 0.7)
    counted = Tally.from_json(one["tallies"]["v2"], VL)
    (judge,), _ = judges([one], "v2", spec=VL)
    pair = length_estimates(judge, "strict")
    assert pair is not None
    for found, cell in zip(pair, map(counted.cell, ("longer", "shorter")), strict=True):
        assert (found.value, found.n) == pytest.approx((100 * cell["agree"] / cell["n"], cell["n"]))
    chart = CHARTS["length"].draw([one], view())
    (_, group, value, low, high, pairs), *kinds = chart.rows
    assert (group, [row[1] for row in kinds]) == ("Length bias", ["longer", "shorter"])
    assert (value, pairs) == (pytest.approx(pair[0].value - pair[1].value), pair[0].n + pair[1].n)
    assert isinstance(value, float) and isinstance(low, float) and isinstance(high, float)
    assert low < value < high


# --- size and time ----------------------------------------------------------------------------------------------------


def test_size_tells_scored_from_reported_and_stands_on_a_log_axis() -> None:
    body = snapshot([entry(1, 0.8, parameters_b=70.0), entry(2, 0.6, parameters_b=None)])
    chart = CHARTS["size"].draw(body["entries"], view_of(body))
    assert [row[1:3] for row in chart.rows if row[2] == "scored"] == [("Judge 1", "scored")]
    assert [x for x, _name, symbol in marks(chart) if symbol == "circle"] == [70]
    assert any(row[2] == "reported" for row in chart.rows)
    assert CHARTS["size"].draw([], ChartQuery("v2", Page(VL))).figure is None


def test_cost_has_the_judges_that_no_cheaper_one_beats_on_its_front() -> None:
    stated = [(1, 0.9, 40.0), (2, 0.6, 4.0), (3, 0.55, 10.0), (4, 0.75, 10.0), (5, 0.95, None)]
    body = snapshot([entry(number, skill, price_usd=price, tokens_in=1000) for number, skill, price in stated])
    chart = CHARTS["cost"].draw([], view_of(body))
    priced = [row for row in chart.rows if str(row[0]).startswith("Price")]
    assert [row[1] for row in priced if row[-1] == "yes"] == ["Judge 1", "Judge 4", "Judge 2"]
    assert [row[6] for row in priced] == [40.0, 10.0, 4.0, 10.0]
    lines = [trace for trace in data(chart) if trace["mode"] == "lines"]
    assert list(lines[0]["x"][1:4]) == [4, 10, 40]
    assert len(lines) == 2  # prices and tokens; nobody states a time


def test_equal_costs_have_one_judge_on_the_front_and_a_free_run_is_named_beside_the_figure() -> None:
    body = snapshot([entry(n, skill, price_usd=price) for n, skill, price in ((1, 0.9, 5), (2, 0.6, 5), (3, 0.7, 0))])
    chart = CHARTS["cost"].draw([], view_of(body))
    assert [(row[1], row[-1]) for row in chart.rows] == [("Judge 1", "yes"), ("Judge 2", "no")]
    assert [note for note in chart.notes if note.startswith("1 of 3 state 0")]


def test_without_a_cost_the_figure_says_how_to_state_one() -> None:
    chart = CHARTS["cost"].draw([], view_of(snapshot([entry(1, 0.8, price_usd=None), entry(2, 0.7, price_usd=0.0)])))
    assert chart.figure is None
    assert "judge submit" in " ".join(chart.notes)


def test_a_log_axis_ends_at_its_data() -> None:
    assert log_axis([1.0, 100.0])["range"] == pytest.approx([-0.1, 2.1])


def test_the_best_so_far_is_the_best_of_a_day_and_only_ever_better() -> None:
    assert best_so_far([("2026-01-02", 0.5), ("2026-01-01", 0.4), ("2026-01-02", 0.6), ("2026-01-03", 0.6)]) == [1, 2]
    assert best_so_far([]) == []


def test_of_equal_sizes_the_best_alone_has_a_name() -> None:
    body = snapshot([entry(number, 0.7 + number / 1000, parameters_b=7.0) for number in range(5)])
    chart = CHARTS["size"].draw([], view_of(body))
    assert sum(name.startswith("Judge") for _x, name, _symbol in marks(chart)) <= 1


def test_history_shows_every_result_and_names_records_alone() -> None:
    body = snapshot([entry(1, 0.6), entry(2, 0.8), entry(3, 0.7)])
    chart = CHARTS["history"].draw([], view_of(body))
    dated = [row for row in view_of(body).rows if row.date and row.value("macro") and row.tier != "baseline"]
    assert len(chart.rows) == len(dated)
    assert len(marks(chart)) == len(dated)
    named = {name for _x, name, _symbol in marks(chart)}
    assert "Judge 2" in named
    assert "Judge 3" not in named


def test_history_has_a_line_for_scored_and_one_for_reported_results() -> None:
    body = snapshot([entry(1, 0.6), entry(2, 0.8), entry(3, 0.7)])
    chart = CHARTS["history"].draw([], view_of(body))
    scored = [(row[0], row[-1]) for row in chart.rows if row[1] == "scored"]
    assert scored == [("Judge 1", "yes"), ("Judge 2", "yes"), ("Judge 3", "no")]
    lines = [trace for trace in data(chart) if trace["mode"] == "lines"]
    assert [trace["line"]["dash"] for trace in lines] == ["dot", "solid"]
    assert all(list(trace["y"]) == sorted(trace["y"]) for trace in lines)
    reported = [float(str(row[2])) for row in chart.rows if (row[1], row[-1]) == ("reported", "yes")]
    assert reported == sorted(reported)
    assert max(reported) == pytest.approx(
        max(100 * (row.value("macro") or 0) for row in view().rows if row.tier == "reported")
    )


def test_a_perfect_answer_by_the_first_labels_is_a_line_that_the_axis_reaches() -> None:
    spots = [Point2D("", 1.0, y=value, hover="") for value in (45.0, 60.0)]
    known = {"id": EARLIER, "name": "Earlier", "expected": None, "tallies": {"v2": entry(9, 0.95)["tallies"]["v2"]}}
    plain, corrected = (view_of({**body(), "baselines": rows}) for rows in ([], [known]))
    assert [place for place, _name in heights(spots, plain)[1]] == [50]
    (_chance, (ceiling, name)) = heights(spots, corrected)[1]
    assert 90 < ceiling < 100 and "perfect by the first labels (9" in name
    assert heights(spots, plain)[0][1] < ceiling < heights(spots, corrected)[0][1]
