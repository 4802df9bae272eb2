"""Daily check of stored files that only workers may read: imported label sets.

What another copy can mend is mended, and logged; what is left is an alarm (operation/replication/stored_uploads.py).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence

from sqlalchemy import select

from operation.replication.replica import LABELS, Replica
from operation.replication.stored_uploads import FILES_CHECKED, NAMED, is_due
from storage.clock import database_now
from storage.database import Database
from storage.integrity import audit
from storage.labels import label_imports
from vlrb.benchmarks.label_files import LabelsError
from vlrb.common.messages import _
from workers.labels.store import LabelStore

log = logging.getLogger(__name__)


def check_daily(database: Database, checks: Sequence[Callable[[], list[str]]]) -> list[str] | None:
    """Run the checks where no worker has in the last 24 hours; the sentences found, None where it was not due."""
    with database.read() as session:
        if not is_due(session, FILES_CHECKED, now=session.execute(select(database_now())).scalar_one()):
            return None
    problems = [sentence for check in checks for sentence in check()]
    with database.write() as session:
        audit.append(session, FILES_CHECKED, data={"problems": len(problems), "named": problems[:NAMED]})
    return problems


def check_labels(database: Database, benchmark: str, *, store: LabelStore, replica: Replica | None) -> list[str]:
    """Return a sentence for each imported label set on this disk that is not what was imported; write a copy that is
    not what this disk holds again. Raises whatever the replica raises."""
    with database.read() as session:
        imported = {
            name: label_imports.find(session, benchmark, revision=name)
            for name in label_imports.names(session, benchmark)
        }
    digests = {name: labels.digest for name, labels in imported.items() if labels is not None and store.has(name)}
    problems = list(_damaged(digests, benchmark, store=store))
    for revision in digests.keys() if replica is not None and not problems else ():
        assert replica is not None
        _mend_copy(replica, f"{LABELS}/{benchmark}/{revision}.json", content=store.content(revision))
    return problems


def _damaged(digests: dict[str, str], benchmark: str, *, store: LabelStore) -> Iterator[str]:
    for revision, digest in sorted(digests.items()):
        try:
            if store.load(revision).labels.digest == digest:
                continue
        except LabelsError:
            pass
        yield (
            _(
                "The labels of revision {revision} on the disk of a worker are damaged. Remove "
                "labels/{benchmark}/{revision}.json from its DATA_DIR; it brings them from REPLICA_URL.",
                revision=revision,
                benchmark=benchmark,
            )
        )


def _mend_copy(replica: Replica, name: str, *, content: bytes) -> None:
    if replica.read(name) != content:
        replica.write(name, content)
        log.warning("labels.copy_mended", extra={"data": {"file": name}})
