"""One database and one process to a replica: Litestream itself would write to any."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from operation.replication.litestream import Litestream, Position, ReplicaUnusable
from operation.replication.replica import Replica
from operation.replication.replica_claim import NAME, ReplicaClaim, require_same, require_whole
from operation.replication.replica_watch import ReplicaWatch
from operation.start import prove
from storage.database import Database
from storage.integrity import audit
from tests.databases import new_database


@pytest.fixture
def replica(tmp_path: Path) -> Replica:
    (tmp_path / "replica").mkdir()
    return Replica(str(tmp_path / "replica"))


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with closing(new_database(f"sqlite:///{tmp_path}/leaderboard.db")) as found:
        yield found


class Copying(Litestream):
    """Litestream that has copied everything: where its folder is gone, it makes a new one."""

    def sync(self, timeout: float) -> Position | None:
        return Position(1, 1)


def watch(replica: Replica, database: Database) -> ReplicaWatch:
    litestream = Copying(Path("leaderboard.db"), replica)
    return ReplicaWatch(litestream, claim=ReplicaClaim(replica, database))


def happen(database: Database, kind: str = "backup.made") -> None:
    with database.write() as session:
        audit.append(session, kind, data={})


def test_a_replica_of_another_service_or_of_a_later_state_is_refused(
    tmp_path: Path, replica: Replica, database: Database
) -> None:
    with database.read() as session:
        require_same(replica, session)  # nothing is known of it
    happen(database)
    watch(replica, database).look()
    happen(database)
    with database.read() as session:
        require_same(replica, session)
    with closing(new_database(f"sqlite:///{tmp_path}/other.db")) as other:
        for kind in (None, "backup.failed", "backup.failed"):  # a copy from before, then another chain
            if kind:
                happen(other, kind)
            with other.read() as session, pytest.raises(ReplicaUnusable, match="restore --replace"):
                require_same(replica, session)


def test_the_process_that_began_last_goes_on_and_the_other_copies_nothing_more(
    replica: Replica, database: Database
) -> None:
    first, second = watch(replica, database), watch(replica, database)
    happen(database)
    for one in (first, second, first, second):
        one.look()
        happen(database)
    assert (first.lost, second.lost) == (True, False)
    assert first.alarm is not None
    assert "another process writes" in first.alarm
    assert second.alarm is None


def test_a_replica_that_was_moved_away_confirms_nothing_and_is_an_alarm(replica: Replica, database: Database) -> None:
    assert replica.directory is not None
    watched = watch(replica, database)
    assert watched.wait(1), "before the first look, too"
    happen(database)
    replica.directory.rename(replica.directory.with_name("away"))
    replica.directory.mkdir()  # as Litestream does
    assert not watched.wait(1)
    watched.look()
    assert watched.lost
    assert "moved, emptied or unmounted" in str(watched.alarm)
    watched.look()
    assert replica.read(NAME) is None, "it claims no other folder"
    replica.directory.rmdir()
    replica.directory.with_name("away").rename(replica.directory)
    assert not watched.wait(1), "what was copied elsewhere is missing here until it starts again"


def test_a_replica_that_cannot_be_read_confirms_nothing(
    replica: Replica, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = watch(replica, database)
    assert watched.wait(1)
    monkeypatch.setattr(Replica, "read", FullDisk.read_nothing)
    assert not watched.wait(1)
    assert not watched.lost, "the store may answer again"


def test_what_a_service_has_not_written_there_claims_nothing(replica: Replica, database: Database) -> None:
    happen(database)
    for content in (b"", b"no json", b"[]", b"{}"):
        replica.write(NAME, content)
        with database.read() as session:
            require_same(replica, session)


def test_a_restored_database_that_lacks_events_which_the_replica_had_is_refused(
    tmp_path: Path, replica: Replica, database: Database
) -> None:
    happen(database)
    watch(replica, database).look()
    with database.read() as session:
        require_whole(replica, session)
    words = r"it ends with 0: .* remove service\.json"
    with (
        closing(new_database(f"sqlite:///{tmp_path}/older.db")) as older,
        older.read() as session,
        pytest.raises(ReplicaUnusable, match=words),
    ):
        require_whole(replica, session)


def test_a_full_disk_takes_an_empty_file_and_is_refused_as_a_replica_all_the_same(tmp_path: Path) -> None:
    with pytest.raises(ReplicaUnusable, match="No space left on device"):
        prove(FullDisk(str(tmp_path)), None)


class FullDisk(Replica):
    """A directory on a disk without a free byte."""

    def write(self, name: str, content: bytes) -> None:
        if content:
            raise OSError(errno.ENOSPC, "words of a library")

    def read_nothing(self, name: str) -> bytes | None:
        raise OSError(errno.EIO, name)
