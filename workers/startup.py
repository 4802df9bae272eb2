"""Start-up of the worker: migrate, register label sets, set the board, enqueue missing jobs."""

from __future__ import annotations

import logging

from sqlalchemy.exc import IntegrityError

from benchmark.disclosure import PUBLIC
from common.messages import _
from storage.database import Database, migrate
from storage.jobs import job_queue
from storage.labels import label_imports, label_levels, label_sets
from workers.jobs.rescore import switch_board
from workers.scorer import Scorer

log = logging.getLogger(__name__)


def prepare(database: Database, scorer: Scorer, *, label_revision: str) -> None:
    """Bring the database to where the worker can start. Several workers may do it at once.

    Raises:
        LabelSetChanged: a revision was registered with other labels before.
    """
    migrate(database)
    for revision in scorer.revisions:
        register(database, scorer, revision=revision)
    _set_board(database, scorer, label_revision=label_revision)
    with database.write() as session:
        configured = set(scorer.revisions) - label_imports.names(session, scorer.benchmark)
        stated = {name: scorer.hidden.get(name, PUBLIC) for name in sorted(configured)}
        label_levels.state(session, scorer.benchmark, levels=stated)
        active = label_sets.current(session, scorer.benchmark)
        for revision in scorer.revisions:
            urgent = active is not None and active.label_revision == revision
            priority = job_queue.URGENT if urgent else job_queue.BACKFILL
            job_queue.enqueue_missing(
                session, scorer.benchmark, label_revision=revision, scorer_version=scorer.version, priority=priority
            )


def register(database: Database, scorer: Scorer, *, revision: str) -> None:
    """Make a label revision known to the database."""
    labels = scorer.labels[revision]
    try:
        with database.write() as session:
            label_sets.register(
                session, revision, benchmark=scorer.table.benchmark, digest=labels.digest, items=labels.items
            )
    except IntegrityError:  # another worker registered it between our look and our write: now it is known
        with database.write() as session:
            label_sets.register(
                session, revision, benchmark=scorer.table.benchmark, digest=labels.digest, items=labels.items
            )


def _set_board(database: Database, scorer: Scorer, *, label_revision: str) -> None:
    """Set the board's pointer: from the setting for a new board, later only if its revision can no longer be scored."""
    with database.read() as session:
        active = label_sets.current(session, scorer.benchmark)
        imported = (
            active is not None
            and label_imports.find(session, active.benchmark, revision=active.label_revision) is not None
        )
    if active is None:
        reason = _("A new board starts with the labels that the service is configured to show first.")
    elif active.label_revision not in scorer.labels and imported:
        # Maintainers decided that; a worker that does not hold these labels leaves the board to those that do.
        log.error("labels.missing", extra={"data": {"label_revision": active.label_revision}})
        return
    elif active.label_revision not in scorer.labels:
        reason = _(
            "The labels {label_revision} that it showed are no longer configured.", label_revision=active.label_revision
        )
    else:
        if active.scorer_version != scorer.version:
            # Another rule moves ranks: maintainers look at that first, then apply it. Until then the old scores stay.
            versions = {"shown": active.scorer_version, "ours": scorer.version}
            log.warning("board.shows_another_scorer_version", extra={"data": versions})
        if active.label_revision != label_revision:
            facts = {"shown": active.label_revision, "LABEL_REVISION": label_revision}
            log.warning("board.shows_another_revision", extra={"data": facts})
        return
    log.info("board.pointed", extra={"data": {"label_revision": label_revision, "reason": reason}})
    try:
        switch_board(database, scorer, revision=label_revision, reason=reason)
    except IntegrityError:  # two workers made the first pointer at once; the other one's is kept
        log.info("board.pointed_elsewhere")
