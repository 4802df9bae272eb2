"""Rows, order, ranks and nulls of the board; what a URL selects."""

from dataclasses import replace
from urllib.parse import parse_qsl

import numpy as np
import pytest

from leaderboard.ranking.parameters import BoardQuery, count_unstated, ordered, read_query, select
from leaderboard.ranking.reported_results import ReportedFigures
from leaderboard.ranking.rows import Board, build_board
from tests.factories.snapshots import baselines, entry, snapshot
from tests.factories.specs import GROUPINGS, PROTOCOLS, USUAL, VL, verdict
from vlrb.baselines import BASELINES, EARLIER, MAJORITY
from vlrb.common.rounding import tenths
from vlrb.protocols import scores
from vlrb.scoring import Tally
from vlrb.statistics.uncertainty import mover_macro, wilson


def reported(name: str = "Paper judge", **figures: float | None) -> ReportedFigures:
    values = {"general": 60.1, "hallucination": 65.0, "reasoning": 59.4, "overall": 62.9, "macro": 61.5} | figures
    return ReportedFigures(
        id=f"r-{name.lower().replace(' ', '-')}",
        name=name,
        organisation="Elsewhere",
        judge_type="scalar",
        parameters_b=7,
        open_weights=True,
        date="2025-05-01",
        figures=values,
        source="arXiv:0000.00000",
        place="Table 1",
        url="https://arxiv.org/abs/0000.00000",
        check=verdict(**values),
        spec=VL,
    )


@pytest.fixture(scope="module")
def board() -> Board:
    found = [entry(1, 0.7), entry(2, 0.55, k=1), entry(3, 0.8, k=5), entry(4, 0.7, organisation="Lab, the")]
    found[3]["tallies"] = found[0]["tallies"]  # the same counts as judge 1
    elsewhere = [reported(), reported("Overall only", macro=None, general=None)]
    return replace(build_board(snapshot(found), VL, published=elsewhere), snapshot_id="s1")


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("grouping", GROUPINGS)
def test_accuracies_are_those_of_the_core_one_by_one(protocol: str, grouping: str) -> None:
    found = [{**entry(1, 0.7), "parse_rate": 1.0}, {**entry(2, 0.5, k=1), "parse_rate": 1.0}]
    rows = build_board(snapshot(found), VL, protocol=protocol, grouping=grouping).rows
    for one in found:
        row = next(row for row in rows if row.id == one["id"])
        expected = scores(Tally.from_json(one["tallies"]["v2"], VL), protocol, grouping=grouping)
        for name in ("general", "hallucination", "reasoning", "overall", "macro"):
            assert row.value(name) == pytest.approx(expected[name])


def test_intervals_are_wilson_and_mover(board: Board) -> None:
    row = board.find("e00000000001")
    assert row is not None
    pairs = [(round((row.value(name) or 0) * n), n) for name, n in list(board.sizes.items())[1:]]
    assert row.interval["general"] == pytest.approx(tuple(wilson(*pairs[0])))
    assert row.interval["macro"] == pytest.approx(tuple(mover_macro(pairs)))


def test_lmms_eval_has_no_intervals() -> None:
    (row,) = build_board(snapshot([{**entry(1, 0.7), "parse_rate": 1.0}]), VL, protocol="lmms-eval").rows
    assert row.interval == {} and row.value("macro") is not None


def test_an_entry_with_unread_replies_stands_last_without_a_number_under_a_tool_that_reads_them() -> None:
    read = [{**entry(number, number / 10), "parse_rate": 1.0} for number in (5, 6)]
    board = build_board(snapshot([entry(9, 0.9), *read]), VL, protocol="vlmevalkit")
    shown = [(row.id[-1], row.value("macro") is not None) for row in board.rows if row.tier == "scored"]
    assert shown == [("6", True), ("5", True), ("9", False)]


