"""Worker process of `python -m workers`, built from the settings."""

from __future__ import annotations

import logging
import signal
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from functools import partial
from queue import Empty, SimpleQueue

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from common.exit_deadline import Watchdog
from common.logging_setup import log_to_stderr
from operation.replica import LABELS, FolderMirror, restore_items, worker_mirrors
from settings import ServedSettings, SettingsError, WorkerSettings
from storage.changes import DatabaseChanges
from storage.database import Database, DatabaseAway, is_away, is_made, open_migrated
from storage.database_wait import retry_while_away
from storage.own_boards import require_own_boards
from vlrb.benchmarks.spec import DEMO
from vlrb.common.messages import _
from workers import schedule
from workers.item_files import write_items
from workers.jobs.audit_checkpoint import HubDataset
from workers.runner import Worker, drain, run, worker_name
from workers.scorer import Scorer, load_scorer
from workers.startup import prepare
from workers.task_runner import TaskRunner, create_task_runner

_JOBS = "jobs"  # the loop of this thread

log = logging.getLogger(__name__)


def work(settings: WorkerSettings, until_empty: bool) -> None:
    """Score until stopped (Ctrl-C, SIGTERM), or until no job is waiting.

    Raises SettingsError, LabelsError, LabelSetChanged and ReplicaUnusable.
    """
    log_to_stderr()
    stop = _stop_on_signals()
    restore_items(settings.replica, settings.state_dir)
    _write_items(settings)
    scorers = [_scorer(settings, served) for served in settings.served]
    with suppress(StoppedWhileWaiting):
        database = retry_while_away(partial(open_worker_database, settings), stop.rest)
        with closing(database):
            _work_on(database, settings, scorers=scorers, stop=stop, until_empty=until_empty)


def open_worker_database(settings: WorkerSettings) -> Database:
    """Return the database with the newest schema.

    Raises DatabaseAway until a web process has made or restored it; OtherBoards and DatabaseUnusable.
    """
    if not is_made(settings.database_url):
        raise DatabaseAway("There is no database yet. Start the web process, which makes or restores it.")
    database = open_migrated(settings.database_url)
    require_own_boards(database, demo=settings.is_demo)
    return database


def _work_on(
    database: Database, settings: WorkerSettings, *, scorers: Sequence[Scorer], stop: StopSignal, until_empty: bool
) -> None:
    mirrors = _restored_mirrors(settings)  # before the runners look which labels are here
    fetch_labels = next((mirror.restore for mirror in mirrors if mirror.name == LABELS), None)
    made = partial(_prepared_runners, database, settings, scorers=scorers, fetch_labels=fetch_labels)
    runners = retry_while_away(made, stop.rest)
    worker = _worker(database, settings.lease_seconds, runners=runners)
    retry_while_away(partial(_appear, worker), stop.rest)
    if until_empty:
        for runner in runners:
            retry_while_away(runner.run_all, stop.rest)
    watchdog, copies = Watchdog([_JOBS, schedule.HEARTBEAT, schedule.QUEUE]), [mirror.copy for mirror in mirrors]

    def should_stop() -> bool:
        watchdog.turn(_JOBS)
        return stop.is_set()

    with (
        closing(DatabaseChanges(database)) as changes,
        watchdog,
        schedule.running(worker, runners, mirrors=copies, changes=changes, turned=watchdog.turn),
    ):
        if until_empty:
            retry_while_away(partial(drain, worker, should_stop, rest=stop.wait), stop.rest)
        else:
            run(worker, should_stop, rest=stop.wait, changes=changes)
    _leave(worker)


def _restored_mirrors(settings: WorkerSettings) -> Sequence[FolderMirror]:
    """Return what a worker keeps in the replica, with what is there brought here."""
    if settings.replica is None:
        return ()
    mirrors = worker_mirrors(settings.replica, settings.state_dir)
    for mirror in mirrors:
        mirror.restore()
    return mirrors


def _prepared_runners(
    database: Database,
    settings: WorkerSettings,
    *,
    scorers: Sequence[Scorer],
    fetch_labels: Callable[[], int] | None,
) -> list[TaskRunner]:
    """Return what runs maintainers' tasks of each benchmark, with a database where the worker can start; harmless when
    done twice."""
    token, name = settings.labels_token.get_secret_value(), worker_name()
    runners = [
        create_task_runner(
            database,
            scorer,
            state=settings.state_dir,
            lease_seconds=settings.lease_seconds,
            worker=name,
            dataset=HubDataset(settings.audit_dataset, token) if settings.audit_dataset else None,
            import_dirs=(settings.import_dir,),
            labels_token=settings.labels_token,
            fetch_labels=fetch_labels,
        )
        for scorer in scorers
    ]
    for runner, served in zip(runners, settings.served, strict=True):
        prepare(database, runner.scorer, label_revision=served.label_revision, levels=served.hidden_labels)
    return runners


