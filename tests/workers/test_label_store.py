"""Imported label sets on a worker's disk: what it holds, and what it does not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from operation.replica import LABELS, FolderMirror, Replica
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


def _worker(database: Database, disk: Path, *, replica: Replica) -> tuple[TaskRunner, FolderMirror]:
    mirror = FolderMirror(disk / LABELS, LABELS, replica=replica)
    runner = create_task_runner(database, small_benchmark.scorer(), state=disk, lease_seconds=60.0)
    return replace(runner, fetch_labels=mirror.restore), mirror


def test_a_worker_that_runs_scores_with_labels_that_another_one_has_imported(tmp_path: Path) -> None:
    (tmp_path / "replica").mkdir()
    database = new_database(f"sqlite:///{tmp_path}/leaderboard.db")
    replica = Replica(str(tmp_path / "replica"))
    (first, mirror), (second, _) = (_worker(database, tmp_path / name, replica=replica) for name in ("one", "two"))
    scorer = first.scorer
    preferred = dict(enumerate(scorer.labels["demo"].preferred.tolist()))
    labels = first.store.keep(make_label_set("v3", scorer.table, preferred=preferred, tags=None)).labels
    facts = {"benchmark": scorer.benchmark, "digest": labels.digest, "items": labels.items, "spec": "s", "reason": ""}
    more = {"disclosure": "public", "commitment": "c" * 64, "difference": {}, "requested_by": "someone"}
    with database.write() as session:
        label_imports.record(session, "v3", facts=facts | more)
        label_imports.publish(session, scorer.benchmark, revision="v3")
    first.refresh()
    second.bring_labels()
    assert "v3" not in second.scorer.revisions, "it is not in the replica yet"
    mirror.copy()
    second.bring_labels()
    assert "v3" in second.scorer.revisions
    with database.read() as session:
        assert "v3" in second.available_revisions(session)
    database.close()