def test_rows_stand_by_macro_and_equal_counts_share_a_rank(board: Board) -> None:
    scored = [(row.id[-1], row.rank) for row in board.rows if row.tier == "scored"]
    assert scored == [("3", 1), ("1", 2), ("4", 2), ("2", 4)]


def test_a_judge_takes_one_rank_by_its_best_version() -> None:
    judges = [entry(1, 0.8), entry(2, 0.7), entry(3, 0.6), entry(4, 0.5), entry(5, 0.4)]
    first, second, third, fourth, last = (one["id"] for one in judges)
    board = build_board({**snapshot(judges), "versions": {first: second, third: second, last: fourth}}, VL)
    assert [(row.id, row.rank, row.version_of) for row in board.rows if row.tier == "scored"] == [
        (first, 1, None),
        (second, None, first),
        (third, None, first),
        (fourth, 2, None),
        (last, None, fourth),
    ]
    assert board.scored == 2
    assert {name: at.rank for name, at in board.standings("general").items()} == {first: 1, fourth: 2}


def test_judges_whose_votes_were_compared_are_those_of_the_comparison() -> None:
    judges = [entry(1, 0.8), entry(2, 0.7), entry(3, 0.6)]
    names = [one["id"] for one in judges]
    related = {"v2": {"versions": {names[2]: names[1]}, "entries": names[:2], "ranges": {}, "variants": {}}}
    body = {**snapshot(judges), "versions": {names[1]: names[0]}, "relations": related}
    assert [row.rank for row in build_board(body, VL).rows if row.tier == "scored"] == [1, 2, None]


def test_reported_rows_stand_in_the_order_without_a_rank(board: Board) -> None:
    assert [row.rank for row in board.rows if row.tier == "reported"] == [None, None]
    macros = [row.value("macro") for row in board.rows if row.value("macro") is not None]
    assert macros == sorted(macros, reverse=True)


@pytest.mark.parametrize("key", ["rank", "macro", "general", "votes_per_item", "decided_rate", "judge_type", "date"])
@pytest.mark.parametrize("descending", [True, False])
def test_a_null_never_stands_above_a_value(board: Board, key: str, descending: bool) -> None:
    values = [row.value(key) for row in ordered(board.rows, key, descending=descending)]
    known = [value for value in values if value not in (None, "")]
    assert values[: len(known)] == sorted(known, reverse=descending)
    assert all(value in (None, "") for value in values[len(known) :])


def test_nothing_decided_is_not_zero_under_the_rule_of_the_paper() -> None:
    silent = entry(1, 0.5)
    counts = np.array(silent["tallies"]["v2"]["counts"])
    counts[:, 3] = counts[:, 0]
    counts[:, 1:3] = 0
    silent["tallies"]["v2"]["counts"] = counts.tolist()
    (row,) = build_board(snapshot([silent]), VL, protocol="paper").rows
    assert row.value("macro") is None
    assert row.value("overall") is None
    assert row.rank is None
    assert row.interval == {}


def test_another_label_revision_gives_another_board_with_the_same_ids() -> None:
    found = [entry(1, 0.7)]
    assert build_board(snapshot(found), VL, revision="v0").rows[0].id == found[0]["id"]
    with pytest.raises(KeyError):
        build_board(snapshot(found), VL, revision="v9")


def test_missing_pairs_are_said_at_the_row() -> None:
    lacking = entry(1, 0.7)
    lacking["tallies"]["v2"]["counts"][0][1] -= 1
    assert build_board(snapshot([lacking]), VL).rows[0].note == "1 pair missing"


