"""Anonymous and unpublished entries stay out of all that is made for the public; anonymity ends by itself."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sqlalchemy import update

from leaderboard.board.api import leaderboard_json
from leaderboard.ranking.parameters import BoardQuery
from leaderboard.ranking.rows import build_board
from leaderboard.share.exports import as_csv, as_json, extract
from leaderboard.site.queries import DatabaseSnapshots
from maintenance.actions import approvals, entries
from storage import visibility
from storage.boards import snapshots
from storage.clock import database_now
from storage.database import Database
from storage.jobs import job_queue
from storage.models.core import Submission
from storage.visibility import EntryVisibility
from tests.databases import shown_board
from tests.factories import small_benchmark
from tests.factories.accounts import MAINTAINER, person
from tests.factories.actions import by, decisions
from tests.factories.small_benchmark import published
from tests.factories.specs import VL, spec_of
from workers import board_view
from workers.jobs.pairwise_statistics import compute_if_changed
from workers.jobs.rescore import rescore
from workers.jobs.snapshot import publish_if_changed
from workers.queries import entries_on_board
from workers.runner import Worker
from workers.scorer import Scorer

SECRETS = {
    "organisation": "Planted-Org-7e1",
    "link": "https://planted-link-7e1.example/",
    "paper": "https://planted-paper-7e1.example/",
    "code": "https://planted-code-7e1.example/",
    "hub_id": "planted-hub-7e1/judge",
}
OWNER = "aplanted7e1x"
FAR = 4e9  # seconds since 1970


def arrive(
    database: Database, scorer: Scorer, *, number: int, shown: EntryVisibility = visibility.PLAIN, **said: Any
) -> str:
    """Return a scored entry of OWNER's, as the intake records it."""
    kept = {"anonymous_until": shown.anonymous_until, "held_back_at": None if shown.published else 1.0}
    kept |= {"attempt": number + 1, "attempt_revision": "demo", "attempted_at": 1.0}
    (name,) = small_benchmark.submit(database, range(number, number + 1), **({"owner": OWNER, **kept, **said}))
    rescore(database, scorer, revision="demo")
    return name


def test_an_anonymous_entry_is_on_the_board_without_who_made_it(ready: Database, scorer: Scorer) -> None:
    name = arrive(ready, scorer, number=0, shown=EntryVisibility(FAR), **SECRETS)
    arrive(ready, scorer, number=1, model="named", organisation="Lab")
    found = {entry["id"]: entry for entry in published(ready, scorer)["entries"]}
    assert (found[name]["model"], found[name]["anonymous_until"]) == ("judge 0", "2096-10-02T07:06:40Z")
    assert (found[name]["attempt"], found[name]["attempts"]) == (1, None)
    with ready.read() as session:
        assert not [name for name, content in snapshots.contents(session) if b"lanted" in (content or b"")]
    snapshot = DatabaseSnapshots(ready, spec_of("demo")).load(shown_board(ready).snapshot_id)
    board = build_board(snapshot, VL)
    (row,) = (row for row in board.rows if row.id == name)
    assert row.provenance == "attempt 1 · anonymous until 2096-10-02"
    taken = extract(board, BoardQuery(VL))
    made = json.dumps(leaderboard_json(board)).encode() + str(board).encode() + as_csv(taken) + as_json(taken)
    assert b"lanted" not in made
    assert b"judge 0" in made


def test_without_the_wish_the_same_search_finds_every_secret(ready: Database, scorer: Scorer) -> None:
    """The positive control."""
    arrive(ready, scorer, number=0, **SECRETS)
    shown = json.dumps(published(ready, scorer))
    for secret in SECRETS.values():
        assert secret in shown
    assert OWNER not in shown  # of nobody


def test_a_day_that_has_come_ends_anonymity_by_itself(ready: Database, scorer: Scorer) -> None:
    name = arrive(ready, scorer, number=0, shown=EntryVisibility(FAR), **SECRETS)
    assert "lanted" not in json.dumps(published(ready, scorer))
    worker = Worker(ready, [scorer], lease_seconds=60)
    assert worker.end_anonymity() == 0
    with ready.write() as session:
        session.execute(update(Submission).values(anonymous_until=database_now() - 1.0))
    assert publish_if_changed(ready, scorer) is None  # pages ask no clock: the end is an event
    assert [worker.end_anonymity() for _ in range(2)] == [1, 0]
    (entry,) = published(ready, scorer)["entries"]
    assert (entry["id"], entry["organisation"], entry["anonymous_until"]) == (name, SECRETS["organisation"], None)


def test_an_unpublished_entry_is_scored_and_counted_but_nowhere_to_be_seen(ready: Database, scorer: Scorer) -> None:
    shown = arrive(ready, scorer, number=0)
    unseen = arrive(ready, scorer, number=1, shown=EntryVisibility(published=False), model="Planted-Model-7e1")
    found = published(ready, scorer)
    assert [entry["id"] for entry in found["entries"]] == [shown]
    assert found["unpublished"] == 1
    assert (found["entries"][0]["attempt"], found["entries"][0]["attempts"]) == (1, 2)
    assert "lanted" not in json.dumps(found)
    assert unseen not in json.dumps(found)
    with ready.read() as session:
        assert [one.id for one in entries_on_board(session, "demo", revision="demo", version=scorer.version)] == [shown]
    assert compute_if_changed(ready, scorer) > 0
    assert "demo" in published(ready, scorer)["relations"]  # made of exactly the entries that are shown
    board = build_board(DatabaseSnapshots(ready, spec_of("demo")).load(shown_board(ready).snapshot_id), VL)
    assert leaderboard_json(board)["unpublished"] == 1


