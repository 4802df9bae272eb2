"""The audit chain's head goes out: to a file each day, and to a Hub dataset over a real socket."""

from __future__ import annotations

import json
import logging
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
import uvicorn
from huggingface_hub import constants
from huggingface_hub.errors import HfHubHTTPError
from sqlalchemy import select, text, update

from storage.clock import database_now
from storage.database import Database
from storage.integrity import audit
from storage.models.core import AuditEvent
from tests.factories import small_benchmark
from tests.factories.fakes.fake_hub import Repository, writable
from workers.jobs.audit_checkpoint import HubDataset, publish_heads, write_checkpoint
from workers.schedule import PeriodicAction, run_logged
from workers.task_runner import create_task_runner

TOKEN = "hf_writes_heads_only"
OTHER = "hf_of_somebody_else"
UNLOCK = {"sqlite": "DROP TRIGGER events_no_update", "postgresql": "ALTER TABLE events DISABLE TRIGGER USER"}


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[Repository, str]]:
    repository = Repository("owner/audit", TOKEN)
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(writable(repository), log_config=None, log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    deadline = time.monotonic() + 60
    while not server.started:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    yield repository, f"http://127.0.0.1:{listener.getsockname()[1]}"
    server.should_exit = True
    thread.join()


@pytest.fixture
def hub(served: tuple[Repository, str]) -> Repository:
    repository, _ = served
    repository.commits, repository.broken, repository.asked, repository.meanwhile = [], False, 0, None
    return repository


@pytest.fixture
def dataset(served: tuple[Repository, str], monkeypatch: pytest.MonkeyPatch) -> HubDataset:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)  # the suite stays away from the real Hub; this one is ours
    return HubDataset("owner/audit", TOKEN, endpoint=served[1])


@contextmanager
def _broken(hub: Repository) -> Iterator[None]:
    hub.broken = True
    yield
    hub.broken = False


DAY = 86_400.0


def _append(database: Database) -> None:
    with database.write() as session:
        audit.append(session, "test", data={})


def _events(database: Database, days: list[float], *, now: float) -> list[audit.ChainLink]:
    """Return a chain whose events happened so many days before midnight, as if all had been recorded then."""
    midnight = now - now % DAY
    _append(database)
    with database.write() as session:
        for number in range(1, len(days)):
            audit.append(session, "test", data={"number": number})
        session.execute(text(UNLOCK[database.engine.dialect.name]))
        for seq, ago in enumerate(days, start=1):
            session.execute(update(AuditEvent).where(AuditEvent.seq == seq).values(at=midnight - ago * DAY))
    with database.read() as session:
        return list(audit.links(session))


def _now(database: Database) -> float:
    with database.read() as session:
        return session.execute(select(database_now())).scalar_one()


def test_a_days_head_is_the_chain_as_the_day_began(database: Database, tmp_path: Path) -> None:
    links = _events(database, [2, 1, 0.5, -0.0001, -0.0002], now=_now(database))
    written = write_checkpoint(database, tmp_path)
    assert written is not None
    head = json.loads(written.read_text())
    assert (head["seq"], head["hash"]) == (3, links[2].hash)
    assert head["at"] == f"{written.stem.removeprefix('head-')}T00:00:00Z"
    assert written.stat().st_mode & 0o777 == 0o644


def test_on_its_first_day_the_chain_is_kept_by_its_first_event(database: Database, tmp_path: Path) -> None:
    assert write_checkpoint(database, tmp_path) is None  # nothing has happened
    links = _events(database, [-0.0001, -0.0002], now=_now(database))
    written = write_checkpoint(database, tmp_path)
    assert written is not None
    head = json.loads(written.read_text())
    assert (head["seq"], head["hash"]) == (1, links[0].hash)


def test_a_clock_that_was_put_back_makes_no_other_head(database: Database, tmp_path: Path) -> None:
    links = _events(database, [1, -0.0001, 0.0001], now=_now(database))  # the last one seems to be of yesterday
    written = write_checkpoint(database, tmp_path)
    assert written is not None
    assert json.loads(written.read_text())["hash"] == links[0].hash


