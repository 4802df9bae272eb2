"""The public log of decisions: its pages, what moved, the notice on the board, and the feed."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from leaderboard.decisions.pages import PAGE
from leaderboard.decisions.service import MOST_MOVES, rank_changes
from leaderboard.ranking.rows import build_board
from leaderboard.share.feed import PublicDecision
from leaderboard.site.cache import BoardCache
from tests.factories.board_app import board_app
from tests.factories.snapshots import FixedSource, entries, entry, snapshot
from tests.factories.specs import VL
from vlrb.scoring import Tally

HOSTILE = "<script>alert(1)</script> {{7*7}}"
BEFORE, AFTER = "snapshot-1", "snapshot-2"
TURN = {
    **{"seq": 7, "at": "2026-11-20T10:00:00Z", "kind": "rescore.applied", "title": "Scored again under other labels"},
    **{"sentence": f"The board changed from v0 to v2: sixteen labels {HOSTILE}", "by": "maintainer"},
    **{"from": {"label_revision": "v0", "scorer_version": "1"}, "to": {"label_revision": "v2", "scorer_version": "1"}},
    **{"reason": f"sixteen labels {HOSTILE}", "entries": 3, "moved": 2},
    "changes": ["Labels: 16 flipped, 0 added, 3 dropped.", "3 entries were scored again, 2 moved in rank."],
    **{"commitment": "c" * 64, "snapshot_before": BEFORE, "snapshot_after": AFTER},
}
WITHDRAWN = {
    **{"seq": 5, "at": "2026-11-19T10:00:00Z", "kind": "entry.withdrawn", "title": "Entry withdrawn"},
    **{"sentence": "Entry e00000000001 was withdrawn: wrong prompt", "by": "owner", "changes": []},
    **{"entry": "e00000000001", "reason": "wrong prompt"},
}
UNKNOWN = {"seq": 3, "at": "2026-11-18T10:00:00Z", "kind": "policy.set", "title": "Policy set", "by": "service",
           "sentence": "Submissions may be twice as large.", "changes": []}  # fmt: skip
DECISIONS: list[PublicDecision] = [TURN, WITHDRAWN, UNKNOWN]


def keeper(decisions: Sequence[PublicDecision]) -> Any:
    """Return a log as its keeper would tell it."""

    def log(before: int | None, limit: int, edits: bool) -> Sequence[PublicDecision]:
        return [one for one in decisions if before is None or one["seq"] < before][:limit]

    return log


def app_of(decisions: Sequence[PublicDecision] = DECISIONS, **snapshot_facts: Any) -> FastAPI:
    """Return a site whose board showed v0, and now shows v2 with one judge more."""
    judges = entries([(1, 0.8), (2, 0.6), (3, 0.5)])
    source = FixedSource({**snapshot(judges), "label_revision": "v0"})
    source.turn({**snapshot([*judges, entry(4, 0.9, model="New")]), **snapshot_facts})
    return board_app(BoardCache(source, published=()), log=keeper(decisions))


@pytest.fixture
def client() -> TestClient:
    return TestClient(app_of())


def test_every_decision_stands_on_the_page_with_date_kind_reason_and_who(client: TestClient) -> None:
    page = client.get("/decisions").text
    for said in ("2026-11-20", "Scored again under other labels", "by a maintainer", "16 flipped, 0 added, 3 dropped"):
        assert said in page
    for said in ("Entry withdrawn", "by its owner", "wrong prompt", '<a href="/entries/e00000000001">Judge 1</a>'):
        assert said in page
    assert "Submissions may be twice as large." in page, "a kind that the page has never heard of"
    assert page.index('id="d7"') < page.index('id="d5"') < page.index('id="d3"')
    assert HOSTILE not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt; {{7*7}}" in page


def test_a_decision_has_an_address_of_its_own_and_a_private_one_has_none(client: TestClient) -> None:
    for one in DECISIONS:
        assert one["title"] in client.get(f"/decisions/{one['seq']}").text
    for name in ("4", "8", "0", "x", "-1", "9" * 40, "٣"):
        assert client.get(f"/decisions/{name}").status_code == 404, name


def test_pages_are_revalidated_and_change_with_the_log() -> None:
    decisions = [WITHDRAWN]
    client = TestClient(app_of(decisions))
    for path in ("/decisions", "/decisions/5"):
        first = client.get(path)
        etag = first.headers["etag"]
        assert client.get(path, headers={"if-none-match": etag}).status_code == 304
    decisions.insert(0, TURN)
    assert client.get("/decisions", headers={"if-none-match": etag}).status_code == 200
    assert 'id="d7"' in client.get("/decisions").text


def test_a_long_log_is_read_page_by_page_and_an_empty_one_says_so() -> None:
    many = [{**WITHDRAWN, "seq": seq} for seq in range(2 * PAGE, 0, -1)]
    client = TestClient(app_of(many))
    first = client.get("/decisions").text
    assert first.count("<li id=") == PAGE
    older = re.search(r'href="(/decisions\?before=\d+)" rel="next"', first)
    assert older
    second = client.get(older[1]).text
    assert second.count("<li id=") == PAGE
    assert 'rel="next"' not in second
    assert not set(re.findall(r'<li id="(d\d+)"', first)) & set(re.findall(r'<li id="(d\d+)"', second))
    assert 'class="empty decided"' in TestClient(app_of([])).get("/decisions").text and "empty decided" not in first


def test_a_change_of_labels_shows_both_boards_and_what_moved(client: TestClient) -> None:
    page = client.get("/decisions/7").text
    for name, revision in ((BEFORE, "v0"), (AFTER, "v2")):
        assert f'href="/?as_of={name}"' in page
        assert f"<b>{revision}</b>" in client.get(f"/?as_of={name}").text
    assert "0 of 3 entries" in page, "those on both boards"
    assert page.count("moved in rank") == 1, "told once"
    taken_back = TestClient(app_of([{**TURN, "changes": []}])).get("/decisions/7").text
    assert taken_back.count("moved in rank") == 1, "where it is not on record, the boards tell"
    assert "New" not in re.findall(r'<th scope="row"><a[^>]*>([^<]*)', page), "it was on one of the two boards only"
    pending = TestClient(app_of([{**TURN, "snapshot_after": None}])).get("/decisions/7").text
    assert "not ready yet" in pending


def test_moves_are_the_differences_of_the_two_boards() -> None:
    judges = entries([(1, 0.8), (2, 0.6), (3, 0.5), (4, 0.3)])
    first, last = judges[0]["tallies"]["v2"], judges[3]["tallies"]["v2"]
    judges[0]["tallies"]["v0"], judges[3]["tallies"]["v0"] = last, first  # the best and the worst change places
    for one in judges[1:3]:
        one["tallies"]["v0"] = one["tallies"]["v2"]
    body = snapshot(judges)
    before, after = (build_board(body, VL, revision=name) for name in ("v0", "v2"))
    found = rank_changes(before, after)
    assert (found.entries, found.changed, found.moved) == (4, 2, 2)
    assert {line.new.id: (line.old.rank, line.new.rank) for line in found.lines} == {
        judges[0]["id"]: (4, 1),
        judges[3]["id"]: (1, 4),
    }
    row, old = after.find(judges[0]["id"]), before.find(judges[0]["id"])
    assert row and old and row.value("macro") and old.value("macro")
    line = next(line for line in found.lines if line.new.id == row.id)
    assert line.delta == f"+{100 * (row.value('macro') - old.value('macro')):.2f}"
    assert found.largest == line.delta.lstrip("+")
    assert rank_changes(after, after).lines == ()


def test_moves_under_hidden_labels_are_those_of_the_overall_in_half_points() -> None:
    judges = entries([(1, 0.8)])
    counts = Tally.from_json(judges[0]["tallies"]["v2"], VL)
    counts.counts[2, 1] -= 1  # one of the 749 hallucination pairs: 0.04 points of the macro average
    counts.counts[2, 2] += 1
    body = snapshot([{**judges[0], "tallies": {"v0": judges[0]["tallies"]["v2"], "v2": counts.to_json()}}])
    before, after = (build_board(body, VL, revision=name) for name in ("v0", "v2"))
    assert rank_changes(before, after).lines[0].delta == "\u22120.04"
    hidden = [build_board({**body, "disclosure": {name: "hidden"}}, VL, revision="v2") for name in ("v0", "v2")]
    for changes in (rank_changes(before, hidden[1]), rank_changes(hidden[1], before)):
        assert changes.what == "overall" or changes.lines == ()
        assert all(re.fullmatch(r"0\.0|[+\u2212]\d+\.[05]", line.delta) for line in changes.lines)


def test_the_longest_table_lists_the_largest_changes() -> None:
    judges = entries([(number, 0.3 + number / 200) for number in range(1, MOST_MOVES + 11)])
    body = snapshot(judges)
    after = build_board(body, VL, revision="v2")
    turned = [
        replace(row, scores={**row.scores, "macro": (row.value("macro") or 0) + at / 1000})
        for at, row in enumerate(after.rows)
    ]
    found = rank_changes(replace(after, rows=tuple(turned)), after)
    assert found.changed == len(judges) - 1
    assert len(found.lines) == MOST_MOVES
    assert found.lines[0].new.id == after.rows[-1].id


TURNED = {"seq": 7, "at": "2026-11-20T10:00:00Z", "from": "v0", "to": "v2"}


def test_the_board_tells_of_a_recent_change_of_labels_and_only_where_it_counts_under_them() -> None:
    told = TestClient(app_of(turned=TURNED))
    assert 'href="/decisions/7">Why, and what moved' in told.get("/").text
    assert "Why, and what moved" not in told.get("/?revision=v0").text
    assert "Why, and what moved" not in told.get(f"/?as_of={BEFORE}").text
    old = {**TURNED, "at": "2026-08-01T10:00:00Z"}
    assert "Why, and what moved" not in TestClient(app_of(turned=old)).get("/").text
    assert 'href="/decisions"' in told.get("/about").text, "the footer"


def test_the_feed_of_the_board_carries_every_public_decision(client: TestClient) -> None:
    atom = "{http://www.w3.org/2005/Atom}"
    feed = ET.fromstring(client.get("/feed.xml").content)
    titles = [one.findtext(f"{atom}title") or "" for one in feed.findall(f"{atom}entry")]
    assert titles[0] == TURN["title"]
    assert "Policy set" in titles
    assert WITHDRAWN["title"] in titles
    assert any(title.startswith("New") for title in titles)
    days = [one.findtext(f"{atom}updated", "") for one in feed.findall(f"{atom}entry")]
    assert days == sorted(days, reverse=True)
    assert feed.findtext(f"{atom}entry/{atom}id", "").endswith("/decisions/7")