def test_an_unpublished_variant_counts_where_its_account_shows_one_and_nowhere_else(
    ready: Database, scorer: Scorer
) -> None:
    unseen = EntryVisibility(published=False)
    first = arrive(ready, scorer, number=0, model="Judge", organisation="Lab")
    tried = arrive(ready, scorer, number=1, model="Judge v2", shown=unseen)
    arrive(ready, scorer, number=2, model="Judge v3", organisation="Lab", owner="bob", shown=unseen)
    arrive(ready, scorer, number=3, model="Judge v4", shown=unseen._replace(anonymous_until=FAR))
    with ready.read() as session:
        board = board_view.read_board(session, shown_board(ready))
    assert [entry.id for entry in board.entries] == [first, tried]
    assert board.judges == {first: first, tried: first}


def test_withdrawing_what_nobody_has_seen_leaves_no_stub_and_still_counts(ready: Database, scorer: Scorer) -> None:
    unseen = arrive(ready, scorer, number=0, shown=EntryVisibility(published=False))
    entries.withdraw(by(ready, person(OWNER)), unseen, "Planted-Reason-7e1")
    found = published(ready, scorer)
    assert (found["stubs"], found["entries"], found["unpublished"]) == ([], [], 1)
    assert unseen not in str(decisions(ready))
    assert "lanted" not in str(decisions(ready))
    entries.hide(by(ready, MAINTAINER), unseen, "spam")
    assert published(ready, scorer)["unpublished"] == 0


def test_who_was_not_approved_writes_nothing_into_public_by_withdrawing(ready: Database, scorer: Scorer) -> None:
    (waiting,) = small_benchmark.submit(ready, range(1), owner=OWNER, approval=visibility.WAITING)
    entries.withdraw(by(ready, person(OWNER)), waiting, "Planted-Reason-7e1")
    assert published(ready, scorer)["stubs"] == []
    assert "lanted" not in str(decisions(ready))
    approvals.reject(by(ready, MAINTAINER), waiting, "an advertisement")
    assert published(ready, scorer)["stubs"] == []
    assert "lanted" not in str(decisions(ready))
    approvals.approve(by(ready, MAINTAINER), waiting, "a second look")
    assert [one["id"] for one in published(ready, scorer)["stubs"]] == [waiting]
    assert "lanted" in str(decisions(ready))


def numbers(found: dict[str, Any], *names: str) -> list[tuple[int, int | None]]:
    """Of each entry the attempt number and of how many."""
    told = {entry["id"]: (entry["attempt"], entry["attempts"]) for entry in found["entries"]}
    return [told[name] for name in names]


def test_an_anonymous_entry_moves_no_number_of_its_accounts_named_rows(ready: Database, scorer: Scorer) -> None:
    named = arrive(ready, scorer, number=0)
    before = next(entry for entry in published(ready, scorer)["entries"] if entry["id"] == named)
    unnamed = arrive(ready, scorer, number=1, shown=EntryVisibility(FAR))
    found = published(ready, scorer)
    assert next(entry for entry in found["entries"] if entry["id"] == named) == before
    assert numbers(found, named, unnamed) == [(1, 1), (2, None)]
    later = arrive(ready, scorer, number=2)
    assert numbers(published(ready, scorer), named, unnamed, later) == [(1, 3), (2, None), (3, 3)]
    last = arrive(ready, scorer, number=3, shown=EntryVisibility(FAR))
    found = published(ready, scorer)
    assert numbers(found, named, unnamed, later, last) == [(1, 3), (2, None), (3, 3), (4, None)]
    with ready.write() as session:
        assert visibility.end_anonymity(session, last, by="owner")
    found = published(ready, scorer)
    assert numbers(found, named, unnamed, later, last) == [(1, 4), (2, None), (3, 4), (4, 4)]


@pytest.mark.parametrize("shown", [EntryVisibility(FAR), visibility.PLAIN], ids=["unnamed", "control, named"])
def test_whose_an_anonymous_entry_is_changes_no_byte_of_any_snapshot(
    ready: Database, scorer: Scorer, shown: EntryVisibility
) -> None:
    """Totals, best versions, the number of judges: the same whether the account has other rows or not."""
    arrive(ready, scorer, number=0, model="the same")
    name = arrive(ready, scorer, number=1, shown=shown, model="the same", version="2")
    published(ready, scorer)
    assert compute_if_changed(ready, scorer) > 0
    relations = published(ready, scorer)["relations"]["demo"]
    assert (relations["judges"], len(relations["entries"])) == ((2, 2) if shown.anonymous_until else (1, 1))
    with ready.write() as session:
        session.execute(update(Submission).where(Submission.id == name).values(owner="somebody else"))
    assert (publish_if_changed(ready, scorer, anew=True) is None) == (shown != visibility.PLAIN)


def test_what_waits_for_a_maintainer_is_scored_by_no_way(ready: Database, scorer: Scorer) -> None:
    (name,) = small_benchmark.submit(ready, range(1), approval=visibility.WAITING)
    assert rescore(ready, scorer, revision="demo") == 0
    assert Worker(ready, [scorer], lease_seconds=60).enqueue_missing() == 0
    with ready.write() as session:
        session.execute(update(Submission).where(Submission.id == name).values(approval=visibility.APPROVED))
        assert job_queue.has_missing(session, "demo", label_revision="demo", scorer_version=scorer.version)
    assert rescore(ready, scorer, revision="demo") == 1
