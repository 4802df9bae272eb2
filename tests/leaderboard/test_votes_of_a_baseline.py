"""Entries whose votes need no judge are listed with a remark, and lead nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from starlette.testclient import TestClient

from leaderboard.board.api import PageOfRows, leaderboard_json
from leaderboard.entry.pages import result_card
from leaderboard.explore.item_catalog import ItemCatalog
from leaderboard.judges.agreement import agreements
from leaderboard.judges.composite import composite_of
from leaderboard.judges.table import judge_json, judge_lines, sorted_lines
from leaderboard.ranking.opening import finding
from leaderboard.ranking.parameters import BoardQuery, read_query, select
from leaderboard.ranking.reported_results import load_published
from leaderboard.ranking.rows import Board, build_board
from leaderboard.share.exports import FORMATS, extract
from leaderboard.site.cache import BoardCache
from tests.factories.board_app import serve
from tests.factories.snapshots import FixedSource, entry, snapshot
from tests.factories.three_benchmarks import SERVED, board_of
from vlrb.benchmarks.spec_file import load_spec

SPECS = [load_spec(name) for name in SERVED]
MM_RLHF = load_spec("mm-rlhf-rewardbench")
BASELINE = {"remarks": ["baseline-votes"]}
VERIFIED = {**BASELINE, "verified_at": "2026-11-22T10:00:00Z"}


def body(first: dict[str, Any], skills: tuple[float, ...] = (1.0, 0.9, 0.6)) -> dict[str, Any]:
    """Return a snapshot whose first entry, the best one, has these facts more."""
    made = board_of(MM_RLHF, list(skills))
    made["entries"][0] |= first
    return made


def board(first: dict[str, Any]) -> Board:
    return build_board(body(first), MM_RLHF)


@pytest.mark.parametrize("remarks", [["baseline-votes"], ["one-sided-votes"], ["order-tells-label", "baseline-votes"]])
def test_votes_that_need_no_judge_have_no_rank_and_are_listed_last(remarks: list[str]) -> None:
    found = board({"remarks": remarks})
    assert [(row.judge_name, row.rank) for row in found.rows] == [("Judge 1", 1), ("Judge 2", 2), ("Judge 0", None)]
    assert found.rows[-1].remark and found.rows[-1].remark in found.rows[-1].note
    assert set(found.standings("mcq")) == {row.id for row in found.rows[:2]}


@pytest.mark.parametrize("facts", [{"remarks": ["order-tells-label"]}, VERIFIED, {}])
def test_other_entries_and_verified_ones_have_their_rank(facts: dict[str, Any]) -> None:
    first = board(facts).rows[0]
    assert (first.judge_name, first.rank, first.remark) == ("Judge 0", 1, "")


def test_they_lead_neither_the_first_sentence_nor_a_strip() -> None:
    found = board(BASELINE)
    assert str(finding(found)[0]).startswith("Judge 1 leads: ")
    assert str(finding(build_board(body(BASELINE, (1.0,)), MM_RLHF))[0]).startswith("No judge ")


def test_they_are_in_no_composite_and_no_correlation_and_below_the_others_of_their_column() -> None:
    made = [board_of(spec, [0.95, 0.9, 0.8, 0.7, 0.6, 0.5]) for spec in SPECS]
    made[2]["entries"][0] |= BASELINE
    found = [build_board(one, spec) for one, spec in zip(made, SPECS, strict=True)]
    lines = judge_lines(found)
    assert "judge-0" not in composite_of(lines, SERVED)
    assert "judge-1" in composite_of(lines, SERVED)
    assert [len(one.judges) for one in agreements(lines, found)] == [6, 5, 5]
    for descending in (True, False):
        assert sorted_lines(lines, found, sort=MM_RLHF.id, descending=descending)[-1].slug == "judge-0"
    cell = judge_json(next(line for line in lines if line.slug == "judge-0"))["benchmarks"][MM_RLHF.id]
    assert (cell["scored"]["rank"], cell["scored"]["remark"]) == (None, "votes of a baseline")


@pytest.mark.parametrize("sort", ["mcq", "mcq:asc", "acc-plus", "acc:asc"])
def test_in_the_order_of_a_score_they_are_below_the_others_of_their_section(sort: str) -> None:
    reported = load_published(MM_RLHF)
    found = build_board(body(BASELINE), MM_RLHF, published=reported)
    view = read_query({"sort": sort}, (), spec=MM_RLHF)
    rows = extract(found, view).rows
    assert {row.tier for row in rows if not row.leads} == {"scored", "reported"}
    for tier in ("scored", "reported"):
        leads = [row.leads for row in rows if row.tier == tier]
        assert leads == sorted(leads, reverse=True)
    assert select(found, view).of("scored")[-1].judge_name == "Judge 0"
    assert leaderboard_json(found, PageOfRows(sort=sort))["entries"][-1]["remark"]


def test_another_entry_of_the_judge_is_its_best() -> None:
    made = body(BASELINE)
    made["entries"][1]["model"] = made["entries"][0]["model"]
    (cell,) = next(line for line in judge_lines([build_board(made, MM_RLHF)]) if line.slug == "judge-0").cells
    assert cell is not None and cell.scored is not None and cell.scored.id == made["entries"][1]["id"]


def test_every_export_carries_the_remark_and_none_prints_it_bold() -> None:
    taken = extract(board(BASELINE), BoardQuery(MM_RLHF))
    files = {name: FORMATS[name].write(taken) for name in ("csv", "json", "tex", "md")}
    assert all(b"votes of a baseline" in content for content in files.values())
    assert [row["remark"] for row in json.loads(files["json"])["entries"]] == [None, None, "votes of a baseline"]
    (row,) = (line for line in files["md"].decode().split("\n") if "Judge 0" in line)
    assert "100.0" in row and "**" not in row


def test_citations_scorecards_and_the_feed_carry_the_remark() -> None:
    made = [entry(1, 0.9, **BASELINE), entry(2, 0.6)]
    client = TestClient(serve(FixedSource(snapshot(made)), published=()))
    for address in ("/entries/{}/cite.bib",):
        remarked, plain = (client.get(address.format(one["id"])) for one in made)
        assert remarked.status_code == plain.status_code == 200
        assert ("votes of a baseline" in remarked.text, "votes of a baseline" in plain.text) == (True, False)
    rows = client.get("/api/v1/leaderboard").json()["entries"]
    assert [row["remark"] for row in rows] == [None, "votes of a baseline"]
    cards = [client.get(f"/api/v1/entries/{one['id']}").json() for one in made]
    assert [card["remark"] for card in cards] == ["votes of a baseline", None]
    titles = [one.split("</title>")[0] for one in client.get("/feed.xml").text.split("<title>")[2:]]
    assert sorted("(votes of a baseline)" in title for title in titles) == [False, True]
    assert client.get("/feed.xml").text.count("No rank: votes of a baseline.") == 1


def test_the_result_card_of_such_an_entry_compares_it_with_nobody() -> None:
    made = [entry(1, 0.9, **BASELINE), entry(2, 0.6), entry(3, 0.5)]
    cache = BoardCache(FixedSource(snapshot(made)), published=())
    markup, settled = result_card(cache.refresh(), ItemCatalog(spec=cache.spec), entry_id=made[0]["id"])
    assert settled and "No rank: votes of a baseline." in markup
    assert "significantly ahead of" not in markup
