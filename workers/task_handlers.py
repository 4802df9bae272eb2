"""Handlers of maintainers' tasks, by kind. storage/jobs/tasks.py says what a task is, jobs/ how it is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import SecretStr

from storage.database import Database
from storage.files import backups
from storage.files.backups import BackupFailed, BackupTarget
from storage.jobs import tasks
from storage.jobs.tasks import TaskClaim, TaskKind
from vlrb.benchmarks.labels import LabelSet
from vlrb.common.messages import _
from vlrb.common.text import pluralize
from workers.jobs import (
    activate_revision,
    draft_labels,
    import_labels,
    preview,
)
from workers.jobs.rescore import CHUNK
from workers.labels.store import LabelStore
from workers.scorer import Scorer

NO_TOKEN = SecretStr("")


@dataclass(frozen=True, slots=True)
class TaskContext:
    """What handlers work with."""

    database: Database
    scorer: Scorer
    store: LabelStore
    chunk: int = CHUNK  # entries of a piece
    backup: BackupTarget | None = None  # where copies of the database go
    import_dirs: Sequence[Path] | None = None  # where labels may be imported from; None: anywhere
    labels_token: SecretStr = NO_TOKEN  # who may read private datasets

    def labels(self, revision: str) -> LabelSet:
        """Return a label set that this worker has. Raises LabelsError."""
        return import_labels.load(self.database, self.scorer, store=self.store, revision=revision)

    def report(self, claim: TaskClaim) -> Callable[[int, int], None]:
        """Return the function that records progress: entries done, entries in all. It raises LeaseLost."""

        def report(done: int, total: int) -> None:
            with self.database.write() as session:
                tasks.report(session, claim, progress=done, total=total)

        return report


TaskHandler = Callable[[TaskContext, TaskClaim], None]


def _import(context: TaskContext, claim: TaskClaim) -> None:
    token = context.labels_token.get_secret_value()
    import_labels.import_labels(
        context.database, context.scorer, store=context.store, claim=claim, directories=context.import_dirs, token=token
    )


def _retire(context: TaskContext, claim: TaskClaim) -> None:
    import_labels.retire(context.database, context.store, claim=claim)


def _discard(context: TaskContext, claim: TaskClaim) -> None:
    import_labels.discard(context.database, context.store, claim=claim)


def _draft(context: TaskContext, claim: TaskClaim) -> None:
    draft_labels.draft(context.database, context.scorer, store=context.store, claim=claim)


def _back_up(context: TaskContext, claim: TaskClaim) -> None:
    if context.backup is None:
        raise BackupFailed(_("no backups are kept here: BACKUP_KEEP is 0"))
    backup = backups.make(context.database, context.backup)
    with context.database.write() as session:
        tasks.finish(
            session, claim, result={"name": backup.name}, outcome=f"{backup.name}, {backup.size_bytes:,} bytes."
        )


def _preview(context: TaskContext, claim: TaskClaim) -> None:
    labels, scope = context.labels(claim.subject), claim.params["scope"]
    result = preview.preview(
        context.database,
        context.scorer,
        labels=labels,
        scope=scope,
        report=context.report(claim),
        rules=claim.params.get("rules"),
    )
    words = f"{pluralize(result['summary']['entries'], 'entry', many='entries')} compared."
    with context.database.write() as session:
        tasks.finish(session, claim, result=result, outcome=words)


def _apply(context: TaskContext, claim: TaskClaim) -> None:
    labels = context.labels(claim.subject)
    activate_revision.apply(context.database, context.scorer, labels=labels, claim=claim, chunk=context.chunk)


def _score_piece(context: TaskContext, claim: TaskClaim) -> None:
    labels = context.labels(claim.params["label_revision"])
    staged = replace(context.scorer, labels={labels.revision: labels})
    activate_revision.score_piece(context.database, staged, claim=claim)


HANDLERS: Mapping[TaskKind, TaskHandler] = {
    TaskKind.IMPORT: _import,
    TaskKind.RETIRE: _retire,
    TaskKind.DISCARD: _discard,
    TaskKind.DRAFT: _draft,
    TaskKind.BACKUP: _back_up,
    TaskKind.PREVIEW: _preview,
    TaskKind.APPLY: _apply,
    TaskKind.PIECE: _score_piece,
}


def handle(context: TaskContext, claim: TaskClaim) -> None:
    """Run the handler of a task's kind. Raises ValueError for a kind of another release, and what the handler
    raises."""
    HANDLERS[TaskKind(claim.kind)](context, claim)
