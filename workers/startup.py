"""Start-up of the worker: register label sets, set the board, enqueue missing jobs."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from types import MappingProxyType

from sqlalchemy.exc import IntegrityError

from storage.database import Database
from storage.integrity import audit
from storage.jobs import job_queue
from storage.labels import label_imports, label_levels, label_sets
from storage.labels.label_sets import ActiveBoard
from vlrb.common.messages import _
from vlrb.disclosure import PUBLIC
from workers.scorer import Scorer, measured_disclosure

_NEW_BOARD = _("A new board starts with the labels that the service is configured to show first.")
_NOT_SERVING = (
    "This worker scores nothing, because it lacks the labels that the board shows. Name them in LABELS beside the "
    "others and start it again; rescore apply then moves the board."
)

log = logging.getLogger(__name__)


def prepare(
    database: Database, scorer: Scorer, *, label_revision: str, levels: Mapping[str, str] = MappingProxyType({})
) -> None:
    """Bring the database to where the worker can start. Several workers may do it at once.

    ``levels``: what the settings say of configured label revisions; the others are public.

    Raises:
        LabelSetChanged: a revision was registered with other labels before.
    """
    for revision in scorer.revisions:
        register(database, scorer, revision=revision)
    shown = _point_new_board(database, scorer, label_revision=label_revision)
    with database.write() as session:
        label_sets.offer_rules(session, scorer.benchmark, rules=scorer.rules)
        configured = set(scorer.revisions) - label_imports.names(session, scorer.benchmark)
        for name in sorted(configured):
            level = levels.get(name, PUBLIC)
            measured = measured_disclosure(scorer.labels[name], scorer.table, level=level)
            label_levels.state(session, scorer.benchmark, revision=name, level=level, measured=measured)
        for revision in scorer.revisions if shown in scorer.labels else ():
            priority = job_queue.URGENT if revision == shown else job_queue.BACKFILL
            job_queue.enqueue_missing(
                session, scorer.benchmark, label_revision=revision, scorer_version=scorer.version, priority=priority
            )


def register(database: Database, scorer: Scorer, *, revision: str) -> None:
    """Make a label revision known to the database."""
    labels = scorer.labels[revision]
    with database.write() as session:
        audit.acquire_chain_lock(session)  # so that of workers that start at once the second sees it
        label_sets.register(
            session, revision, benchmark=scorer.table.benchmark, digest=labels.digest, items=labels.items
        )


def _point_new_board(database: Database, scorer: Scorer, *, label_revision: str) -> str:
    """Set the pointer of a new board as the settings say; return the revision that the board shows.

    From then on maintainers alone move it: a worker with other settings must not.
    """
    try:
        with database.write() as session:
            active = label_sets.current(session, scorer.benchmark)
            if active is None:
                label_sets.activate_revision(
                    session,
                    scorer.benchmark,
                    label_revision=label_revision,
                    scorer_version=scorer.version,
                    reason=_NEW_BOARD,
                    rules=scorer.rules,
                )
                log.info("board.pointed", extra={"data": {"label_revision": label_revision, "reason": _NEW_BOARD}})
                return label_revision
    except IntegrityError:  # two workers made the first pointer at once; the other one's is kept
        with database.read() as session:
            active = label_sets.current(session, scorer.benchmark)
    assert active is not None
    _log_differences(active, scorer, label_revision=label_revision)
    return active.label_revision


def _log_differences(active: ActiveBoard, scorer: Scorer, *, label_revision: str) -> None:
    """Say where the board shows something else than this worker was started with."""
    if active.label_revision not in scorer.labels:
        facts = {"benchmark": active.benchmark, "shown": active.label_revision, "held": list(scorer.revisions)}
        log.error("labels.missing", extra={"data": {**facts, "advice": _NOT_SERVING}})
        return
    if active.scorer_version != scorer.version:
        # Another rule moves ranks: maintainers look at that first, then apply it. Until then the old scores stay.
        versions = {"shown": active.scorer_version, "ours": scorer.version}
        log.warning("board.shows_another_scorer_version", extra={"data": versions})
    if active.label_revision != label_revision:
        facts = {"shown": active.label_revision, "first of LABELS": label_revision}
        log.warning("board.shows_another_revision", extra={"data": facts})
