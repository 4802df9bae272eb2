"""The current snapshot and the worker's heartbeat, from a real database."""

import asyncio
import hashlib
import json
import threading
import zlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import pytest
from sqlalchemy import update

from leaderboard.site.cache import BoardCache, BoardVersion
from leaderboard.site.queries import DatabaseSnapshots
from leaderboard.site.serial_executor import CLIENT
from storage.database import Database
from storage.jobs import worker_heartbeats
from storage.labels import label_imports, label_levels, label_sets
from storage.models.core import BoardState, Snapshot, Submission, WorkerHeartbeat
from tests.factories.snapshots import FixedSource, entry, snapshot
from tests.factories.specs import VL, spec_of
from vlrb.disclosure import redact
from vlrb.scoring import Tally


def publish(database: Database, body: dict[str, object], *, at: float = 1.0) -> str:
    text = json.dumps(body)
    snapshot_id = hashlib.sha256(text.encode()).hexdigest()
    with database.write() as session:
        if label_sets.current(session, "demo") is None:
            label_sets.register(session, "v2", benchmark="demo", digest="0" * 64, items=1250)
            label_sets.activate_revision(session, "demo", label_revision="v2", scorer_version="1", reason="start")
        session.add(
            Snapshot(id=snapshot_id, benchmark="demo", through_seq=0, created_at=at, body=zlib.compress(text.encode()))
        )
        session.flush()
        session.execute(update(BoardState).values(snapshot_id=snapshot_id))
    return snapshot_id


def test_before_anything_is_published_the_board_is_empty(database: Database) -> None:
    source = DatabaseSnapshots(database, spec_of("demo"))
    assert source.current().snapshot_id is None
    assert BoardCache(source, published=(), check_every=0).refresh().board().rows == ()


def test_a_published_snapshot_is_found_and_read(database: Database) -> None:
    source = DatabaseSnapshots(database, spec_of("demo"))
    cache = BoardCache(source, published=(), check_every=0)
    assert cache.refresh().snapshot_id == ""
    first = publish(database, snapshot([entry(1, 0.7)]))
    assert cache.refresh().snapshot_id == first
    second = publish(database, snapshot([entry(1, 0.7), entry(2, 0.6)]))
    assert cache.refresh().snapshot_id == second
    assert len(cache.refresh().board().rows) == 2
    with pytest.raises(LookupError):
        source.load("0" * 64)


def test_scores_are_delayed_when_the_worker_has_been_silent_for_long(database: Database) -> None:
    source = DatabaseSnapshots(database, spec_of("demo"), offline_after=30)
    with database.write() as session:
        worker_heartbeats.record_heartbeat(session, "w1")
    assert source.current().delayed_since is None
    with database.write() as session:
        session.execute(update(WorkerHeartbeat).values(started_at=0, heartbeat_at=WorkerHeartbeat.heartbeat_at - 60))
    late = source.current()
    assert late.delayed_since is not None
    assert source.current() == late, "the notice does not change from look to look"


def test_a_worker_that_left_in_order_is_missed_too(database: Database) -> None:
    assert DatabaseSnapshots(database, spec_of("demo"), offline_after=30).current().delayed_since is None
    source = DatabaseSnapshots(database, spec_of("demo"), offline_after=-1)
    assert source.current().delayed_since is not None
    with database.write() as session:
        worker_heartbeats.record_heartbeat(session, "w1")
    assert DatabaseSnapshots(database, spec_of("demo")).current().delayed_since is None