def test_an_empty_snapshot_gives_an_empty_board() -> None:
    empty = build_board(snapshot([]), VL)
    assert empty.rows == ()
    assert empty.sizes["overall"] == 1250


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("", 6),
        ("judge", 5),
        ("JUDGE 3", 1),
        ("tier:reported", 2),
        ("type:scalar size:<10", 2),
        ("size:>=7", 2),
        ("size:>7", 0),
        ("k:5", 1),
        ("k:1..3", 3),
        ('org:"lab, the"', 1),
        ("org:lab", 1),
        ("open:yes", 2),
        ("date:2025", 2),
        ("macro:>60 tier:reported", 1),
        ("unknown:field", 0),
        ('"', 6),
        ("note:grouping", 0),
    ],
)
def test_search_understands_words_and_fields(board: Board, search: str, found: int) -> None:
    assert select(board, BoardQuery(VL, search=search)).total == found


def test_every_part_of_a_view_survives_its_own_address() -> None:
    view = BoardQuery(VL,
        protocol="paper", grouping="rl-in-general", revision="v0", tier="scored", search='org:"a, b" <&', sort="date",
        descending=False, page=2, as_of="2026-11-01T10:00:00+01:00",
        filters=(("type", "scalar"), ("k", ">=5"), ("min_size", "7"), ("since", "2026-05-01")),
        columns=("rank", "model", "macro", "organisation"),
    )  # fmt: skip
    assert read_query(dict(parse_qsl(view.url().removeprefix("/?"))), ("v0",), spec=VL) == view
    # As a browser sends checkboxes and a zone's plus sign:
    assert read_query({"as_of": "2026-11-01T10:00:00 01:00"}, (), spec=VL).as_of == view.as_of
    usual = {"cols": ",".join(USUAL)}
    assert read_query(usual, (), spec=VL) == BoardQuery(VL)
    assert BoardQuery(VL).url() == "/"


@pytest.mark.parametrize(
    "query",
    [{"sort": "nonsense"}, {"page": "-1"}, {"page": "9" * 50}, {"protocol": "<script>"}, {"tier": ""}, {"dir": "up"}],
)
def test_a_parameter_that_means_nothing_is_as_good_as_none(query: dict[str, str]) -> None:
    assert read_query(query, ("v2",), spec=VL) == BoardQuery(VL)


def test_a_heading_button_carries_its_direction() -> None:
    assert read_query({"sort": "macro:asc", "dir": "desc"}, (), spec=VL) == BoardQuery(VL, descending=False)
    assert BoardQuery(VL).with_sort("macro").descending is False
    assert BoardQuery(VL).with_sort("model").descending is False
    assert BoardQuery(VL).with_sort("general").descending is True


@pytest.mark.parametrize(("share", "value"), [(0.6725, 673), (0.67246, 672), (0.6384, 638), (1.0, 1000), (0.0, 0)])
def test_shares_are_rounded_half_up_to_tenths_of_a_percent(share: float, value: int) -> None:
    assert tenths(share) == value


def with_baselines(*, expected_only: bool = False) -> dict[str, object]:
    judges = [{**entry(1, 0.7), "parse_rate": 1.0}, {**entry(2, 0.45), "parse_rate": 1.0}]
    return {**snapshot(judges), "baselines": baselines(expected_only)}


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("grouping", GROUPINGS)
@pytest.mark.parametrize("revision", ["v2", "v0"])
def test_baselines_stand_in_the_order_without_a_rank_under_every_rule(
    protocol: str, grouping: str, revision: str
) -> None:
    rows = build_board(with_baselines(), VL, protocol=protocol, grouping=grouping, revision=revision).rows
    found = {row.id: row for row in rows if row.tier == "baseline"}
    assert set(found) == {baseline.id for baseline in BASELINES} - {MAJORITY, EARLIER}
    assert all(row.rank is None and row.provenance for row in found.values())
    assert found["baseline-random"].value("macro") == 0.5 and not found["baseline-random"].interval
    assert [row.value("macro") for row in rows] == sorted((row.value("macro") or 0 for row in rows), reverse=True)
    assert [row.rank for row in rows if row.tier == "scored"] == [1, 2]


def test_labels_that_are_not_public_leave_the_baseline_that_needs_no_counting() -> None:
    rows = build_board(with_baselines(expected_only=True), VL).rows
    assert [row.id for row in rows if row.tier == "baseline"] == ["baseline-random"]