def test_two_machines_write_the_same_head_of_a_day_whatever_happens_between(
    database: Database, hub: Repository, dataset: HubDataset, tmp_path: Path
) -> None:
    _append(database)
    for machine in ("one", "two"):
        assert write_checkpoint(database, tmp_path / machine) is not None
        with database.write() as session:
            audit.append(session, "test", data={"after": machine})
        publish_heads(tmp_path / machine, dataset)
    (one,), (other,) = ([*(tmp_path / machine).glob("head-*.json")] for machine in ("one", "two"))
    assert (one.name, one.read_bytes()) == (other.name, other.read_bytes())
    assert hub.files == {f"heads/{one.name}": one.read_bytes()}
    assert len(hub.commits) == 1


def test_of_workers_that_share_a_directory_one_writes_the_days_head(database: Database, tmp_path: Path) -> None:
    _append(database)
    with ThreadPoolExecutor(4) as pool:
        written = list(pool.map(lambda _: write_checkpoint(database, tmp_path), range(8)))
    assert len([path for path in written if path is not None]) == 1


def test_a_head_that_another_worker_sends_at_the_same_moment_stays(
    hub: Repository, dataset: HubDataset, tmp_path: Path
) -> None:
    (tmp_path / "head-2026-11-01.json").write_text("mine")
    hub.meanwhile = lambda: hub.commits.append({"heads/head-2026-11-01.json": b"theirs"})
    with pytest.raises(HfHubHTTPError, match="412"):
        publish_heads(tmp_path, dataset)
    assert publish_heads(tmp_path, dataset) == []  # the next turn finds it there
    assert hub.files == {"heads/head-2026-11-01.json": b"theirs"}


def test_heads_reach_the_dataset_once_and_as_they_were(hub: Repository, dataset: HubDataset, tmp_path: Path) -> None:
    for day in ("01", "02"):
        (tmp_path / f"head-2026-11-{day}.json").write_text(f'{{"seq": {day}}}')
    assert publish_heads(tmp_path, dataset) == ["head-2026-11-01.json", "head-2026-11-02.json"]
    asked = hub.asked
    assert publish_heads(tmp_path, dataset) == []
    assert hub.asked == asked  # every ten minutes there is nothing to ask
    (tmp_path / "head-2026-11-03.json").write_text('{"seq": 3}')
    publish_heads(tmp_path, dataset)
    assert [sorted(commit) for commit in hub.commits] == [
        ["heads/head-2026-11-01.json", "heads/head-2026-11-02.json"],
        ["heads/head-2026-11-03.json"],
    ]
    assert hub.files["heads/head-2026-11-02.json"] == b'{"seq": 02}'


def test_another_machine_does_not_write_over_a_head_that_is_out(
    hub: Repository, dataset: HubDataset, tmp_path: Path
) -> None:
    for machine in ("one", "two"):
        (tmp_path / machine).mkdir()
        (tmp_path / machine / "head-2026-11-01.json").write_text(machine)
        publish_heads(tmp_path / machine, dataset)
    assert hub.files == {"heads/head-2026-11-01.json": b"one"}
    assert len(hub.commits) == 1


def test_what_the_hub_misses_while_it_is_away_comes_later(
    hub: Repository, dataset: HubDataset, tmp_path: Path, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", lambda seconds: None)
    _append(database)
    runner = create_task_runner(database, small_benchmark.scorer(), state=tmp_path, lease_seconds=60.0, dataset=dataset)
    with _broken(hub), pytest.raises(HfHubHTTPError):
        runner.keep_head()
    (written,) = (tmp_path / "audit").glob("head-*.json")  # the file does not wait for the Hub
    assert hub.commits == []
    runner.keep_head()
    assert hub.files == {f"heads/{written.name}": written.read_bytes()}


def test_a_hub_that_refuses_stops_no_worker_and_no_token_is_logged(
    hub: Repository, dataset: HubDataset, tmp_path: Path, database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    _append(database)
    runner = create_task_runner(
        database, small_benchmark.scorer(), state=tmp_path, lease_seconds=60.0, dataset=replace(dataset, token=OTHER)
    )
    with caplog.at_level(logging.DEBUG):
        run_logged(PeriodicAction("head", 0.0, runner.keep_head))
    assert hub.commits == []
    assert "schedule.failed" in caplog.text
    assert OTHER not in caplog.text
    assert OTHER not in repr(runner)
