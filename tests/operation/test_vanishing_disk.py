"""A disk that vanishes: kill -9 everything, remove the data directory, start again. Nothing acknowledged is lost."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sqlite3
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

import app
from operation.litestream import Litestream
from operation.replica import Replica
from tests.factories.fakes.openid_provider import Provider
from tests.factories.fakes.s3_server import KEYS, running_s3
from tests.factories.services.service import KEPT, Service, alive, running, until
from tests.factories.services.service_launcher import copy_demo_files
from tests.factories.services.signed_in import SignedInService, sign_in_settings, token_of
from tests.factories.suite.programs import Finished, run_main, run_maintenance
from vlrb.client.jws import is_signed, read_keys

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
EXPORTS = ("/export/board.csv", "/export/board.json", "/api/v1/leaderboard")
KEY = "A" * 43 + "="
PEOPLE = ("accounts", "sessions", "api_tokens", "role_names")


@pytest.fixture
def replica(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Settings of a place that outlives the disk."""
    with running_s3(tmp_path / "s3.log") as server:
        yield {"REPLICA_URL": server.url("space/one"), **KEYS}


def post(service: Service, number: int) -> httpx.Response:
    """Submit a file of its own."""
    judge = service.log_path.parent / "data" / "demo" / "judges" / "judge-e.native-votes.jsonl"
    content = judge.read_bytes() + b"\n" * number
    fields = {"model": f"Judge {number}"}
    return service.http.post("/api/v1/submissions", files={"file": ("votes.jsonl", content)}, data=fields)


def submit(service: Service, number: int) -> dict[str, Any]:
    """Return the response of acceptance."""
    reply = post(service, number)
    assert reply.status_code == 202, reply.text
    found: dict[str, Any] = reply.json()
    return found


def kill_everything(service: Service) -> None:
    """End web process, worker and Litestream with SIGKILL, none of which gets to say goodbye."""
    children = [int(pid) for pid in re.findall(r'"(?:worker|litestream).started", "pid": (\d+)', service.log)]
    for pid in (service.process.pid, *children):
        with suppress(ProcessLookupError):  # children end with their parent
            os.kill(pid, signal.SIGKILL)
    service.process.wait()
    until(lambda: not any(map(alive, children)), 20, what="all are gone")


def scored(service: Service) -> set[str]:
    entries = service.http.get("/api/v1/leaderboard").json()["entries"]
    return {entry["id"] for entry in entries if entry["tier"] == "scored"}


def exports(service: Service) -> list[bytes]:
    """Under one host: the port is another after each start."""
    return [service.http.get(path, headers={"Host": "localhost"}).content for path in EXPORTS]


def settled(service: Service) -> list[bytes]:
    """Return the exports once they have stayed the same for some seconds: relations make one more snapshot."""
    found, since, deadline = exports(service), time.monotonic(), time.monotonic() + 120
    while time.monotonic() < since + 5:
        time.sleep(0.5)
        if (now := exports(service)) != found:
            assert time.monotonic() < deadline, "the board changes all the time"
            found, since = now, time.monotonic()
    return found


def rights(service: Service, owner: httpx.Client, *, user: httpx.Client, bearer: dict[str, str]) -> tuple[int, ...]:
    """Return how a maintainer's page answers an owner, another user and nobody by cookie, and the owner's token."""
    path = "/api/v1/maintenance/health"
    answers = [owner.get(path), user.get(path), service.http.get(path), service.http.get(path, headers=bearer)]
    return tuple(answer.status_code for answer in answers)


def rows(data: Path, query: str) -> list[Any]:
    connection = sqlite3.connect(data / "demo" / "leaderboard.db")
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def test_what_was_acknowledged_as_replicated_survives_kill_and_wipe(tmp_path: Path, replica: dict[str, str]) -> None:
    data, settings = tmp_path / "data", {**replica, "RECEIPT_KEY": KEY}
    with running(data, **settings) as service:
        until(lambda: len(scored(service)) == 6, 120, what="six judges are scored")
        accepted = [submit(service, number) for number in (1, 2)]
        kill_everything(service)
    shutil.rmtree(data)
    with running(data, **settings) as service:
        assert '"service.restored"' in service.log
        for one in accepted:
            place = f"/api/v1/submissions/{one['id']}"
            assert service.http.get(place).json()["state"] in ("queued", "scoring", "scored")
            assert service.http.get(f"{place}/receipt").text == one["receipt"]
        again = submit(service, 1)
        assert (again["id"], again["duplicate"], again["receipt"]) == (accepted[0]["id"], True, accepted[0]["receipt"])
        until(lambda: {one["id"] for one in accepted} <= scored(service), 120, what="the queue goes on")
        assert is_signed(accepted[0]["receipt"], read_keys(service.http.get("/api/v1/keys").json())), (
            "with the same key"
        )
        assert len(list(tmp_path.glob("replica/demo/uploads/*/*"))) in (0, 8), "six judges and two"


