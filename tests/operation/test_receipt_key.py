"""The key of receipts: one for all web processes, and a loss that is said before and after it happens."""

from __future__ import annotations

import errno
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from starlette.testclient import TestClient

from maintenance.__main__ import main
from operation.doctor import InstallationFiles, examine
from operation.replication.replica import Replica
from operation.replication.sealed_key import NAME, keep_key, restore_key
from settings import Settings, SettingsError
from storage.database import Database
from storage.integrity import audit, receipt_keys
from storage.jobs import worker_heartbeats
from tests.databases import database, database_url
from web.app import create_app
from web.services import build_services
from web.startup import load_signer
from workers.snapshot_triggers import needs_snapshot

__all__ = ["database", "database_url"]
SECRET = {"REPLICA_SECRET": "s" * 40}


@pytest.fixture
def replica_url(tmp_path: Path) -> str:
    (tmp_path / "replica").mkdir()
    return str(tmp_path / "replica")


def settings_of(data: Path, database: Database, *, replica_url: str, **environ: str) -> Settings:
    url = database.engine.url.render_as_string(hide_password=False)
    base = {"DATA_DIR": str(data), "DATABASE_URL": url, "LABELS": "v2=/labels.jsonl", "IDENTITY": "local"}
    return Settings.from_env({**base, "REPLICA_URL": replica_url, **environ})


def bodies(database: Database, kind: str) -> list[dict[str, Any]]:
    with database.read() as session:
        return [event.body for event in audit.newest(session, [kind])]


@pytest.mark.parametrize("scheme", ["", "local://"])
def test_web_processes_that_start_together_sign_with_one_key(
    tmp_path: Path, database: Database, replica_url: str, scheme: str
) -> None:
    barrier = Barrier(4)

    def start(number: int) -> str:
        settings = settings_of(tmp_path / f"web-{number}", database, replica_url=scheme + replica_url, **SECRET)
        barrier.wait()
        return load_signer(settings, database).key_id

    with ThreadPoolExecutor(4) as pool:
        started = set(pool.map(start, range(4)))
    later = load_signer(settings_of(tmp_path / "later", database, replica_url=scheme + replica_url, **SECRET), database)
    assert started == {later.key_id}
    keys = {path.read_bytes() for path in tmp_path.rglob("receipt.key")}
    assert len(keys) == 1
    assert {path.stat().st_mode & 0o777 for path in tmp_path.rglob("receipt.key")} == {0o600}


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_key_that_went_with_its_disk_is_on_record(tmp_path: Path, database: Database, replica_url: str) -> None:
    first, second = (
        load_signer(settings_of(tmp_path / name, database, replica_url=replica_url), database) for name in "ab"
    )
    assert first.key_id != second.key_id
    kept = load_signer(settings_of(tmp_path / "b", database, replica_url=replica_url, **SECRET), database)
    assert kept.key_id == second.key_id
    for _ in range(2):
        load_signer(settings_of(tmp_path / "b", database, replica_url=replica_url, **SECRET), database)
    places = [(one["key_id"], one["place"]) for one in bodies(database, receipt_keys.KEPT)]
    assert places == [(second.key_id, "replica"), (second.key_id, "disk"), (first.key_id, "disk")]
    with database.read() as session:
        assert not needs_snapshot(session, 0), "the board does not change"


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_key_on_one_disk_alone_is_an_alarm_until_it_is_elsewhere(
    tmp_path: Path,
    database: Database,
    replica_url: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for environ, at_risk in (({}, True), (SECRET, False)):
        settings = settings_of(tmp_path, database, replica_url=replica_url, **environ)
        services = build_services(settings, database, signer=load_signer(settings, database))
        with database.write() as session:
            worker_heartbeats.record_heartbeat(session, "worker-1")
        http = TestClient(create_app(settings, services, on_misconfigured=lambda: None), base_url="http://127.0.0.1")
        answer = http.get("/readyz")
        assert answer.status_code == 200
        assert (settings.receipt_key_place == "disk") is at_risk
        assert ("receipt-key-at-risk" in [alarm["code"] for alarm in answer.json()["alarms"]]) is at_risk
        files = InstallationFiles(
            tmp_path,
            settings.database_url,
            replica=Replica(replica_url),
            key_path=tmp_path / "x",
            key_in_settings=False,
        )
        (found,) = [one for one in examine(files) if one.check == "receipt key"]
        assert found.ok is not at_risk
        for name in ("DATABASE_URL", "DATA_DIR", "LABELS"):
            values = {"DATABASE_URL": settings.database_url, "DATA_DIR": str(tmp_path), "LABELS": "v2=/labels.jsonl"}
            monkeypatch.setenv(name, values[name])
        assert main(["health"]) == int(at_risk)
        said = capsys.readouterr().out
        assert [name in said for name in ("REPLICA_SECRET", "RECEIPT_KEY")] == [at_risk] * 2


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_start_without_the_secret_of_a_kept_key_is_refused(
    tmp_path: Path, database: Database, replica_url: str
) -> None:
    load_signer(settings_of(tmp_path / "a", database, replica_url=replica_url, **SECRET), database)
    with pytest.raises(SettingsError, match="its secret is not set"):
        load_signer(settings_of(tmp_path / "b", database, replica_url=replica_url), database)
    assert not (tmp_path / "b").exists()
    given = settings_of(tmp_path / "b", database, replica_url=replica_url, RECEIPT_KEY="A" * 43 + "=")
    assert load_signer(given, database).text() == "A" * 43 + "="


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_key_follows_a_change_of_the_session_secret_with_the_disk_gone(
    tmp_path: Path, database: Database, replica_url: str
) -> None:
    old, new = "o1" * 20, "n2" * 20
    changes = (
        {"SESSION_SECRET": old},
        {"SESSION_SECRET": new, "SESSION_SECRET_PREVIOUS": old},
        {"SESSION_SECRET": new},
    )
    started = [
        load_signer(settings_of(tmp_path / str(number), database, replica_url=replica_url, **environ), database).key_id
        for number, environ in enumerate(changes)
    ]
    assert len(set(started)) == 1


def test_the_key_in_the_replica_is_everybodys(tmp_path: Path, replica_url: str) -> None:
    replica, own = Replica(replica_url), tmp_path / "receipt.key"
    own.write_bytes(b"of the first")
    assert keep_key(replica, own, secret="secret")
    own.write_bytes(b"of this one")
    assert keep_key(replica, own, secret="secret")
    assert own.read_bytes() == b"of the first"
    assert (tmp_path / "receipt.key.replaced").read_bytes() == b"of this one"


def test_a_mount_without_hard_links_keeps_a_key(
    tmp_path: Path, replica_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EOPNOTSUPP, "no links here")

    monkeypatch.setattr(os, "link", refuse)
    replica = Replica(replica_url)
    (tmp_path / "receipt.key").write_bytes(b"private words")
    assert keep_key(replica, tmp_path / "receipt.key", secret="secret")
    assert not replica.write_once(NAME, b"another")
    monkeypatch.undo()
    assert restore_key(replica, tmp_path / "new", secret="secret")