def test_labels_that_are_not_public_are_reduced_where_a_snapshot_is_read(database: Database) -> None:
    name = publish(database, snapshot([entry(1, 0.7)]))
    assert DatabaseSnapshots(database, spec_of("demo")).load(name)["disclosure"] == {}
    with database.write() as session:
        label_levels.state(session, "demo", revision="v2", level="hidden")
    (found,) = DatabaseSnapshots(database, spec_of("demo")).load(name)["entries"]
    stored = json.loads(json.dumps(entry(1, 0.7)["tallies"]))
    assert found["tallies"]["v2"] == redact(Tally.from_json(stored["v2"], VL), "hidden").to_json()
    assert found["tallies"]["v0"] == stored["v0"]
    with database.write() as session:
        facts = {"benchmark": "demo", "disclosure": "hidden", "spec": "x", "items": 1250}
        digests = {"digest": "0" * 64, "commitment": "1" * 64, "difference": {}}
        label_imports.record(session, "v0", facts={**facts, **digests, "reason": "test", "requested_by": "a"})
    assert DatabaseSnapshots(database, spec_of("demo")).load(name)["disclosure"] == {"v0": "hidden", "v2": "hidden"}
    with database.write() as session:
        label_imports.retire(session, "demo", revision="v0", salt="2" * 64)
    assert DatabaseSnapshots(database, spec_of("demo")).load(name)["disclosure"] == {"v2": "hidden"}


def test_a_board_that_is_open_follows_the_level_that_a_worker_states(database: Database) -> None:
    publish(database, snapshot([entry(1, 0.7)]))
    cache = BoardCache(DatabaseSnapshots(database, spec_of("demo")), check_every=0.0)
    assert not cache.refresh().is_redacted("v2")
    with database.write() as session:
        label_levels.state(session, "demo", revision="v2", level="hidden")
    assert cache.refresh().is_redacted("v2")


def test_a_board_of_the_past_is_found_by_day_instant_and_id(database: Database) -> None:
    source = DatabaseSnapshots(database, spec_of("demo"))
    days = [datetime.fromisoformat(f"2026-11-0{day}T12:00:00+00:00").timestamp() for day in (1, 3)]
    first = publish(database, snapshot([entry(1, 0.7)]), at=days[0])
    second = publish(database, snapshot([entry(2, 0.6)]), at=days[1])
    cache = BoardCache(source, published=(), check_every=0)

    def at(when: str) -> str | None:
        found = asyncio.run(cache.at(when))
        return found and found.snapshot_id

    assert [at(when) for when in ("2026-10-31", "2026-11-01", "2026-11-02", "2026-11-03", first[:12], "")] == [
        None, first, first, second, first, second,
    ]  # fmt: skip
    assert at("2026-11-03T11:59:59") == first
    assert at("2026-11-03T13:00:00+01:00") == second
    with pytest.raises(ValueError):
        at("yesterday")


class Slow(FixedSource):
    """Boards of the past that take long to read; `held`: until it is set, all but the quick one."""

    def __init__(self, boards: int) -> None:
        super().__init__(snapshot([entry(1, 0.7)]))
        for number in range(boards):
            self.turn(snapshot([entry(number, 0.7)]))
        self.held, self.reading = threading.Event(), 0

    def load(self, snapshot_id: str, *, old: bool = False) -> Mapping[str, Any]:
        """As its parent, after a while."""
        self.reading += old
        if old and snapshot_id != "snapshot-3":
            assert self.held.wait(30)
        return super().load(snapshot_id, old=old)


def test_who_asks_for_a_board_of_the_past_does_not_wait_for_all_others() -> None:
    source = Slow(5)
    cache = BoardCache(source, published=(), check_every=60)

    async def run() -> None:
        cache.refresh()
        slow = asyncio.create_task(cache.at("snapshot-1"))
        CLIENT.set("127.0.0.3")
        await asyncio.wait_for(cache.at("snapshot-3"), 10)
        again = [asyncio.create_task(cache.at("snapshot-1")) for _ in range(10)]
        await asyncio.wait_for(cache.at("snapshot-3"), 10)  # it is held already
        source.held.set()
        found = await asyncio.gather(slow, *again)
        assert {one.snapshot_id for one in found if one is not None} == {"snapshot-1"}

    asyncio.run(run())
    assert source.reading <= 3, "the slow one at most once for each of the two who are served at a time"