def test_baselines_stand_apart_and_can_be_looked_at_alone() -> None:
    board = build_board(with_baselines(), VL)
    counted = len(BASELINES) - 2  # the snapshot has no majority, and no earlier labels
    assert len(select(board, BoardQuery(VL)).baselines) == counted
    assert select(board, BoardQuery(VL)).total == 2
    for view in (BoardQuery(VL, tier="baseline"), BoardQuery(VL, search="tier:baseline")):
        found = select(board, view)
        assert (found.total, len(found.baselines)) == (0, counted)
    assert select(board, BoardQuery(VL, tier="scored")).baselines == ()


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"type": "scalar"}, {"R1", "Only"}),
        ({"open": "yes"}, {"R1", "Only", "A"}),
        ({"open": "no"}, {"B"}),
        ({"min_size": "7", "max_size": "7"}, {"R1", "Only", "A"}),
        ({"max_size": "72"}, {"R1", "Only", "A", "B"}),
        ({"k": "1"}, {"B"}),
        ({"k": ">1"}, {"A", "C"}),
        ({"since": "2026-10-03"}, {"B", "C"}),
        ({"since": "2025", "until": "2025-05"}, {"R1", "Only"}),
        ({"coverage": "95", "tier": "scored"}, {"A", "B", "C"}),
        ({"coverage": "100"}, set()),
        ({"tier": "scored", "type": "generative-pairwise", "min_size": "8"}, {"B"}),
        ({"min_size": "nonsense", "type": "<b>", "since": "yesterday"}, {"R1", "Only", "A", "B", "C"}),
    ],
)
def test_filters_find_what_has_the_value_and_nothing_unknown(query: dict[str, str], found: set[str]) -> None:
    rows = [
        entry(1, 0.7, model="A", parameters_b=7.0, open_weights=True),
        entry(2, 0.6, k=1, model="B", parameters_b=72.0, open_weights=False),
        entry(3, 0.5, model="C"),
    ]
    board = build_board(snapshot(rows), VL, published=[reported("R1"), reported("Only")])
    ranks = {row.id: row.rank for row in board.rows}
    chosen = select(board, read_query(query, (), spec=VL)).rows
    assert {row.model for row in chosen} == found
    assert all(row.rank == ranks[row.id] for row in chosen)


def test_judges_that_a_view_leaves_out_as_they_do_not_state_what_it_asks_for_are_counted() -> None:
    stated = {"parameters_b": 7.0, "open_weights": True}
    rows = [entry(1, 0.7, **stated), entry(2, 0.6, parameters_b=72.0, open_weights=False), entry(3, 0.5, model="C")]
    board = build_board(snapshot([*rows, entry(4, 0.4, open_weights=True)]), VL, published=[reported()])
    for search, count in (("size:<10", 2), ("open:no size:<10", 1), ("c size:<10", 1), ("size:x", 0), ("tier:x", 0)):
        assert count_unstated(board, BoardQuery(VL, search=search)) == count, search
    assert count_unstated(board, BoardQuery(VL, filters=(("max_size", "10"),))) == 2


def test_what_weakens_a_row_is_said_at_the_row() -> None:
    weak = entry(1, 0.7, version="b", organisation="Lab", attempt=2, attempts=3, revision="v0", flag="under review")
    counts = weak["tallies"]["v2"]["counts"]
    for cell in counts[:3]:
        cell[3], cell[2] = cell[3] + cell[2], 0
    row = build_board(snapshot([weak]), VL).rows[0]
    assert row.decided_rate is not None and row.decided_rate < 0.95
    assert row.note == f"under review · {row.decided_rate * 100:.1f}% answered"
    assert row.provenance == "b · Lab · attempt 2 of 3 · file v0"
    assert build_board(snapshot([entry(2, 0.7)]), VL).rows[0].provenance == ""
