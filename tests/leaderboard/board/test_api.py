"""The board as JSON."""

import json
import re
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from leaderboard.site.cache import CurrentSnapshot
from tests.factories import pairwise
from tests.factories.board_app import serve
from tests.factories.snapshots import FixedSource, baselines, entry, snapshot
from tests.factories.specs import API_COLUMNS, VL
from vlrb.behaviour import Behaviour
from vlrb.scorecard import scorecard
from vlrb.scoring import Tally

ENTRY = entry(1, 0.7)


@pytest.fixture
def client() -> Iterator[TestClient]:
    with TestClient(serve(FixedSource(snapshot([ENTRY, entry(2, 0.6, k=1)])))) as client:
        yield client


def test_the_leaderboard_names_its_snapshot_rules_and_columns(client: TestClient) -> None:
    board = client.get("/api/v1/leaderboard").json()
    names = ("snapshot", "as_of", "benchmark", "label_revision", "protocol", "grouping")
    assert {name: board[name] for name in names} == {
        "snapshot": "snapshot-1",
        "as_of": "2026-11-21T22:00:00Z",
        "benchmark": "vl-rewardbench",
        "label_revision": "v2",
        "protocol": "strict",
        "grouping": "official",
    }
    assert board["columns"] == list(API_COLUMNS)
    assert all(list(one) == list(API_COLUMNS) for one in board["entries"])


def test_the_first_sentence_of_the_page_is_in_its_json(client: TestClient) -> None:
    finding = client.get("/api/v1/leaderboard").json()["finding"]
    assert re.fullmatch(
        r"\w.* macro [0-9.]+ \([0-9.]+–[0-9.]+\)\. Best reported: \w.*, [0-9.]+, not verified\.", finding
    )
    leader, reported = finding.split(". ", 1)
    page = client.get("/").text
    assert f"<h1>{leader}.</h1>" in page and reported in page


def test_accuracies_are_fractions_and_reported_rows_carry_no_rank(client: TestClient) -> None:
    rows = client.get("/api/v1/leaderboard").json()["entries"]
    scored = [row for row in rows if row["tier"] == "scored"]
    assert [row["rank"] for row in scored] == [1, 2]
    assert 0.5 < scored[0]["macro"] < 1
    assert scored[0]["interval"]["macro"][0] < scored[0]["macro"] < scored[0]["interval"]["macro"][1]
    reported = next(row for row in rows if row["model"] == "R1-Reward")
    assert reported["rank"] is None
    assert reported["overall"] == pytest.approx(0.7192)
    assert reported["source"] == "arXiv:2505.02835"
    assert reported["url"] == "https://arxiv.org/abs/2505.02835"


def test_rows_scored_here_and_rows_that_authors_reported_can_be_asked_for_alone(client: TestClient) -> None:
    everything = client.get("/api/v1/leaderboard").json()["entries"]
    for tier in ("scored", "reported"):
        page = client.get("/api/v1/leaderboard", params={"tier": tier, "limit": 1000}).json()
        assert page["entries"] == [row for row in everything if row["tier"] == tier] != []
        assert page["next"] is None
    assert client.get("/api/v1/leaderboard?tier=all").json()["entries"] == everything
    assert client.get("/api/v1/leaderboard?tier=verified").status_code == 400


def test_protocol_grouping_and_revision_can_be_chosen(client: TestClient) -> None:
    query = "protocol=paper&grouping=rl-in-general&revision=v0"
    board = client.get(f"/api/v1/leaderboard?{query}").json()
    assert (board["protocol"], board["grouping"], board["label_revision"]) == ("paper", "rl-in-general", "v0")
    assert board["sizes"] == {"overall": 1250, "general": 484, "hallucination": 448, "reasoning": 318}


@pytest.mark.parametrize("query", ["protocol=fair", "grouping=mine", "revision=v9", "sort=nothing", "sort=overall:up"])
def test_an_unknown_choice_is_a_problem_that_names_the_known_ones(client: TestClient, query: str) -> None:
    reply = client.get(f"/api/v1/leaderboard?{query}")
    name = query.partition("=")[0]
    assert reply.status_code == 400
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.json()["code"] == f"unknown-{name}"
    assert reply.json()["known"]


def test_an_entry_is_its_scorecard(client: TestClient) -> None:
    for revision in ("v2", "v0"):
        tally = Tally.from_json(ENTRY["tallies"][revision], VL)
        behaviour = Behaviour.from_json(ENTRY["tallies"][revision]["behaviour"])
        expected = scorecard(tally, behaviour, benchmark="vl-rewardbench", label_revision=revision)
        answered = client.get(f"/api/v1/entries/{ENTRY['id']}?revision={revision}").json()
        assert {name: value for name, value in answered.items() if name != "findings"} == {
            **json.loads(json.dumps(expected)),  # lists for tuples
            "best_of": None,
            "remark": None,
        }
    assert client.get(f"/api/v1/entries/{ENTRY['id']}").json()["label_revision"] == "v2"