def test_while_a_new_board_is_made_everybody_but_the_first_gets_the_one_before() -> None:
    source = FixedSource(snapshot([entry(1, 0.7)]))
    making, made = threading.Event(), threading.Event()

    def warm(board_version: BoardVersion) -> None:
        if board_version.snapshot_id == "snapshot-2":
            making.set()
            assert made.wait(30)

    cache = BoardCache(source, published=(), check_every=0, warm=warm)

    async def run() -> list[str]:
        cache.refresh()
        source.turn(snapshot([entry(2, 0.7)]))
        first = asyncio.create_task(cache.current())
        while not making.is_set():
            await asyncio.sleep(0.01)
        meanwhile = await asyncio.wait_for(cache.current(), 10)
        made.set()
        return [meanwhile.snapshot_id, (await first).snapshot_id, (await cache.current()).snapshot_id]

    assert asyncio.run(run()) == ["snapshot-1", "snapshot-2", "snapshot-2"]


def test_few_old_boards_are_held_and_each_is_read_once(database: Database) -> None:
    names = [publish(database, snapshot([entry(number, 0.7)])) for number in range(1, 8)]
    cache = BoardCache(DatabaseSnapshots(database, spec_of("demo")), published=(), check_every=0)
    for name in names:
        found = asyncio.run(cache.at(name))
        assert found is not None and found.snapshot_id == name
        assert asyncio.run(cache.at(name)) is found or name == names[-1]
    assert len(cache._old) <= 4


def submitted(database: Database, name: str, *, number: int) -> None:
    with database.write() as session:
        facts = {"owner": "o", "content_sha256": f"{number:064d}", "format": "native"}
        more = {"votes_per_item": 1, "votes": b"1", "parse_rate": 1.0, "report": {}, "model": f"m{number}"}
        session.add(Submission(id=name, benchmark="vl-rewardbench", revision="v2", **facts, **more))


def test_what_was_decided_holds_before_the_next_snapshot_comes(database: Database) -> None:
    found = [entry(number, 0.7) for number in range(1, 5)]
    hidden, withdrawn, later, kept = (one["id"] for one in found)
    name = publish(database, snapshot(found))
    source = DatabaseSnapshots(database, spec_of("demo"))
    cache = BoardCache(source, published=(), check_every=0)
    before = cache.refresh()
    for number, one in enumerate(found):
        submitted(database, one["id"], number=number)
    decisions = (
        (hidden, {"hidden_at": 1.0, "withdrawn_at": 1.0, "withdrawn_reason": "x"}),
        (withdrawn, {"withdrawn_at": 1.0, "withdrawn_reason": "a wrong prompt"}),
        (later, {"withdrawn_at": 1.0, "withdrawn_reason": "y"}),
        (kept, {"flag": "stays"}),
    )
    for one, values in decisions:
        with database.write() as session:
            session.execute(update(Submission).where(Submission.id == one).values(**values))
    after = cache.refresh()
    assert (after.snapshot_id, after is before) == (name, False)
    assert [row.id for row in after.board().rows if row.id in {hidden, withdrawn, later, kept}] == [kept]
    assert after.removed_entry(hidden) is None
    left = after.removed_entry(withdrawn)
    assert left is not None and left["reason"] == "a wrong prompt"
    assert cache.refresh() is after, "nothing is made anew while nothing changes"
    newer = publish(database, snapshot([entry(4, 0.7)]), at=2.0)
    old = asyncio.run(cache.at(name))
    assert old is not None and [one["id"] for one in old.snapshot["entries"]] == [withdrawn, later, kept]
    assert cache.refresh().snapshot_id == newer
    with database.write() as session:
        session.execute(update(Submission).where(Submission.id == later).values(hidden_at=1.0))
    older = asyncio.run(cache.at(name))
    assert older is not None and [one["id"] for one in older.snapshot["entries"]] == [withdrawn, kept]
