"""First start of a board: never beside a database that is lost, and never on another one's."""

from __future__ import annotations

import shutil
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from maintenance import space
from operation.alarms import service_alarms
from operation.replication.litestream import ReplicaUnusable
from operation.replication.replica import Replica
from operation.start import StartRefused, prove, require_database_or_new_board
from settings import Settings, SettingsError, WorkerSettings
from storage.database import Database, DatabaseAway
from storage.database_wait import retry_while_away
from storage.files import backups
from storage.files.backups import BackupTarget
from storage.integrity import audit
from storage.labels import label_sets
from storage.own_boards import OtherBoards, require_own_boards
from tests.databases import database, database_url, new_database
from tests.factories.fakes.s3_server import KEYS, running_s3
from tests.factories.suite.programs import run_maintenance
from web.services import replicating_litestream, settings_alarms
from web.startup import open_service_database
from workers.__main__ import main as run_worker
from workers.main import open_worker_database

__all__ = ["database", "database_url"]
LABELS = {"LABELS": "v2=/labels.jsonl"}


def show(database: Database, benchmark: str) -> None:
    with database.write() as session:
        label_sets.register(session, "v2", benchmark=benchmark, digest="a" * 64, items=1)


def settings_of(data: Path, **environ: str) -> Settings:
    return Settings.from_env({"DATA_DIR": str(data), "IDENTITY": "local", **environ})


@pytest.mark.parametrize(("held", "labels"), [("demo", LABELS), ("vl-rewardbench", {})])
def test_no_process_opens_the_demos_board_as_a_real_one_or_a_real_one_as_the_demos(
    tmp_path: Path, database: Database, held: str, labels: dict[str, str]
) -> None:
    show(database, held)
    url = database.engine.url.render_as_string(hide_password=False)
    settings = settings_of(tmp_path / "data", DATABASE_URL=url, **labels)
    with database.read() as session:
        before = audit.head(session)
    for start in (lambda: open_service_database(settings), lambda: open_worker_database(settings)):
        with pytest.raises((SettingsError, OtherBoards), match=r"No board was opened.*another DATABASE_URL"):
            start()
    with database.read() as session:
        assert audit.head(session) == before
    own = settings_of(tmp_path / "data", DATABASE_URL=url, **({} if labels else LABELS))
    open_service_database(own).close()
    open_worker_database(own).close()


def test_a_database_of_both_from_before_this_rule_is_opened(tmp_path: Path) -> None:
    with closing(new_database(f"sqlite:///{tmp_path}/leaderboard.db")) as mixed:
        for demo in (True, False):
            require_own_boards(mixed, demo=demo)
        for name in ("demo", "vl-rewardbench"):
            show(mixed, name)
        for demo in (True, False):
            require_own_boards(mixed, demo=demo)


def copied_board(data: Path, settings: Settings) -> None:
    """Begin a board, and have Litestream copy it."""
    database = open_service_database(settings)
    show(database, settings.benchmark)
    litestream = replicating_litestream(settings)
    assert litestream is not None
    with subprocess.Popen(litestream.configure()) as process:
        assert litestream.wait(30)
        process.terminate()
    database.close()
    for path in data.glob("**/leaderboard.db*"):
        path.unlink()


def test_the_demos_replica_and_copies_are_never_restored_as_a_real_board(tmp_path: Path) -> None:
    (tmp_path / "replica").mkdir()
    data = tmp_path / "data"
    places = {"REPLICA_URL": str(tmp_path / "replica"), "BACKUP_URL": str(tmp_path / "copies")}
    demo, real = settings_of(data, **places), settings_of(data, **places, **LABELS)
    copied_board(data, demo)
    with closing(open_service_database(demo)) as restored:
        backups.make(restored, BackupTarget(demo.backup_url, 3))
    with closing(open_service_database(real)) as new, new.read() as session:
        assert audit.head(session).seq == 0, "a board of its own"