def test_a_restored_board_is_byte_for_byte_the_one_before_and_people_go_on(tmp_path: Path) -> None:
    (tmp_path / "replica").mkdir()
    data, provider = tmp_path / "data", Provider()
    database = data / "demo" / "leaderboard.db"
    with sign_in_settings(provider) as signed_in:
        settings = {**signed_in, "REPLICA_URL": str(tmp_path / "replica"), "RECEIPT_KEY": KEY, "OWNERS": "alice"}
        with running(data, **settings) as service:
            until(lambda: len(scored(service)) == 6, 120, what="six judges are scored")
            alice, bob = (SignedInService(service, provider).browser(name) for name in ("alice", "bob"))
            bearer = {"Authorization": f"Bearer {token_of(alice, scope='maintain')}"}
            allowed = rights(service, alice, user=bob, bearer=bearer)
            before = settled(service)
            place = Replica(settings["REPLICA_URL"]).part("demo")
            assert Litestream(database, place).wait(30), "the replica has everything"
            kill_everything(service)
            people = {table: rows(data, f"SELECT * FROM {table} ORDER BY 1, 2") for table in PEOPLE}
        assert all(people.values()), "there is something to lose in each"
        shutil.rmtree(data)
        with running(data, **settings) as service:
            assert {table: rows(data, f"SELECT * FROM {table} ORDER BY 1, 2") for table in PEOPLE} == people
            assert exports(service) == before
            assert rights(service, alice, user=bob, bearer=bearer) == allowed == (200, 403, 401, 200)
            assert rows(data, "SELECT count(*) FROM events WHERE kind = 'service.restored'") == [(1,)]
            assert database.stat().st_mode & 0o777 == 0o600
    environ = {name: os.environ[name] for name in KEPT if name in os.environ} | {"DATA_DIR": str(data)}
    checked = run_maintenance("audit", "verify", environ=environ)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def start(data: Path, **environ: str) -> Finished:
    """Start a service that is expected to refuse, in this process."""
    environment = {name: os.environ[name] for name in KEPT if name in os.environ}
    environment |= {"PORT": "0", "DATA_DIR": str(data), "IDENTITY": "local", "RECEIPT_KEY": KEY} | environ
    return run_main(lambda _: app.main(), (), environ=environment)


def test_a_replica_that_cannot_be_read_makes_no_new_board(tmp_path: Path) -> None:
    place, data = tmp_path / "replica", tmp_path / "data"
    copy_demo_files(data)
    refused = start(data, REPLICA_URL=str(place))
    assert refused.returncode == 2
    assert "is not a directory" in refused.stderr
    damaged = place / "demo" / "database" / "ltx" / "0"
    damaged.mkdir(parents=True)
    (damaged / "0000000000000001-0000000000000001.ltx").write_bytes(b"no transaction")
    refused = start(data, REPLICA_URL=str(place))
    assert refused.returncode == 2
    assert "cannot be restored" in refused.stderr and "No new board" in refused.stderr
    shutil.rmtree(place / "demo" / "database")
    (place / "demo" / "uploads" / "aa").mkdir(parents=True)
    (place / "demo" / "uploads" / "aa" / "a.gz").touch()
    refused = start(data, REPLICA_URL=str(place))
    assert refused.returncode == 2
    assert "There is no database, but REPLICA_URL" in refused.stderr
    assert not list(data.rglob("leaderboard.db"))


def test_the_configuration_of_litestream_is_private_and_is_json(tmp_path: Path) -> None:
    litestream = Litestream(tmp_path / "leaderboard.db", Replica("s3://bucket/a?endpoint=http://s3.example&region=r"))
    command = litestream.configure()
    assert command[1:] == ["replicate", "-no-expand-env", "-config", str(litestream.config_path)]
    assert litestream.config_path.stat().st_mode & 0o777 == 0o600
    (one,) = json.loads(litestream.config_path.read_text())["dbs"]
    assert one["replica"]["path"] == "a/database"
    assert one["replica"]["endpoint"] == "http://s3.example"