def test_an_entry_says_its_strongest_category_and_its_biases_as_its_page_does(client: TestClient) -> None:
    card = client.get(f"/api/v1/entries/{ENTRY['id']}").json()
    category = card["findings"]["category"]
    named = [category["strongest"], *category["significantly_above"], *category["not_separable_from"]]
    strict = card["protocols"]["strict"]
    assert named[0] == max(VL.category_keys, key=lambda key: strict[key])
    assert sorted(named) == sorted(VL.category_keys)
    bias = card["behaviour"]["position_bias"]
    assert card["findings"]["position"] == {"favours": None, "bias": bias["value"]}
    assert bias["low"] < 0 < bias["high"]
    page = client.get(f"/entries/{ENTRY['id']}").text
    assert ("No category stands out" in page) is (category["significantly_above"] == [])


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("e99999999999", "unknown-entry"),
        ("r-r1-reward-2505-02835", "no-scorecard"),
        (f"{ENTRY['id']}?revision=v9", "not-scored"),
    ],
)
def test_what_has_no_scorecard_says_why(client: TestClient, path: str, code: str) -> None:
    reply = client.get(f"/api/v1/entries/{path}")
    assert reply.status_code == 404
    assert reply.json()["code"] == code


def test_baselines_stand_beside_the_entries_and_ranges_at_them() -> None:
    with TestClient(serve(FixedSource({**pairwise.body(), "baselines": baselines()}), published=())) as client:
        board = client.get("/api/v1/leaderboard").json()
        assert {one["tier"] for one in board["entries"]} == {"scored"}
        assert all(one["rank_range"][0] <= one["rank"] <= one["rank_range"][1] for one in board["entries"])
        assert {one["tier"] for one in board["baselines"]} == {"baseline"}
        assert all(one["rank"] is None for one in board["baselines"])
        other = client.get("/api/v1/leaderboard?protocol=paper").json()
        assert all(one["rank_range"] is None for one in other["entries"])


def test_an_old_board_and_its_entries_are_found_again() -> None:
    source = FixedSource(snapshot([ENTRY]))
    source.turn(snapshot([entry(3, 0.8)]))
    with TestClient(serve(source, published=())) as client:
        old = client.get("/api/v1/leaderboard?as_of=snapshot-1").json()
        assert old["snapshot"] == "snapshot-1"
        assert [one["id"] for one in old["entries"]] == [ENTRY["id"]]
        assert client.get("/api/v1/leaderboard").json()["snapshot"] == "snapshot-2"
        assert client.get(f"/api/v1/entries/{ENTRY['id']}").status_code == 404
        assert client.get(f"/api/v1/entries/{ENTRY['id']}?as_of=snapshot-1").status_code == 200
        for when, status, code in (("nowhen", 404, "no-board"), ("whenever", 400, "invalid-as-of")):
            reply = client.get(f"/api/v1/leaderboard?as_of={when}")
            assert (reply.status_code, reply.json()["code"]) == (status, code)


@pytest.fixture
def paged() -> Iterator[TestClient]:
    with TestClient(serve(NamedSource(snapshot([ENTRY, entry(2, 0.6, k=1)])))) as client:
        yield client


class NamedSource(FixedSource):
    """A source whose snapshot has an id as digests are."""

    def current(self) -> CurrentSnapshot:
        return CurrentSnapshot("ab" * 32, None, paused=None, off=frozenset())

    def find(self, when: str) -> str | None:
        return "ab" * 32 if ("ab" * 32).startswith(when) else None


def test_pages_joined_are_the_whole_board(paged: TestClient) -> None:
    whole = paged.get("/api/v1/leaderboard").json()
    assert "next" not in whole
    found, cursor = [], ""
    while cursor is not None:
        page = paged.get("/api/v1/leaderboard", params={"limit": 7, "cursor": cursor}).json()
        assert len(page["entries"]) <= 7
        assert {name: page[name] for name in whole if name != "entries"} == {
            name: whole[name] for name in whole if name != "entries"
        }
        found += page["entries"]
        cursor = page["next"]
    assert found == whole["entries"]


@pytest.mark.parametrize("cursor", ["7", "x.7", "ab" * 8, "ab" * 8 + ".-1"])
def test_a_cursor_that_is_none_is_refused(paged: TestClient, cursor: str) -> None:
    refused = paged.get("/api/v1/leaderboard", params={"cursor": cursor})
    assert (refused.status_code, refused.json()["code"]) == (400, "invalid-cursor")
    unknown = paged.get("/api/v1/leaderboard", params={"cursor": "cd" * 8 + ".7"})
    assert unknown.status_code == 404