def test_a_replica_of_the_demo_from_before_is_refused_until_another_is_named(tmp_path: Path) -> None:
    (tmp_path / "replica").mkdir()
    data, place = tmp_path / "data", tmp_path / "replica"
    copied_board(data, settings_of(data, REPLICA_URL=str(place)))
    real = settings_of(data, REPLICA_URL=str(place / "demo"), **LABELS)
    for _ in range(2):
        with pytest.raises(SettingsError, match="the demo's board"):
            open_service_database(real)
    (tmp_path / "new").mkdir()
    open_service_database(settings_of(data, REPLICA_URL=str(tmp_path / "new"), **LABELS)).close()


def test_a_worker_that_starts_first_waits_until_the_web_process_has_restored(tmp_path: Path) -> None:
    (tmp_path / "replica").mkdir()
    data = tmp_path / "data"
    settings = settings_of(data, REPLICA_URL=str(tmp_path / "replica"), **LABELS)
    copied_board(data, settings)
    waited: list[float] = []

    def rest(seconds: float) -> None:
        assert not (data / "leaderboard.db").exists(), "the worker makes none"
        waited.append(seconds)
        open_service_database(settings).close()

    with closing(retry_while_away(lambda: open_worker_database(settings), rest)) as database, database.read() as found:
        assert audit.newest(found, ["service.restored"])
    assert len(waited) == 1


