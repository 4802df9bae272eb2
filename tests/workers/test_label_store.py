"""Imported label sets on a worker's disk: what it holds, and what it does not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from operation.replication.folder_mirror import FolderMirror
from operation.replication.replica import LABELS, Replica
from storage.database import Database
from storage.labels import label_imports
from tests.databases import new_database
from tests.factories import small_benchmark
from vlrb.benchmarks.label_files import LabelsError
from vlrb.benchmarks.labels import make_label_set
from workers.labels.store import LabelStore
from workers.task_runner import TaskRunner, create_task_runner


def test_a_file_that_is_gone_or_damaged_is_said_to_be(tmp_path: Path) -> None:
    scorer = small_benchmark.scorer()
    store = LabelStore(tmp_path / "labels", scorer.table)
    with pytest.raises(LabelsError, match="not on this worker's disk"):
        store.load("demo")
    assert not store.has("demo")
    kept = store.keep(scorer.labels["demo"])
    assert store.has("demo")
    assert store.load("demo").labels.digest == kept.labels.digest
    path = tmp_path / "labels/demo.json"
    path.chmod(0o600)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(LabelsError, match="the stored labels of revision demo are damaged"):
        store.load("demo")


@dataclass(frozen=True)
class LabelledWorker:
    """A worker with a disk of its own."""

    runner: TaskRunner
    mirror: FolderMirror

    @property
    def file(self) -> Path:
        return self.mirror.folder / self.runner.scorer.benchmark / "v3.json"


def worker_with_disk(database: Database, disk: Path, *, replica: Replica) -> LabelledWorker:
    mirror = FolderMirror(disk / LABELS, LABELS, replica=replica)
    runner = create_task_runner(database, small_benchmark.scorer(), state=disk, lease_seconds=60.0)
    return LabelledWorker(replace(runner, fetch_labels=mirror.restore), mirror)


def published(database: Database, labelled: LabelledWorker) -> None:
    """Revision v3 as one worker has imported and published it."""
    runner = labelled.runner
    preferred = runner.scorer.labels["demo"].preferred.tolist()
    stored = runner.store.keep(
        make_label_set("v3", runner.scorer.table, preferred=dict(enumerate(preferred)), tags=None)
    )
    facts = {"benchmark": runner.scorer.benchmark, "digest": stored.labels.digest, "items": stored.labels.items}
    more = {"spec": "s", "disclosure": "public", "commitment": "c" * 64, "difference": {}}
    with database.write() as session:
        label_imports.record(session, "v3", facts={**facts, **more, "reason": "", "requested_by": "someone"})
        label_imports.publish(session, runner.scorer.benchmark, revision="v3")
    runner.refresh()


def two_workers(tmp_path: Path) -> tuple[Database, LabelledWorker, LabelledWorker]:
    (tmp_path / "replica").mkdir()
    database = new_database(f"sqlite:///{tmp_path}/leaderboard.db")
    replica = Replica(str(tmp_path / "replica"))
    first, second = (worker_with_disk(database, tmp_path / name, replica=replica) for name in ("first", "second"))
    published(database, first)
    return database, first, second


def test_a_worker_that_runs_scores_with_labels_that_another_one_has_imported(tmp_path: Path) -> None:
    database, first, second = two_workers(tmp_path)
    second.runner.bring_labels()
    assert "v3" not in second.runner.scorer.revisions, "it is not in the replica yet"
    first.mirror.copy()
    second.runner.bring_labels()
    assert "v3" in second.runner.scorer.revisions
    with database.read() as session:
        assert "v3" in second.runner.available_revisions(session)
    database.close()
