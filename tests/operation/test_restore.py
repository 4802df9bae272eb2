"""Restore from the replica: never over what is there, no new board beside an old one's files; what the doctor finds."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from maintenance import installation
from maintenance.__main__ import main
from maintenance.installation import CheckResult, examine
from operation.litestream import Litestream
from operation.replica import Replica, ReplicaUnusable
from operation.restore import NEW_BOARD, prepare_database
from settings import WorkerSettings
from storage.database import Database
from storage.files.uploads import Uploads
from storage.integrity import audit
from tests.databases import new_database
from tests.factories import small_benchmark
from tests.postgres import Cluster


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    found = new_database(f"sqlite:///{tmp_path}/old/leaderboard.db")
    with found.write() as session:
        audit.append(session, "submissions.paused", data={"message": "noon"})
    yield found
    found.close()


def test_a_new_board_is_said_to_begin_with_the_place_that_holds_none(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    url, place = f"sqlite:///{tmp_path}/data/leaderboard.db", tmp_path / "replica"
    place.mkdir()
    prepare_database(url, Replica(str(place)), environ=dict(os.environ))
    (said,) = (one for one in caplog.records if one.message == NEW_BOARD)
    assert said.data["REPLICA_URL"] == str(place)  # type: ignore[attr-defined]
    caplog.clear()
    new_database(url).close()
    prepare_database(url, None, environ={})
    assert not caplog.records, "only before the first start"


@pytest.mark.postgres
def test_an_empty_postgresql_beside_files_of_a_service_is_refused(tmp_path: Path, postgres_cluster: Cluster) -> None:
    url, replica = postgres_cluster.new_database(), Replica(str(tmp_path / "replica"))
    (tmp_path / "replica").mkdir()
    assert not prepare_database(url, replica, environ={}), "an empty replica is for a new board"
    replica.write("items/a.json", b"of a worker that started first")
    assert not prepare_database(url, replica, environ={}), "a manifest alone is no board"
    replica.write("database/ltx/0/1.ltx", b"of a service on SQLite")
    with pytest.raises(ReplicaUnusable):
        prepare_database(url, replica, environ={})
    replica.remove("database/ltx/0/1.ltx")
    shutil.rmtree(tmp_path / "replica" / "database")
    replica.write("uploads/aa/file", b"of another service")
    with pytest.raises(ReplicaUnusable):
        prepare_database(url, replica, environ={})
    new_database(url).close()
    assert not prepare_database(url, replica, environ={}), (
        "the second process of a new board finds the files of the first"
    )


def test_the_commands_work_where_there_is_no_database(
    tmp_path: Path, database: Database, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "replica").mkdir()
    with subprocess.Popen(
        Litestream(tmp_path / "old" / "leaderboard.db", Replica(str(tmp_path / "replica"))).configure()
    ) as process:
        assert Litestream(tmp_path / "old" / "leaderboard.db", Replica(str(tmp_path / "replica"))).wait(30)
        process.terminate()
    places = {"DATA_DIR": tmp_path / "new", "REPLICA_URL": tmp_path / "replica"}
    for name, value in {**places, "LABELS": "v2=/labels.jsonl", "RECEIPT_KEY": ""}.items():
        monkeypatch.setenv(name, str(value))
    assert main(["doctor"]) == 1
    assert "ALARM" in capsys.readouterr().out
    assert main(["restore"]) == 0
    assert "ends with event 1" in capsys.readouterr().out
    assert (tmp_path / "new" / "leaderboard.db").stat().st_mode & 0o777 == 0o600
    assert main(["restore"]) == 1
    assert "--replace" in capsys.readouterr().err
    assert main(["restore", "--replace"]) == 0
    assert len(list((tmp_path / "new").glob("leaderboard.db.before-*"))) >= 1


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the doctor wait for no Litestream: none runs here."""
    monkeypatch.setattr(installation, "_WAIT_SECONDS", 0.0)


def alarms(data: Path, replica: Path) -> dict[str, str]:
    places = {"DATA_DIR": str(data), "REPLICA_URL": str(replica), "LABELS": "v2=/labels.jsonl"}
    found: list[CheckResult] = examine(WorkerSettings.from_env(places))
    return {one.check: one.sentence for one in found if not one.ok}


@pytest.mark.usefixtures("hurried")
def test_the_doctor_names_what_to_do(tmp_path: Path, database: Database) -> None:
    old, replica = tmp_path / "old", tmp_path / "replica"
    (old / "keys").mkdir()
    key = old / "keys" / "receipt.key"
    key.write_text("private")
    key.chmod(0o644)
    replica.mkdir()
    found = alarms(old, replica)
    assert "chmod 600" in found["permissions"]
    assert "through event 0; this disk through event 1" in found["replica"]
    damaged = replica / "database" / "ltx" / "0"
    damaged.mkdir(parents=True)
    (damaged / "0000000000000001-0000000000000001.ltx").write_bytes(b"no transaction")
    assert "cannot be restored" in alarms(old, replica)["replica"]
    assert "is not a directory" in alarms(old, tmp_path / "none")["replica"]


@pytest.mark.usefixtures("hurried")
def test_the_doctor_finds_a_stopped_service_well_and_a_lost_and_an_altered_upload(
    tmp_path: Path, database: Database
) -> None:
    replica = Replica(str(tmp_path / "replica"))
    (tmp_path / "replica").mkdir()
    uploads = Uploads(replica.below("uploads"))
    digests = [uploads.keep(content) for content in (b"lost", b"altered", b"kept")]
    for place, digest in enumerate(digests):
        small_benchmark.submit(database, range(place, place + 1), content_sha256=digest)
    litestream = Litestream(tmp_path / "old" / "leaderboard.db", replica)
    litestream.database.chmod(0o600)
    with subprocess.Popen(litestream.configure()) as process:
        assert litestream.wait(30)
        process.terminate()
    assert alarms(tmp_path / "old", tmp_path / "replica") == {}
    folder = tmp_path / "replica" / "uploads"
    (folder / digests[0][:2] / digests[0]).unlink()
    (folder / digests[1][:2] / digests[1]).write_bytes(b"another")
    found = alarms(tmp_path / "old", tmp_path / "replica")
    assert set(found) == {"uploads"}
    assert "is missing" in found["uploads"] and "is damaged" in found["uploads"]


@pytest.mark.postgres
def test_the_doctor_of_a_shared_database_needs_no_data_directory(
    postgres_cluster: Cluster, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    new_database(url := postgres_cluster.new_database()).close()
    monkeypatch.setenv("DATABASE_URL", url)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "replica").mkdir()
    for replica, words in (
        ("", "on the disks of the processes alone"),
        (str(tmp_path / "replica"), "can be written to"),
    ):
        monkeypatch.setenv("REPLICA_URL", replica)
        monkeypatch.setenv("RECEIPT_KEY", "given to the web process")
        assert main(["doctor"]) == 0
        said = capsys.readouterr().out
        assert "Nothing on this disk" in said
        assert words in said
    assert not (tmp_path / "data").exists()