def test_a_worker_makes_no_board_where_the_replica_is_not_mounted_or_does_not_answer(
    tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = Replica(str(tmp_path / "bucket"))
    with pytest.raises(ReplicaUnusable, match="is not a directory"):
        require_database_or_new_board(database_url, missing)
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    away = Replica("s3://board/one?endpoint=http://127.0.0.1:9&region=us-east-1")
    with pytest.raises(ReplicaUnusable, match="cannot be written to"):
        require_database_or_new_board(database_url, away)
    assert not list(tmp_path.rglob("*.db"))
    new_database(database_url).close()
    for replica in (missing, away):
        require_database_or_new_board(database_url, replica)


@pytest.mark.slow
def test_a_worker_leaves_a_replica_in_an_object_store_to_the_web_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    url = f"sqlite:///{tmp_path}/leaderboard.db"
    with running_s3(tmp_path / "s3.log") as server:
        empty = Replica(server.url("empty"))
        require_database_or_new_board(url, empty)
        empty.write("keys/receipt.key.sealed", b"of a start that ended early")
        require_database_or_new_board(url, empty)
        held = Replica(server.url("held"))
        held.write("database/ltx/0/0000000000000001-0000000000000001.ltx", b"x")
        with pytest.raises(DatabaseAway, match="Start the web process"):
            require_database_or_new_board(url, held)
        files = Replica(server.url("files"))
        files.write("uploads/aa/file", b"of another service")
        with pytest.raises(StartRefused):
            require_database_or_new_board(url, files)


def test_a_new_bucket_of_a_space_can_be_written_to_as_it_is(tmp_path: Path) -> None:
    place = space.VARIABLES["REPLICA_URL"].replace(space.MOUNT, str(tmp_path))
    for environ in ({}, LABELS):
        replica = settings_of(tmp_path / "disk", REPLICA_URL=place, **environ).replica
        assert replica is not None
        prove(replica, None)


def test_a_worker_is_started_again_while_the_replica_is_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place = {"DATA_DIR": str(tmp_path), "REPLICA_URL": "s3://board/one?endpoint=http://127.0.0.1:9&region=us-east-1"}
    for name, value in {**LABELS, **KEYS, **place}.items():
        monkeypatch.setenv(name, value)
    assert run_worker([]) == 1, "no code that says that no restart would help"
    said = capsys.readouterr().err
    assert "REPLICA_URL=s3://board/one at http://127.0.0.1:9 " in said
    assert "Check the address" in said


def test_settings_of_a_worker_know_the_demos_part() -> None:
    demo = WorkerSettings.from_env({"REPLICA_URL": "/r"}).replica
    assert demo == Replica("/r").part("demo")


def board_at(name: str, tmp_path: Path) -> dict[str, str]:
    """Have a board with labels where the settings name one place; return these settings without LABELS."""
    (tmp_path / "bucket").mkdir()
    place = {"REPLICA_URL": str(tmp_path / "bucket")} if name == "REPLICA_URL" else {}
    place = {"BACKUP_URL": str(tmp_path / "copies")} if name == "BACKUP_URL" else place
    data = tmp_path / "data"
    if name == "REPLICA_URL":
        copied_board(data, settings_of(data, **place, **LABELS))
    else:
        settings = settings_of(data, **place, **LABELS)
        with closing(open_service_database(settings)) as board:
            show(board, settings.benchmark)
            if name == "BACKUP_URL":
                backups.make(board, BackupTarget(settings.backup_url, 3))
    if name != "DATA_DIR":
        shutil.rmtree(data)
    return {**place, "REPLICA_URL": str(tmp_path / "bucket")}


@pytest.mark.parametrize("name", ["REPLICA_URL", "BACKUP_URL", "DATA_DIR"])
def test_no_demo_begins_in_the_place_of_a_board_whose_labels_were_left_out(tmp_path: Path, name: str) -> None:
    settings = settings_of(tmp_path / "data", **board_at(name, tmp_path))
    for start in (open_service_database, open_worker_database):
        with pytest.raises(SettingsError, match=f"LABELS is not set.* {name}=.* holds a board"):
            start(settings)
    assert not list(tmp_path.glob("data/demo/*.db"))
    (tmp_path / "another").mkdir()
    another = {"DATA_DIR": str(tmp_path / "new"), "REPLICA_URL": str(tmp_path / "another")}
    open_service_database(Settings.from_env({"IDENTITY": "local", **another})).close()


def test_a_board_in_the_data_directory_stops_a_demo_that_others_reach_and_no_developers(tmp_path: Path) -> None:
    board_at("DATA_DIR", tmp_path)
    reached: tuple[dict[str, str], ...] = (
        {"HOST": "0.0.0.0", "IDENTITY": "", "INSECURE_ALLOW_PUBLIC": "1"},
        {"PUBLIC_URL": "https://board.example.org"},
        {"BACKUP_URL": str(tmp_path / "copies")},
    )
    for environ in reached:
        with pytest.raises(SettingsError, match=r"DATA_DIR=.* holds a board"):
            open_service_database(settings_of(tmp_path / "data", **environ))
    trial = settings_of(tmp_path / "data")
    open_service_database(trial).close()
    assert not list(settings_alarms(trial))


def test_the_demo_of_an_earlier_release_comes_back_once_its_files_are_moved(tmp_path: Path) -> None:
    """It lay at the top of REPLICA_URL."""
    place, data = tmp_path / "bucket", tmp_path / "data"
    place.mkdir()
    copied_board(data, settings_of(data, REPLICA_URL=str(place)))
    (place / "demo").rename(tmp_path / "files")
    for path in (tmp_path / "files").iterdir():
        path.rename(place / path.name)
    settings = settings_of(data, REPLICA_URL=str(place))
    with pytest.raises(SettingsError, match=r"into demo/ .* not database/"):
        open_service_database(settings)
    files = [path for path in place.iterdir() if path.name != "demo"]
    (place / "demo").mkdir(exist_ok=True)
    for path in files:
        path.rename(place / "demo" / path.name)
    with closing(open_service_database(settings)) as restored, restored.read() as session:
        assert audit.newest(session, ["service.restored"])


def test_a_demo_that_runs_beside_a_board_raises_an_alarm(tmp_path: Path) -> None:
    environ = board_at("REPLICA_URL", tmp_path)
    open_service_database(settings_of(tmp_path / "data")).close()
    settings = settings_of(tmp_path / "data", **environ, RECEIPT_KEY="A" * 43 + "=")
    (alarm,) = settings_alarms(settings)
    assert alarm.code == "demo-beside-board"
    assert environ["REPLICA_URL"] in alarm.sentence
    assert "REPLICA_URL" in alarm.public and environ["REPLICA_URL"] not in alarm.public
    with closing(open_service_database(settings)) as opened, opened.read() as session:
        assert alarm in service_alarms(session, (), known=[alarm])
    done = run_maintenance("health", environ={"DATA_DIR": str(tmp_path / "data"), **environ})
    assert done.returncode == 1
    assert alarm.sentence in done.stdout
