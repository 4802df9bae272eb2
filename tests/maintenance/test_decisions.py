"""The public log as the database gives it: who, what, which boards; and the page about a real change of labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from leaderboard.site.cache import BoardCache
from leaderboard.site.queries import DatabaseSnapshots
from maintenance.actions import entries, operations
from maintenance.decision_log import PublicLog
from storage.database import Database
from tests.databases import new_database, submitted
from tests.factories import boards
from tests.factories.accounts import LOCAL, MAINTAINER, OWNER_OF_IT
from tests.factories.actions import PUBLIC_EVENTS, by, decisions
from tests.factories.board_app import board_app
from tests.factories.specs import spec_of

BENCHMARK = "vl-rewardbench"


def test_a_decision_says_its_kind_in_plain_words_and_who_by_role_alone(database: Database) -> None:
    (mine,), (other,) = (submitted(database, 1, owner=owner) for owner in (OWNER_OF_IT.account, "another00000"))
    entries.withdraw(by(database, OWNER_OF_IT), mine, "wrong prompt")
    entries.flag(by(database, MAINTAINER), other, "trained on it")
    operations.pause(by(database, MAINTAINER), "Back at noon.")
    found = {one["kind"]: one for one in decisions(database)}
    assert "Note put on" in found["entry.flagged"]["title"]
    assert found["entry.flagged"]["by"] == found["submissions.paused"]["by"] == "maintainer"
    assert found["entry.withdrawn"]["by"] == "owner"
    for one in found.values():
        assert not [user for user in (MAINTAINER, OWNER_OF_IT) if user.account in str(one)]


def test_what_only_maintainers_may_do_is_done_by_a_maintainer_anyone_who_owns_the_entry(database: Database) -> None:
    theirs, local = (submitted(database, 1, owner=owner)[0] for owner in (MAINTAINER.account, LOCAL.account))
    for user, entry in ((MAINTAINER, theirs), (LOCAL, local)):
        for decide in (entries.verify, entries.unverify, entries.flag, entries.unflag, entries.withdraw):
            decide(by(database, user), entry, "because")
        entries.restore(by(database, user), entry, reason="because")
    roles = {(one["entry"], one["kind"]): one["by"] for one in decisions(database)}
    assert len(roles) == 12
    assert {key for key, role in roles.items() if role != "maintainer"} == {(theirs, "entry.withdrawn")}
    assert roles[theirs, "entry.withdrawn"] == "owner"


def test_the_log_that_pages_read_is_read_again_when_something_was_decided(database: Database) -> None:
    (entry,) = submitted(database, 1)
    log = PublicLog(database, PUBLIC_EVENTS)
    assert log(None, 10) == []
    entries.flag(by(database, MAINTAINER), entry, "one")
    first = log(None, 10)
    assert [one["note"] for one in first] == ["one"]
    assert log(None, 10) is first
    entries.hide(by(database, MAINTAINER), entry, "because")
    assert log(None, 10) == [], "of a hidden entry nothing is public"


def test_what_owners_say_anew_of_their_entries_drives_nothing_out_of_the_log(database: Database) -> None:
    (mine,) = submitted(database, 1, owner=OWNER_OF_IT.account)
    entries.flag(by(database, MAINTAINER), mine, "trained on it")
    for number in range(3):
        entries.edit(by(database, OWNER_OF_IT, parse=dict), mine, {"notes": f"note {number}"})
    log = PublicLog(database, PUBLIC_EVENTS)
    assert [one["kind"] for one in decisions(database, limit=3)] == ["entry.flagged"]
    assert [one["kind"] for one in log(None, 3)] == ["entry.flagged"]
    edited = decisions(database, limit=3, edits=True)
    assert [one["kind"] for one in edited] == [one["kind"] for one in log(None, 3, True)] == ["entry.edited"] * 3


@pytest.fixture(scope="module")
def turned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Database, dict[str, Any]]:
    """Return the real labels v1, replaced by v2 and taken back; with what the preview found."""
    home: Path = tmp_path_factory.mktemp("turned")
    database = new_database(f"sqlite:///{home}/board.db")
    board = boards.open_board(database, home / "state", revision="v1", judges_wanted=6)
    board.publish()
    board.import_labels(level="public")
    preview = board.preview()
    for change in (board.apply, board.undo):
        change()
        board.publish()
    return database, preview


def _site(database: Database) -> TestClient:
    cache = BoardCache(DatabaseSnapshots(database, spec_of(BENCHMARK)), published=())
    return TestClient(board_app(cache, log=PublicLog(database, PUBLIC_EVENTS)))


def test_a_change_of_labels_names_the_boards_before_and_after(turned: tuple[Database, dict[str, Any]]) -> None:
    database, _ = turned
    undone, applied, first = decisions(database)
    assert (first["kind"], first["by"]) == ("board.pointed", "service")
    assert first["snapshot_before"] is None
    assert (applied["kind"], undone["kind"]) == ("rescore.applied", "rescore.undone")
    assert applied["snapshot_after"] == undone["snapshot_before"]
    client = _site(database)
    for one, sides in ((applied, ("v1", "v2")), (undone, ("v2", "v1"))):
        for name, revision in zip(("snapshot_before", "snapshot_after"), sides, strict=True):
            shown = client.get(f"/?as_of={one[name][:16]}").text
            assert f"(labels <b>{revision}</b>)" in shown, (one["kind"], name)


def test_the_board_tells_of_the_last_turn_and_old_boards_of_theirs(turned: tuple[Database, dict[str, Any]]) -> None:
    database, _ = turned
    undone, applied, first = decisions(database)
    source = DatabaseSnapshots(database, spec_of(BENCHMARK))
    now = source.load(undone["snapshot_after"])
    assert now["turned"] == {"seq": undone["seq"], "at": undone["at"], "from": "v2", "to": "v1"}
    assert source.load(applied["snapshot_after"])["turned"]["seq"] == applied["seq"]
    assert source.load(first["snapshot_after"])["turned"] is None
    assert f'href="/decisions/{undone["seq"]}"' in _site(database).get("/").text


def test_a_change_that_is_taken_back_tells_the_same_counts_turned_round(
    turned: tuple[Database, dict[str, Any]],
) -> None:
    database, preview = turned
    undone, applied, _ = decisions(database)
    there, back = applied["labels"], undone["labels"]
    assert (there["added"], there["dropped"], there["items_before"], there["items_after"]) == (0, 3, 1250, 1247)
    assert (back["added"], back["dropped"], back["items_before"], back["items_after"]) == (3, 0, 1247, 1250)
    assert all(back[name] == there[name] for name in ("flipped", "tags_changed"))
    for name in ("entries", "moved", "largest_change"):
        assert undone[name] == applied[name] is not None
    summary = preview["summary"]
    said = f"{summary['entries']} entries went back to earlier scores, {summary['moved']} moved in rank"
    client = _site(database)
    for page in (client.get(f"/decisions/{undone['seq']}").text, client.get("/decisions").text):
        assert "16 flipped, 3 added, 0 dropped" in page and said in page
