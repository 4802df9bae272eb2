"""Context of maintainers' tasks: what their handlers work with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr

from storage.database import Database
from storage.jobs import tasks
from storage.labels import label_imports
from storage.models.queue import Task
from vlrb.benchmarks.label_files import LabelsError
from vlrb.benchmarks.labels import LabelSet
from vlrb.common.messages import _
from workers.labels.store import LabelStore
from workers.scorer import Scorer

CHUNK = 500  # entries that are scored in one transaction
NO_TOKEN = SecretStr("")


@dataclass(frozen=True, slots=True)
class TaskContext:
    """Database, labels and settings of a worker, as far as tasks need them."""

    database: Database
    scorer: Scorer
    store: LabelStore
    chunk: int = CHUNK
    import_dirs: Sequence[Path] | None = None  # where labels may be imported from; None: anywhere
    labels_token: SecretStr = NO_TOKEN  # who may read private datasets

    def labels(self, revision: str) -> LabelSet:
        """Return a revision that this worker scores with, or a draft from its disk. Raises LabelsError."""
        known = self.scorer.labels.get(revision)
        if known is not None:
            return known
        with self.database.read() as session:
            imported = label_imports.find(session, self.scorer.benchmark, revision=revision)
        if imported is None:
            raise LabelsError(_("there is no revision {revision}", revision=revision))
        labels = self.store.load(revision).labels
        if labels.digest != imported.digest:
            raise LabelsError(_("this worker holds other labels than those imported as {revision}", revision=revision))
        return labels

    def report(self, claim: Task) -> Callable[[int, int], None]:
        """Return the function that records progress: entries done, entries in all. It raises LeaseLost."""

        def report(done: int, total: int) -> None:
            with self.database.write() as session:
                tasks.report(session, claim, progress=done, total=total)

        return report
