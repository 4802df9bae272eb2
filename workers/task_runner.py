"""Task loop: maintainers' tasks, one at a time, beside the scoring of submissions."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from storage.database import Database
from storage.database_wait import log_away
from storage.integrity import integrity_alarms
from storage.integrity.integrity_alarms import RecordChanged
from storage.jobs import leases, tasks
from storage.jobs.leases import LeaseLost
from storage.jobs.tasks import TaskKind
from storage.labels import label_imports
from storage.labels.label_sets import LabelSetChanged
from storage.models.queue import Task
from vlrb.benchmarks.label_files import LabelsError
from vlrb.common.messages import _
from workers.jobs import activate_revision, audit_checkpoint, draft_labels, import_labels, preview
from workers.jobs.activate_revision import BoardChangedMeanwhile
from workers.jobs.audit_checkpoint import HubDataset
from workers.labels.store import LabelRegistry, LabelStore
from workers.runner import worker_name
from workers.scorer import Scorer
from workers.task_context import TaskContext

TaskHandler = Callable[[TaskContext, Task], None]
_FAULT = _("A worker failed at this; its log says why. Nothing has changed.")

log = logging.getLogger(__name__)


def _preview(context: TaskContext, claim: Task) -> None:
    labels = context.labels(claim.subject)
    result = preview.preview(
        context.database,
        context.scorer,
        labels=labels,
        report=context.report(claim),
        rules=claim.params.get("rules"),
    )
    entries = result["summary"]["entries"]
    words = f"{entries:,} {'entry' if entries == 1 else 'entries'} compared."
    with context.database.write() as session:
        tasks.finish(session, claim, result=result, outcome=words)


def _apply(context: TaskContext, claim: Task) -> None:
    labels = context.labels(claim.subject)
    activate_revision.apply(context.database, context.scorer, labels=labels, claim=claim, chunk=context.chunk)


HANDLERS: Mapping[TaskKind, TaskHandler] = {
    TaskKind.IMPORT: import_labels.import_labels,
    TaskKind.RETIRE: import_labels.retire,
    TaskKind.DRAFT: draft_labels.draft,
    TaskKind.PREVIEW: _preview,
    TaskKind.APPLY: _apply,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRunner(TaskContext):
    """Task loop of one worker. `registry` has the scorer's own label sets, so that what is published is scored at
    once."""

    registry: LabelRegistry
    worker: str
    lease_seconds: float
    heads: Path | None = None  # where the audit chain's head of each day goes
    dataset: HubDataset | None = None  # where these heads are published
    fetch_labels: Callable[[], int] | None = None  # brings imported labels that this disk has not got
    missing: set[str] = field(default_factory=set)  # published revisions whose labels are not here, or are damaged

    def run_one(self) -> bool:
        """Run the first waiting task; False where there is none."""
        benchmark, version = self.scorer.benchmark, self.scorer.version
        with self.database.read() as session:
            if session.scalars(tasks.waiting(benchmark, version).limit(1)).first() is None:
                return False
        with self.database.write() as session:
            claim = tasks.claim(
                session, self.worker, lease_seconds=self.lease_seconds, benchmark=benchmark, scorer_version=version
            )
        if claim is None:
            return False
        with self._keep_lease(claim):
            self._execute(claim)
        self.refresh()
        return True

    def run_all(self) -> int:
        """Run all waiting tasks; return their number."""
        done = 0
        while self.run_one():
            done += 1
        return done

    def refresh(self) -> None:
        """List exactly the imported revisions that are published, beside those that were configured."""
        with self.database.read() as session:
            published = {labels.revision for labels in label_imports.active_revisions(session, self.scorer.benchmark)}
            drafts = label_imports.drafts(session, self.scorer.benchmark)
        self.missing.intersection_update(published)
        for revision in published - set(self.registry):
            try:
                self.registry.add(self.labels(revision))
                self.missing.discard(revision)
            except LabelsError as error:
                self.missing.add(revision)
                log.error("labels.missing", extra={"data": {"label_revision": revision, "reason": str(error)}})
        for revision in drafts & set(self.registry):
            self.registry.remove(revision)

    def bring_labels(self) -> None:
        """Bring imported labels that another worker has copied to the replica since; then this one scores with them."""
        if self.fetch_labels is None:
            return
        with self.database.read() as session:
            known = label_imports.names(session, self.scorer.benchmark)
        if not all(map(self.store.has, known)) and self.fetch_labels():
            self.refresh()

    def available_revisions(self, session: Session) -> set[str]:
        """Return the label revisions that this worker could score under: those in its registry, imported ones on its
        disk."""
        on_disk = {name for name in label_imports.names(session, self.scorer.benchmark) if self.store.has(name)}
        return {*self.registry, *on_disk} - self.missing

    def check_rows(self) -> None:
        """Compare stored rows with the audit chain once a day; what differs is an alarm in `health`."""
        result = integrity_alarms.check_daily(self.database)
        if result:
            log.error("integrity.failed", extra={"data": {"problems": len(result), "first": result[0]}})

    def keep_head(self) -> None:
        """Write the head of the chain of the day: to a file first, whatever the Hub answers."""
        if self.heads is not None and audit_checkpoint.write_checkpoint(self.database, self.heads) and self.dataset:
            audit_checkpoint.publish_heads(self.heads, self.dataset)

    def _execute(self, claim: Task) -> None:
        """Run one unit of work and record its failure with the task."""
        about = {"task": claim.id, "kind": claim.kind, "subject": claim.subject}
        try:
            HANDLERS[TaskKind(claim.kind)](self, claim)
            log.info("task.done", extra={"data": about})
        except LeaseLost:
            log.warning("task.lease_lost", extra={"data": about})
        except SQLAlchemyError:
            raise  # the database is away; the task is done again when its lease is over
        except (LabelSetChanged, BoardChangedMeanwhile) as error:
            self._fail(claim, f"{type(error).__doc__}", retry=False)
        except (LabelsError, RecordChanged) as error:
            self._fail(claim, str(error), retry=False)
        except Exception:
            log.exception("task.failed", extra={"data": about})
            self._fail(claim, _FAULT, retry=True)

    def _fail(self, claim: Task, words: str, *, retry: bool) -> None:
        try:
            with self.database.write() as session:
                leases.fail(session, claim, outcome=words, retry=retry)
        except LeaseLost:
            log.warning("task.lease_lost", extra={"data": {"task": claim.id}})

    @contextmanager
    def _keep_lease(self, claim: Task) -> Iterator[None]:
        """Keep the lease of a task that takes long, from a thread of its own."""
        done = threading.Event()

        def keep() -> None:
            while not done.wait(self.lease_seconds / 4):
                try:
                    with self.database.write() as session:
                        if not leases.extend(session, claim, seconds=self.lease_seconds):
                            return
                except SQLAlchemyError as error:
                    if not log_away(error):
                        log.exception("task.heartbeat_failed")

        thread = threading.Thread(target=keep, name="task-lease", daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()


def create_task_runner(
    database: Database, scorer: Scorer, *, state: Path, lease_seconds: float, **more: Any
) -> TaskRunner:
    """Return a task runner whose scorer also knows the imported revisions that are published.

    Below `state`: the imported labels (labels/), and the audit chain's heads (audit/). `more`: its other fields.
    """
    registry = LabelRegistry(scorer.labels)
    fields = {"worker": worker_name(), "heads": state / "audit", **more}
    store = LabelStore(state / "labels" / scorer.benchmark, scorer.table)
    growing = replace(scorer, labels=registry)
    runner = TaskRunner(database, growing, registry=registry, store=store, lease_seconds=lease_seconds, **fields)
    runner.refresh()
    return runner
