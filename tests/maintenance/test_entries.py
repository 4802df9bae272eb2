"""Decisions about entries: who may, what the public sees of it, and that doing it twice has one effect."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any
from unittest.mock import patch

import pytest
from sqlalchemy import select, text

from auth import Forbidden, Identity, Unauthenticated
from maintenance.actions import entries, entry_search, operations
from maintenance.database.entry_queries import EntryFilter
from maintenance.types import ActionResult, Conflict, NotFound
from storage.clock import minute, read_clock
from storage.database import Database
from storage.integrity import audit
from storage.jobs import job_queue, leases
from storage.limits import submission_pause
from storage.limits.sliding_window import CHANGES_A_DAY, DAY, RateLimited
from storage.models.queue import Job
from submissions.metadata import MetadataRejected, parse_metadata
from submissions.status import get_status, list_own
from tests.databases import an_account, fill_once, new_database, with_labels
from tests.factories import small_benchmark
from tests.factories.accounts import ANONYMOUS, LOCAL, MAINTAINER, OPEN, OWNER_OF_IT, STRANGER, SUBMIT_TOKEN
from tests.factories.actions import activity_of, by, decisions
from tests.factories.refusals import refuses
from tests.factories.small_benchmark import published
from tests.factories.specs import spec_of
from tests.maintenance.concurrency_helpers import at_once
from vlrb.common.translations import translations
from workers.jobs.rescore import rescore
from workers.scorer import Scorer
from workers.startup import prepare

OWNER = OWNER_OF_IT.account


@pytest.fixture
def ids(database: Database) -> list[str]:
    """Return three entries of one owner on the board."""
    return fill_once(database, _three_entries)


def _three_entries(database: Database) -> list[str]:
    small_benchmark.prepare_board(database)
    names = [
        small_benchmark.submit(database, range(n, n + 1), owner=OWNER, created_at=1_700_000_000.0 + n)[0]
        for n in range(3)
    ]
    rescore(database, small_benchmark.scorer(), revision="demo")
    return names


def on_board(database: Database, scorer: Scorer) -> list[str]:
    return [entry["id"] for entry in published(database, scorer)["entries"]]


def head(database: Database) -> audit.Head:
    with database.read() as session:
        return audit.head(session)


UseCase = Callable[[Database, Identity, str], ActionResult]
FOR_OWNERS_TOO: dict[str, UseCase] = {
    "withdraw": lambda db, user, one: entries.withdraw(by(db, user), one, "because"),
    "edit": lambda db, user, one: entries.edit(by(db, user, parse=parse_metadata), one, {"notes": "new"}),
}


@pytest.fixture(scope="module")
def installation(scorer: Scorer, tmp_path_factory: pytest.TempPathFactory) -> tuple[Database, str]:
    """Shared by tests whose point is that nothing happens."""
    opened = new_database(f"sqlite:///{tmp_path_factory.mktemp('shared')}/board.db")
    prepare(opened, scorer, label_revision="demo")
    return opened, small_benchmark.submit(opened, range(1), owner=OWNER)[0]


@pytest.mark.parametrize("name", FOR_OWNERS_TOO)
@pytest.mark.parametrize("who", [ANONYMOUS, STRANGER, SUBMIT_TOKEN, OPEN], ids=lambda user: user.account)
def test_what_is_for_owners_is_refused_to_other_owners(
    installation: tuple[Database, str], name: str, who: Identity
) -> None:
    database, entry = installation
    before = head(database)
    for one in (entry, "e00000000000"):  # whether an entry exists is not told either
        with pytest.raises((Unauthenticated, Forbidden)):
            FOR_OWNERS_TOO[name](database, who, one)
    with pytest.raises((Unauthenticated, Forbidden)):
        entries.history(by(database, who), entry)
    assert head(database) == before


def test_without_sign_in_nobody_can_show_that_an_entry_is_theirs(database: Database, scorer: Scorer) -> None:
    prepare(database, scorer, label_revision="demo")
    (entry,) = small_benchmark.submit(database, range(1))  # owner: local, as everybody's
    with pytest.raises(Forbidden):
        entries.withdraw(by(database, OPEN), entry, "not mine")
    assert entries.withdraw(by(database, LOCAL), entry, "the person at the machine may").changed


def test_an_unknown_entry_is_not_found(database: Database) -> None:
    with pytest.raises(NotFound):
        entries.hide(by(database, MAINTAINER), "e00000000000", "because")


def test_a_hidden_entry_is_nowhere_until_it_is_restored(database: Database, scorer: Scorer, ids: list[str]) -> None:
    before = published(database, scorer)
    entries.flag(by(database, MAINTAINER), ids[1], "looks odd")
    assert entries.hide(by(database, MAINTAINER), ids[1], "a test of mine").changed
    hidden = published(database, scorer)
    assert ids[1] not in json.dumps(hidden)
    assert [entry["id"] for entry in hidden["entries"]] == [ids[0], ids[2]]
    assert all(ids[1] not in json.dumps(one) for one in decisions(database))
    entries.restore(by(database, MAINTAINER), ids[1], reason="it was none")
    entries.unflag(by(database, MAINTAINER), ids[1], "no")
    assert published(database, scorer)["entries"] == before["entries"]


@pytest.mark.parametrize("who", [OWNER_OF_IT, MAINTAINER], ids=lambda user: user.account)
def test_a_withdrawn_entry_leaves_a_stub_with_date_and_reason(
    database: Database, scorer: Scorer, ids: list[str], who: Identity
) -> None:
    assert entries.withdraw(by(database, who), ids[0], "wrong prompt").changed
    shown = published(database, scorer)
    assert [entry["id"] for entry in shown["entries"]] == ids[1:]
    (stub,) = shown["stubs"]
    assert (stub["id"], stub["reason"], stub["model"]) == (ids[0], "wrong prompt", "judge 0")
    assert stub["at"].endswith("Z")
    assert decisions(database)[0]["sentence"] == f"Entry {ids[0]} was withdrawn: wrong prompt"
    told = get_status(database, spec_of(scorer.table.benchmark), ids[0], OWNER_OF_IT)
    assert told is not None
    assert (told.state, told.reason) == ("withdrawn", "wrong prompt")
    entries.hide(by(database, MAINTAINER), ids[0], "a name that may not be shown")
    assert published(database, scorer)["stubs"] == []


def test_marks_are_fields_of_an_entry(database: Database, scorer: Scorer, ids: list[str]) -> None:
    entries.verify(by(database, MAINTAINER), ids[0], "run again by us")
    entries.flag(by(database, MAINTAINER), ids[1], "trained on the items")
    first, second, third = published(database, scorer)["entries"]
    assert first["verified_at"].endswith("Z") and first["flag"] is None
    assert (second["verified_at"], second["flag"]) == (None, "trained on the items")
    assert (third["verified_at"], third["flag"]) == (None, None)
    entries.unverify(by(database, MAINTAINER), ids[0], "no")
    entries.unflag(by(database, MAINTAINER), ids[1], "no")
    assert [one["verified_at"] or one["flag"] for one in published(database, scorer)["entries"]] == [None] * 3


def test_an_edit_shows_at_once_and_keeps_what_was(database: Database, scorer: Scorer, ids: list[str]) -> None:
    entries.edit(
        by(database, OWNER_OF_IT, parse=parse_metadata), ids[0], {"organisation": "A lab", "parameters_b": "7"}
    )
    entries.edit(by(database, MAINTAINER, parse=parse_metadata), ids[0], {"organisation": ""})
    entry = next(one for one in published(database, scorer)["entries"] if one["id"] == ids[0])
    assert (entry["organisation"], entry["parameters_b"]) == (None, 7.0)
    second, first = entries.history(by(database, OWNER_OF_IT), ids[0])
    assert (first.editor, first.before, first.after) == (
        OWNER,
        {"organisation": None, "parameters_b": None},
        {"organisation": "A lab", "parameters_b": 7.0},
    )
    assert (second.editor, second.before, second.after) == (
        MAINTAINER.account,
        {"organisation": "A lab"},
        {"organisation": None},
    )


def test_an_edit_is_judged_like_a_submission(database: Database, ids: list[str]) -> None:
    before = head(database)
    with refuses(MetadataRejected, "not-a-link"):
        entries.edit(by(database, OWNER_OF_IT, parse=parse_metadata), ids[0], {"link": "javascript:alert(1)"})
    with refuses(MetadataRejected, "unknown-field"):
        entries.edit(by(database, OWNER_OF_IT, parse=parse_metadata), ids[0], {"owner": "me"})
    with pytest.raises(Conflict, match=ids[1]):
        entries.edit(by(database, OWNER_OF_IT, parse=parse_metadata), ids[0], {"model": "judge 1"})
    assert head(database) == before


def edited(database: Database, entry: str, *, times: int, ago: float) -> None:
    """That its owner has changed an entry so often, so many seconds ago."""
    with database.write() as session:
        at = read_clock(session) - ago
        for _ in range(times):
            facts = {"entry": entry, "by": OWNER, "before": {"notes": "a"}, "after": {"notes": "b"}}
            with patch.object(audit, "read_clock", lambda session: at):
                audit.append(session, entries.EDITED, data=facts)


def test_an_owner_edits_twenty_times_in_a_day_and_maintainers_as_often_as_need_be(
    database: Database, ids: list[str]
) -> None:
    def edit(number: int, user: Identity = OWNER_OF_IT, *, entry: str = ids[0]) -> ActionResult:
        return entries.edit(by(database, user, parse=parse_metadata), entry, {"notes": f"note {number}"})

    edited(database, ids[0], times=20, ago=DAY + 60)
    for number in range(CHANGES_A_DAY):
        assert edit(number, entry=ids[number % 2]).changed  # whichever of theirs
    assert edit(99, MAINTAINER, entry=ids[2]).changed
    before = head(database)
    with pytest.raises(RateLimited) as caught:
        edit(99)
    assert DAY - 60 < caught.value.seconds <= DAY
    assert minute(caught.value.next_at) in str(caught.value)
    assert head(database) == before
    with pytest.raises(RateLimited):
        edit(99, entry=ids[1])
    assert not edit(CHANGES_A_DAY - 2).changed  # nothing new costs nothing
    assert edit(99, MAINTAINER).changed


def test_edits_that_come_at_the_same_instant_pass_no_limit(database: Database, ids: list[str]) -> None:
    edited(database, ids[0], times=CHANGES_A_DAY - 1, ago=60)
    edits = [
        partial(entries.edit, by(database, OWNER_OF_IT, parse=parse_metadata), ids[n % 3], {"notes": f"{n}"})
        for n in range(6)
    ]
    results = at_once(*edits)
    assert [isinstance(one, ActionResult) for one in results].count(True) == 1, results
    assert [isinstance(one, RateLimited) for one in results].count(True) == 5, results


def test_a_transferred_entry_is_the_new_owners(database: Database, ids: list[str]) -> None:
    with refuses(NotFound, "not-found"):
        entries.transfer(by(database, MAINTAINER), ids[0], STRANGER.account, "they left")
    with database.write() as session:
        session.add(an_account(STRANGER.account))
    assert entries.transfer(by(database, MAINTAINER), ids[0], STRANGER.account, "they left").changed
    assert entries.withdraw(by(database, STRANGER), ids[0], "mine now").changed
    with pytest.raises(Forbidden):
        entries.withdraw(by(database, OWNER_OF_IT), ids[0], "no longer mine")
    assert "entry.transferred" not in {one["kind"] for one in decisions(database)}


def test_owners_see_why_an_entry_is_off_the_board(database: Database, ids: list[str]) -> None:
    entries.withdraw(by(database, OWNER_OF_IT), ids[0], "wrong prompt")
    entries.hide(by(database, MAINTAINER), ids[1], "a secret reason")
    own = list_own(database, "demo", account=OWNER_OF_IT.account)
    found = {one.id: one.reason for one in own if one.state == "withdrawn"}
    of_hidden = found.pop(ids[1]) or ""
    assert found == {ids[0]: "wrong prompt"}
    assert "maintainer has hidden" in of_hidden and "secret" not in of_hidden


def test_restoring_takes_back_one_thing_at_a_time_and_says_what_still_holds(
    database: Database, scorer: Scorer, ids: list[str]
) -> None:
    entries.withdraw(by(database, OWNER_OF_IT), ids[0], "the owner's own decision")
    entries.hide(by(database, MAINTAINER), ids[0], "private data in the notes")
    logged = len(decisions(database))
    seen = entries.restore(by(database, MAINTAINER), ids[0], reason="the notes are clean").message
    assert "was restored, but it is withdrawn. Restore it once more" in seen
    assert [one["kind"] for one in decisions(database)].count("entry.restored") == 0  # of hiding nothing is public
    assert len(decisions(database)) == logged + 1
    shown = published(database, scorer)
    assert [(stub["id"], stub["reason"]) for stub in shown["stubs"]] == [(ids[0], "the owner's own decision")]
    back = entries.restore(by(database, MAINTAINER), ids[0], reason="the owner asked for it").message
    assert back.endswith("is back on the board.")
    assert on_board(database, scorer) == ids
    sentence = decisions(database)[0]["sentence"]
    assert sentence.startswith(f"Entry {ids[0]} is back on the board: ")
    assert translations("zh-CN").text(sentence) == f"条目 {ids[0]} 已回到榜单：the owner asked for it"
    mine = [one.sentence for one in activity_of(database, OWNER_OF_IT) if one.kind == "entry.restored"]
    assert mine[0].startswith("It is back on")
    assert mine[1:] == [
        "It was restored, but it is withdrawn: the notes are clean",
    ]
    assert translations("zh-CN").text(mine[1]) == "它已恢复，但仍处于撤回状态：the notes are clean"
    assert not entries.restore(by(database, MAINTAINER), ids[0], reason="again").changed


def test_every_decision_made_twice_has_one_effect(database: Database, ids: list[str]) -> None:
    twice: list[Callable[[], ActionResult]] = [
        lambda: entries.flag(by(database, MAINTAINER), ids[0], "odd"),
        lambda: entries.unflag(by(database, MAINTAINER), ids[0], "not odd"),
        lambda: entries.verify(by(database, MAINTAINER), ids[0], "run again"),
        lambda: entries.unverify(by(database, MAINTAINER), ids[0], "no"),
        lambda: entries.edit(by(database, MAINTAINER, parse=parse_metadata), ids[0], {"notes": "new"}),
        lambda: entries.hide(by(database, MAINTAINER), ids[0], "because"),
        lambda: entries.restore(by(database, MAINTAINER), ids[0], reason="because"),
        lambda: entries.withdraw(by(database, OWNER_OF_IT), ids[0], "because"),
        lambda: entries.transfer(by(database, MAINTAINER), ids[2], "local", "because"),
        lambda: operations.pause(by(database, MAINTAINER), "moving house"),
        lambda: operations.resume(by(database, MAINTAINER)),
    ]
    for decide in twice:
        assert decide().changed
        before = head(database)
        assert not decide().changed
        assert head(database) == before
    with database.read() as session:
        assert audit.verify(session) is None


def test_the_event_and_the_change_stand_and_fall_together(
    database: Database, ids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> int:
        raise RuntimeError

    monkeypatch.setattr(audit, "append", refuse)
    for decide in (entries.hide, entries.flag, entries.verify):
        with pytest.raises(RuntimeError):
            decide(by(database, MAINTAINER), ids[0], "because")
    with pytest.raises(RuntimeError):
        operations.pause(by(database, MAINTAINER), "because")
    with database.read() as session:
        assert (
            session.execute(
                text("SELECT count(coalesce(hidden_at, verified_at)) + count(flag) FROM submissions")
            ).scalar_one()
            == 0
        )
        assert submission_pause.pause_message(session) is None


def test_a_failed_job_is_tried_again_once(database: Database, scorer: Scorer) -> None:
    prepare(database, scorer, label_revision="demo")
    (entry,) = small_benchmark.submit(database, range(1), queued=True)
    with database.write() as session:
        claim = job_queue.claim(session, "w", lease_seconds=60)
        assert claim is not None
        leases.fail(session, claim, outcome="broken", retry=False)
    (failure,) = operations.health(by(database, MAINTAINER)).failures
    assert (failure.submission_id, failure.reason) == (entry, "broken")
    assert operations.requeue(by(database, MAINTAINER), failure.job_id).changed
    assert not operations.requeue(by(database, MAINTAINER), failure.job_id).changed
    with database.read() as session:
        job = session.scalars(select(Job)).first()
        assert job is not None
        assert (job.state, job.attempts, job.outcome) == ("queued", 0, "")
    with database.write() as session:
        assert job_queue.claim(session, "w", lease_seconds=60) is not None


def test_a_pause_has_a_public_message(database: Database) -> None:
    operations.pause(by(database, MAINTAINER), "We move to another machine.\x1b[0m\nBack at noon.")
    with database.read() as session:
        assert submission_pause.pause_message(session) == "We move to another machine. [0m Back at noon."
    operations.pause(by(database, MAINTAINER), "Back at two.")
    with database.read() as session:
        assert submission_pause.pause_message(session) == "Back at two."
    operations.resume(by(database, MAINTAINER))
    with database.read() as session:
        assert submission_pause.pause_message(session) is None


def test_entries_are_filtered_sorted_and_paged_and_all_that_match_are_decided(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_labels(database)
    first, second = small_benchmark.submit(database, range(2), owner="aowner000000")
    (other,) = small_benchmark.submit(database, range(2, 3), owner="aother000000")
    ctx = by(database, MAINTAINER)
    entries.hide(ctx, second, "because")

    def found(**filters: Any) -> list[str]:
        return [row.id for row in entry_search.search(ctx, EntryFilter(**filters)).entries]

    assert found(sort="name") == [first, second, other] and found(sort="owner")[0] == other
    assert (found(state="hidden"), found(state="queued", owner="aowner000000")) == ([second], [first])
    assert found(since="2020-01-01", until="2100-01-01", sort="name") == [first, second, other]
    assert found(until="2020-01-01") == [] == found(since="2100-01-01")
    monkeypatch.setattr(entry_search, "MOST", 2)
    page = entry_search.search(ctx, EntryFilter(sort="name", page=2))
    assert ([row.id for row in page.entries], page.pages, page.number) == ([other], 2, 3)
    for wrong in ({"state": "x"}, {"sort": "x"}, {"since": "x"}):
        with pytest.raises(Conflict):
            found(**wrong)
    owned = EntryFilter(owner="aowner000000")
    with refuses(Conflict, "other-count"):
        entry_search.decide_all(ctx, "hide", reason="because", count=3, filters=owned)
    done = entry_search.decide_all(ctx, "hide", reason="because", count=2, filters=owned)
    assert done.message == "hide: 1 of 2 entries changed."
    assert found(state="hidden", sort="name") == [first, second]
