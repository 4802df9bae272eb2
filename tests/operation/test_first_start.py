"""First start of a board: never beside a database that is lost, and never on another one's."""

from __future__ import annotations

import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from operation.restore import replicating_litestream
from settings import Settings
from storage.database import Database
from storage.database_wait import retry_while_away
from storage.integrity import audit
from storage.labels import label_sets
from storage.own_boards import OtherBoards
from tests.factories.fakes.s3_server import KEYS
from web.startup import open_service_database
from workers.__main__ import main as run_worker
from workers.main import open_worker_database

LABELS = {"LABELS": "v2=/labels.jsonl"}


def show(database: Database, benchmark: str) -> None:
    with database.write() as session:
        label_sets.register(session, "v2", benchmark=benchmark, digest="a" * 64, items=1)


def settings_of(data: Path, **environ: str) -> Settings:
    return Settings.from_env({"DATA_DIR": str(data), "IDENTITY": "local", "RECEIPT_KEY": "A" * 43 + "=", **environ})


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
        with pytest.raises(OtherBoards, match=r"No board was opened.*another DATABASE_URL"):
            start()
    with database.read() as session:
        assert audit.head(session) == before
    own = settings_of(tmp_path / "data", DATABASE_URL=url, **({} if labels else LABELS))
    open_service_database(own).close()
    open_worker_database(own).close()


def copied_board(data: Path, settings: Settings) -> None:
    """Begin a board, and have Litestream copy it."""
    database = open_service_database(settings)
    show(database, settings.spec.id)
    litestream = replicating_litestream(settings.database_url, settings.replica)
    assert litestream is not None
    with subprocess.Popen(litestream.configure()) as process:
        assert litestream.wait(30)
        process.terminate()
    database.close()
    for path in data.glob("**/leaderboard.db*"):
        path.unlink()


def test_the_demos_replica_is_never_restored_as_a_real_board(tmp_path: Path) -> None:
    (tmp_path / "replica").mkdir()
    data = tmp_path / "data"
    places = {"REPLICA_URL": str(tmp_path / "replica")}
    demo, real = settings_of(data, **places), settings_of(data, **places, **LABELS)
    copied_board(data, demo)
    with closing(open_service_database(real)) as new, new.read() as session:
        assert audit.head(session).seq == 0, "a board of its own"


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
