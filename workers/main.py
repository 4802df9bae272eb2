"""Worker process of `python -m workers` and `python -m workers rescore`, built from the settings."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from queue import Empty, SimpleQueue

from common.logging_setup import log_to_stderr
from operation.folder_mirror import worker_mirrors
from settings import DEMO_REVISION, WorkerSettings
from storage.database import Database, migrate, open_database
from storage.files.backups import BackupTarget
from workers import schedule
from workers.item_files import write_items
from workers.jobs import rescore as jobs_rescore
from workers.jobs.audit_checkpoint import HubDataset
from workers.jobs.detect_anomalies import AnomalyDetector
from workers.labels.loader import LabelsError
from workers.runner import Worker, drain, run
from workers.scorer import load_scorer
from workers.startup import prepare, register
from workers.task_runner import create_task_runner


def work(settings: WorkerSettings, until_empty: bool, best_reported: float | None = None) -> None:
    """Score until stopped (Ctrl-C, SIGTERM), or until no job is waiting. Raises LabelsError and LabelSetChanged.

    `best_reported`: the best overall accuracy known from elsewhere, for those who watch over what is suspicious.
    """
    log_to_stderr()
    _write_items(settings)
    scorer = load_scorer(settings.manifest_path, _specs(settings), settings.hidden_labels, settings.spec)
    stop = _stop_on_signals()
    with _database(settings) as database:
        migrate(database)
        token = settings.audit_token.get_secret_value()
        dataset = HubDataset(settings.audit_dataset, token) if settings.audit_dataset else None
        mirrors = worker_mirrors(settings.replica, settings.state_dir) if settings.replica else ()
        for mirror in mirrors:  # before the runner looks which labels are here
            mirror.restore()
        runner = create_task_runner(database, scorer, settings.state_dir, settings.lease_seconds, dataset)
        runner = replace(runner, import_dirs=settings.label_import_dirs)
        if settings.backup_keep:
            runner = replace(runner, backup=BackupTarget(settings.backup_url, settings.backup_keep))
        runner = replace(runner, accept_weak_hiding=settings.accept_weak_hiding)
        prepare(database, runner.scorer, settings.label_revision)
        runner.watch_hiding()
        watcher = AnomalyDetector(best_reported)
        worker = Worker(
            database, runner.scorer, settings.lease_seconds, runner.worker, watcher=watcher, holds=runner.holds
        )
        worker.heartbeat()
        worker.publish_snapshot(anew=True)
        if until_empty:
            runner.run_all()
        with schedule.running(worker, runner, [mirror.copy for mirror in mirrors]):
            (drain if until_empty else run)(worker, stop.is_set, stop.wait)
        worker.publish_snapshot()
        worker.leave()


def rescore(settings: WorkerSettings, revision: str) -> int:
    """Score everything under a revision and apply it to the board; return the number of new scores."""
    log_to_stderr()
    specs = [spec for spec in _specs(settings) if spec[0] == revision]
    if not specs:
        raise LabelsError(f"revision {revision} is not in LABELS, so no worker could score new submissions under it")
    scorer = load_scorer(settings.manifest_path, specs, settings.hidden_labels, settings.spec)
    with _database(settings) as database:
        migrate(database)
        register(database, scorer, revision)
        recorded = jobs_rescore.switch_board(database, scorer, revision, "rescore command")
        Worker(database, scorer, settings.lease_seconds).publish_snapshot()
    return recorded


def _write_items(settings: WorkerSettings) -> None:
    """Write the manifest of labelled pairs, where it is not there yet."""
    if settings.manifest_path is not None and not settings.is_demo:
        write_items(settings.manifest_path, settings.spec, [source for _, source in _specs(settings)])


def _specs(settings: WorkerSettings) -> list[tuple[str, str]]:
    """(revision, file or Hub dataset) of every label set."""
    if settings.is_demo:
        return [(DEMO_REVISION, str(settings.demo_dir / "labels.jsonl"))]
    return [(spec.revision, spec.source) for spec in settings.label_specs]


@contextmanager
def _database(settings: WorkerSettings) -> Iterator[Database]:
    database = open_database(settings.database_url)
    try:
        yield database
    finally:
        database.close()


class StopSignal:
    """Set by Ctrl-C and SIGTERM; the job in hand is finished first.

    Not a threading.Event: a signal that comes while the main thread is inside its wait() finds the event's lock taken
    by that very thread, and set() never returns. A SimpleQueue may be filled from a signal's handler.
    """

    def __init__(self) -> None:
        self._told = False
        self._wake: SimpleQueue[None] = SimpleQueue()

    def is_set(self) -> bool:
        """Return whether it is time to stop."""
        return self._told

    def set(self, *_: object) -> None:
        """As a signal's handler does."""
        self._told = True
        self._wake.put(None)

    def wait(self, seconds: float) -> None:
        """So long, or until it is time to stop. For one thread."""
        if not self._told:
            with suppress(Empty):
                self._wake.get(timeout=seconds)


def _stop_on_signals() -> StopSignal:
    stop = StopSignal()
    signal.signal(signal.SIGTERM, stop.set)
    signal.signal(signal.SIGINT, stop.set)
    return stop
