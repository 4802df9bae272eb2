"""Labels that are not public: what is left of a snapshot, and that nothing finer reaches anybody."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
import orjson
import pytest
from starlette.testclient import TestClient

from leaderboard.analyse import pages as analyse
from leaderboard.charts.catalog import CHARTS
from leaderboard.explore.item_catalog import ItemCatalog
from leaderboard.ranking.disclosure import redact_snapshot, without_counts
from leaderboard.site.cache import BoardCache, BoardVersion
from tests.factories import pairwise
from tests.factories.board_app import serve
from tests.factories.snapshots import FixedSource, baselines, entries, snapshot
from tests.factories.specs import CATEGORIES, VL
from vlrb.disclosure import shown_scores
from vlrb.scoring import Tally
from vlrb.statistics.pairwise import unpack

HIDDEN = {"v2": "hidden:categories"}


@pytest.fixture(scope="module")
def whole() -> dict[str, Any]:
    body = snapshot(entries([(1, 0.9), (2, 0.7), (3, 0.6)]))
    return {**body, "baselines": baselines()}


@pytest.fixture(scope="module")
def client(whole: dict[str, Any]) -> TestClient:
    return TestClient(serve(FixedSource(redact_snapshot(whole, HIDDEN, spec=VL)), published=()))


def test_only_the_hidden_revision_is_reduced_and_it_is_named(whole: dict[str, Any]) -> None:
    shown = redact_snapshot(whole, HIDDEN, spec=VL)
    assert shown["disclosure"] == HIDDEN
    for before, after in zip(whole["entries"], shown["entries"], strict=True):
        assert after["tallies"]["v0"] == before["tallies"]["v0"]
        assert after["tallies"]["v2"] != before["tallies"]["v2"]
    assert all("v2" not in one["tallies"] for one in shown["baselines"])
    assert any("v0" in one["tallies"] for one in shown["baselines"])
    assert redact_snapshot(whole, {}, spec=VL)["entries"] is whole["entries"]
    assert redact_snapshot(whole, {"v9": "hidden"}, spec=VL)["disclosure"] == {}


def test_the_board_shows_one_rule_whatever_is_asked_for(client: TestClient, whole: dict[str, Any]) -> None:
    plain = client.get("/api/v1/leaderboard").json()
    assert len(plain["entries"]) == 3
    for rules in ("protocol=paper", "protocol=vlmevalkit", "grouping=povid-in-general"):
        asked = client.get(f"/api/v1/leaderboard?{rules}").json()
        assert (asked["protocol"], asked["grouping"]) == ("strict", "official")
        assert asked["entries"] == plain["entries"]
    truth = shown_scores(Tally.from_json(whole["entries"][0]["tallies"]["v2"], VL), "hidden:categories")
    assert {name: plain["entries"][0][name] for name in truth} == truth
    assert client.get("/api/v1/leaderboard?protocol=paper&revision=v0").json()["protocol"] == "paper"


def test_a_scorecard_has_categories_and_what_needs_no_label(client: TestClient, whole: dict[str, Any]) -> None:
    entry = whole["entries"][0]
    card = client.get(f"/api/v1/entries/{entry['id']}").json()
    assert card["disclosure"] == "hidden:categories"
    assert set(card["protocols"]) == {"strict"}
    assert [card[name] for name in ("tally", "sources", "error_tags", "k_curve", "groupings")] == [None] * 5
    assert card["votes_per_item"] == entry["votes_per_item"]
    assert set(card["behaviour"]) == {"first_shown_rate", "self_consistency"}
    assert card["behaviour"]["self_consistency"] == entry["self_consistency"]
    assert card["findings"]["category"] is not None and card["findings"]["length"] is None
    public = client.get(f"/api/v1/entries/{entry['id']}?revision=v0").json()
    assert "disclosure" not in public and public["findings"]["length"] is not None


def test_where_the_overall_alone_is_shown_nothing_says_macro_or_a_category(whole: dict[str, Any]) -> None:
    client = TestClient(serve(FixedSource(redact_snapshot(whole, {"v2": "hidden"}, spec=VL)), published=()))
    hidden = ("macro", *CATEGORIES)
    scored = [one for one in client.get("/api/v1/leaderboard").json()["entries"] if one["tier"] == "scored"]
    card = client.get(f"/api/v1/entries/{scored[0]['id']}").json()
    for told in (*scored, card["protocols"]["strict"]):
        assert [told[name] for name in hidden] == [None] * len(hidden)
        assert round(200 * told["overall"], 9) % 1 == 0
    assert [one["rank_range"] for one in scored] == [None] * len(scored)
    assert [sorted(one["interval"]) for one in scored] == [["overall"]] * len(scored)
    page = client.get("/?tier=scored").text
    assert 'id="sort-overall"' in page and not any(f'id="sort-{name}"' in page for name in hidden)


def test_a_snapshot_as_stored_stays_as_it_was(whole: dict[str, Any]) -> None:
    before = orjson.dumps(whole)
    redact_snapshot(whole, HIDDEN, spec=VL)
    assert orjson.dumps(whole) == before
    assert json.loads(before)["entries"]


# --- figures ----------------------------------------------------------------------------------------------------------

LABEL_FREE = {"agreement", "critics"}
"""The figures that need no label."""


@cache
def _board_version(*, hidden: bool) -> BoardVersion:
    """Return judges with several votes and their relations, computed when the labels were thought to be public."""
    found = entries([(number, 0.5 + number / 20) for number in range(1, 7)], parameters_b=7.0)
    names = list(pairwise.SKILLS)
    body = pairwise.body()
    body["entries"] = [{**one, "id": name, "base_model": "GPT-4o"} for one, name in zip(found, names, strict=True)]
    known = {name: [0.1, 0.0, 0.2, 40, 0.5, 0.4] for name in names}
    body["relations"] = {"v2": {**body["relations"]["v2"], "self_preference": {"gpt": known}}}
    return BoardCache(FixedSource(redact_snapshot(body, HIDDEN if hidden else {}, spec=VL)), published=()).refresh()


def _drawn(board_version: BoardVersion, chart: str, **asked: str) -> tuple[str, str]:
    """Return the page of a figure, and the figure with its numbers as JSON; "" where nothing is drawn."""
    items = ItemCatalog(relations_body=pairwise.stored)
    query = analyse.read_query({"chart": chart, **asked}, board_version)
    assert query.chart == chart
    data = analyse.figure_file(board_version, query, items, "json")
    return analyse.analyse_page(board_version, query, catalog=items), "" if data is None else data.encodings[
        "identity"
    ].decode()


@pytest.mark.parametrize("chart", sorted(CHARTS))
def test_every_figure_draws_public_labels_and_of_others_only_what_their_disclosure_allows(chart: str) -> None:
    assert _drawn(_board_version(hidden=False), chart)[1], "the control"
    page, figure = _drawn(_board_version(hidden=True), chart)
    if chart not in LABEL_FREE:
        assert not figure
        assert '<svg class="plot"' not in page
        assert "Not shown" in page
    else:
        assert figure
        assert "Not shown" not in page


def test_agreement_needs_no_label_and_stays_while_paired_counts_go() -> None:
    body = pairwise.related()[1]
    before, after = unpack(body), without_counts(unpack(body))
    assert np.array_equal(before.agreement, after.agreement, equal_nan=True)
    assert before.pair(*before.entries[:2], VL)
    assert after.pair(*after.entries[:2], VL) is None
    assert after.bands is None
    catalog = ItemCatalog(relations_body=pairwise.stored)
    for hidden in (False, True):
        found = catalog.relations(_board_version(hidden=hidden), "v2")
        assert found is not None
        assert (found.outcomes is None) is hidden


def test_of_relations_nothing_is_left_that_needs_labels() -> None:
    summary = _board_version(hidden=True).snapshot["relations"]["v2"]
    assert summary["difficulty"] is summary["majority"] is None
    assert not any(summary[name] for name in ("ranges", "variants", "lengths", "self_preference"))
    assert _board_version(hidden=False).snapshot["relations"]["v2"]["ranges"]