def _appear(worker: Worker) -> None:
    """Show the worker and the boards as this release writes them; harmless when done twice."""
    worker.heartbeat()
    worker.publish_snapshot(anew=True)


def _leave(worker: Worker) -> None:
    """Publish what was scored last, and sign off, if the database answers."""
    try:
        worker.publish_snapshot()
        worker.leave()
    except SQLAlchemyError as error:
        if not is_away(error):
            raise
        log.warning("worker.leave_failed", extra={"data": {"reason": type(error).__name__}})


def _worker(database: Database, lease_seconds: float, *, runners: Sequence[TaskRunner]) -> Worker:
    """Return the worker of all benchmarks."""

    def available_revisions(session: Session) -> dict[str, set[str]]:
        return {runner.scorer.benchmark: runner.available_revisions(session) for runner in runners}

    return Worker(
        database,
        [runner.scorer for runner in runners],
        lease_seconds=lease_seconds,
        name=runners[0].worker,
        available_revisions=available_revisions,
    )


def _write_items(settings: WorkerSettings) -> None:
    """Write the manifests of labelled pairs, where they are not there yet."""
    for served in settings.served:
        if served.manifest_path is not None and not settings.is_demo:
            sources = [source for _revision, source in _specs(settings, served)]
            write_items(
                served.manifest_path, served.spec, sources=sources, token=settings.labels_token.get_secret_value()
            )


def _scorer(settings: WorkerSettings, served: ServedSettings) -> Scorer:
    token = settings.labels_token.get_secret_value()
    scorer = load_scorer(served.manifest_path, _specs(settings, served), benchmark=served.spec, token=token)
    if not settings.is_demo:
        _require_levels(scorer, served)
    return scorer


def _require_levels(scorer: Scorer, served: ServedSettings) -> None:
    """Raise SettingsError where neither the definition nor the settings say what may be shown of scores."""
    for revision, labels in scorer.labels.items():
        listed = served.spec.public_labels or labels.digest in served.spec.label_digests
        if not listed and revision not in served.hidden_labels:
            name = f"{served.id}/{revision}"
            raise SettingsError(
                _(
                    "HIDDEN_LABELS does not say what is shown of scores under {name}, and the project does not list "
                    "these labels as public ones. Add {name}:public to HIDDEN_LABELS to show everything, or {name} for "
                    "the overall alone.",
                    name=name,
                )
            )


def _specs(settings: WorkerSettings, served: ServedSettings) -> list[tuple[str, str]]:
    """(revision, file or Hub dataset) of every label set of a benchmark."""
    if settings.is_demo:
        return [(DEMO, str(settings.demo_dir / "labels.jsonl"))]
    return [(spec.revision, spec.source) for spec in served.label_specs]


class StoppedWhileWaiting(Exception):
    """The worker was told to stop before it could start."""


class StopSignal:
    """Set by Ctrl-C and SIGTERM; the job in hand is finished first.

    Not a threading.Event: a signal that comes while the main thread is inside its wait() finds the event's lock taken
    by that very thread, and set() never returns. A SimpleQueue may be filled from a signal's handler.
    """

    def __init__(self) -> None:
        self._stopped = False
        self._wake: SimpleQueue[None] = SimpleQueue()

    def is_set(self) -> bool:
        """Return whether it is time to stop."""
        return self._stopped

    def set(self, *_: object) -> None:
        """Stop, as a signal's handler does."""
        self._stopped = True
        self._wake.put(None)

    def wait(self, seconds: float) -> None:
        """Wait so long, or until it is time to stop. For one thread."""
        if not self._stopped:
            with suppress(Empty):
                self._wake.get(timeout=seconds)

    def rest(self, seconds: float) -> None:
        """Wait as wait() does. Raises StoppedWhileWaiting."""
        self.wait(seconds)
        if self._stopped:
            raise StoppedWhileWaiting


def _stop_on_signals() -> StopSignal:
    stop = StopSignal()
    signal.signal(signal.SIGTERM, stop.set)
    signal.signal(signal.SIGINT, stop.set)
    return stop
