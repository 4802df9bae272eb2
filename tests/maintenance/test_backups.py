"""A copy of the database in use, restored: the same counts, the same chain, the same board."""

from __future__ import annotations

import gzip
import stat
from pathlib import Path

import pytest
from sqlalchemy import func, select, update

from leaderboard.queries import DatabaseSnapshots
from maintenance import views
from maintenance.actions import operations
from operation.alarms import service_alarms
from storage.database import Database, open_database
from storage.files import backups
from storage.files.backups import BackupFailed, BackupTarget
from storage.integrity import audit
from storage.models.core import Base
from storage.models.operations import Backup
from tests.databases import new_database
from tests.factories import small_benchmark
from tests.factories.accounts import MAINTAINER
from tests.factories.actions import by
from tests.factories.specs import spec_of
from workers.jobs.rescore import rescore
from workers.jobs.snapshot import publish_if_changed
from workers.startup import prepare


def _counts(database: Database) -> dict[str, int]:
    with database.read() as session:
        return {
            name: session.execute(select(func.count()).select_from(table)).scalar_one()
            for name, table in Base.metadata.tables.items()
        }


@pytest.fixture
def small(tmp_path: Path) -> Database:
    return new_database(f"sqlite:///{tmp_path}/leaderboard.db")


def test_a_restored_copy_has_the_same_rows_chain_and_board(tmp_path: Path) -> None:
    database = new_database(f"sqlite:///{tmp_path}/leaderboard.db")
    scorer = small_benchmark.scorer()
    prepare(database, scorer, label_revision="demo")
    small_benchmark.submit(database, range(3))
    rescore(database, scorer, revision="demo")
    shown = publish_if_changed(database, scorer)
    assert shown is not None
    board = DatabaseSnapshots(database, spec_of("demo")).load(shown)
    counts = _counts(database)
    with database.read() as session:
        head = audit.head(session)
    made = backups.make(database, BackupTarget(str(tmp_path / "kept"), 3))

    path = tmp_path / "kept" / made.name
    assert (path.stat().st_size, stat.S_IMODE(path.stat().st_mode)) == (made.size_bytes, 0o600)
    (tmp_path / "restored.db").write_bytes(gzip.decompress(path.read_bytes()))
    again = open_database(f"sqlite:///{tmp_path}/restored.db")
    assert _counts(again) == {**counts, "backups": 1}
    with again.read() as session:
        assert (audit.verify(session), audit.head(session)) == (None, head)
        assert made.chain_seq == head.seq
    current = DatabaseSnapshots(again, spec_of("demo")).current()
    assert (current.snapshot_id, DatabaseSnapshots(again, spec_of("demo")).load(shown)) == (shown, board)
    again.close()
    database.close()


def test_there_is_one_a_day_over_all_workers_and_the_oldest_go(small: Database, tmp_path: Path) -> None:
    target = BackupTarget(str(tmp_path / "kept"), 2)
    first = backups.make_if_due(small, target)
    assert first is not None
    assert backups.make_if_due(small, target) is None
    for number in range(3):
        with small.write() as session:
            session.execute(update(Backup).values(started_at=Backup.started_at - 2 * backups.DAY))
            assert session.execute(select(func.count()).select_from(Backup)).scalar_one() == number + 1
        assert backups.make_if_due(small, target) is not None
        _older(small, tmp_path / "kept", number=number)
    kept = sorted(path.name for path in (tmp_path / "kept").iterdir())
    assert len(kept) == 2
    health = operations.health(by(small, MAINTAINER))
    assert health.backup is not None
    assert health.backup_failed is None
    size = health.backup.size_bytes or 0
    assert f", {size / 1024:.0f} KiB" in views.backup(health), "a small one is not said to be 0.0 MiB"


def _older(database: Database, directory: Path, *, number: int) -> None:
    """Names hold the second: as if each copy had been made on another day."""
    newest = max(path.name for path in directory.iterdir())
    older = f"leaderboard-2026010{number + 1}T000000Z.db.gz"
    (directory / newest).rename(directory / older)
    with database.write() as session:
        session.execute(update(Backup).where(Backup.name == newest).values(name=older))


@pytest.mark.parametrize("scheme", ["", "local://"])
def test_copies_of_another_database_stay(
    small: Database, tmp_path: Path, scheme: str, caplog: pytest.LogCaptureFixture
) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    others = [kept / f"leaderboard-20260{month}01T000000Z.db.gz" for month in (1, 2)]
    for path in others:
        path.write_bytes(b"the only copy of another board")
    made = backups.make(small, BackupTarget(f"{scheme}{kept}", 1))
    assert {path.name for path in kept.iterdir()} == {made.name, *(path.name for path in others)}
    assert [record.message for record in caplog.records] == [backups.OTHERS]


def test_a_failed_copy_is_on_record_and_tried_again_after_an_hour(small: Database, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    target = BackupTarget(str(tmp_path / "file"), 2)
    with pytest.raises(BackupFailed):
        backups.make_if_due(small, target)
    assert backups.make_if_due(small, target) is None  # not every ten minutes
    health = operations.health(by(small, MAINTAINER))
    assert health.backup is None
    assert _alarms(small) == ["backup-failed"]
    assert health.backup_failed is not None
    assert "file" in (health.backup_failed.error or "")
    with small.write() as session:
        session.execute(update(Backup).values(started_at=Backup.started_at - backups.RETRY))
    assert backups.make_if_due(small, BackupTarget(str(tmp_path / "kept"), 2)) is not None
    assert operations.health(by(small, MAINTAINER)).backup_failed is None
    assert _alarms(small) == []


def _alarms(database: Database) -> list[str]:
    with database.read() as session:
        return [alarm.code for alarm in service_alarms(session) if alarm.code != "worker-offline"]
