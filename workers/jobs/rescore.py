"""Bulk re-scoring under another label revision, from the stored votes alone. Entry ids stay the same."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import Select, exists, insert, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from storage.clock import read_clock
from storage.database import Database
from storage.integrity import audit, row_commitments, stored_votes
from storage.integrity.row_commitments import ScoreFacts
from storage.jobs import job_queue
from storage.labels import label_sets
from storage.models.core import Score, Submission
from storage.visibility import LET_THROUGH
from vlrb.behaviour import behaviours_of
from vlrb.commitments import new_salt
from vlrb.scoring import tally_many
from vlrb.votes import Votes, unpack_margins
from workers.jobs.score import tally_text
from workers.scorer import Scorer
from workers.task_context import CHUNK

RECORDED = audit.SCORES_RECORDED
_TRIES = 5

log = logging.getLogger(__name__)


class _Counted(NamedTuple):
    tally: str  # as it is stored
    content_sha256: str


def rescore(
    database: Database,
    scorer: Scorer,
    *,
    revision: str,
    chunk: int = CHUNK,
    first: Callable[[Session, int], None] = lambda session, done: None,
) -> int:
    """Score every submission that has no score under the revision yet; return the number of recorded scores.

    A chunk is one transaction, so it may be interrupted and called again, beside running workers too. `first` comes
    first in each, with the number of submissions that are done by then; where it raises, nothing of the chunk is
    recorded. Raises RecordChanged where stored votes are not those that were accepted.
    """
    recorded, done, after = 0, 0, ""
    while True:
        with database.read() as session:
            wanted = unscored(scorer, revision).where(Submission.id > after).order_by(Submission.id).limit(chunk)
            names = session.scalars(wanted).all()
        if not names:
            return recorded
        texts, done = _tally_texts(database, scorer, names=names, revision=revision), done + len(names)
        recorded += _record(database, texts, scorer=scorer, revision=revision, first=first, done=done)
        after = names[-1]
        log.info("rescore.chunk", extra={"data": {"label_revision": revision, "recorded": recorded}})


def unscored(scorer: Scorer, revision: str) -> Select[str]:
    """Return the submissions that may be scored and have no score under a revision, on the board or not."""
    has_score = exists().where(
        Score.submission_id == Submission.id,
        Score.label_revision == revision,
        Score.scorer_version == scorer.version,
    )
    return select(Submission.id).where(Submission.benchmark == scorer.benchmark, ~has_score, LET_THROUGH)


def _tally_texts(database: Database, scorer: Scorer, *, names: Sequence[str], revision: str) -> dict[str, _Counted]:
    """Return stored tallies by submission. Votes of the wrong length are left to the queue: there the one entry fails,
    not the whole run."""
    labels, items = scorer.labels[revision], len(scorer.table)
    texts: dict[str, _Counted] = {}
    for same, matrix in stored_votes.matrices(database, names, items=items):
        orders = [row.orders and Votes.unpack(row.orders, items, k=row.votes_per_item) for row in same]
        margins = [unpack_margins(row.margins) for row in same]
        behaviours = behaviours_of(matrix, orders, preferred=labels.preferred, margins=margins, table=scorer.table)
        counted = tally_many(matrix, labels, table=scorer.table)
        for row, tally, behaviour in zip(same, counted, behaviours, strict=True):
            texts[row.id] = _Counted(tally_text(tally, behaviour), row.content_sha256)
    return texts


def _record(
    database: Database,
    texts: Mapping[str, _Counted],
    *,
    scorer: Scorer,
    revision: str,
    first: Callable[[Session, int], None],
    done: int,
) -> int:
    """Return one transaction; tried again where a worker recorded one of the same scores between our look and our
    write."""
    for attempt in range(1, _TRIES + 1):
        try:
            with database.write() as session:
                first(session, done)
                return _record_once(session, texts, scorer=scorer, revision=revision)
        except IntegrityError:
            if attempt == _TRIES:
                raise
    raise AssertionError("not reached")


def _record_once(session: Session, texts: Mapping[str, _Counted], *, scorer: Scorer, revision: str) -> int:
    benchmark, version = scorer.benchmark, scorer.version
    # Jobs first: a worker that is about to finish one of them is either done by now, and its score is seen below,
    # or has lost its lease.
    job_queue.mark_done_in_bulk(
        session, benchmark, submission_ids=list(texts), label_revision=revision, scorer_version=version
    )
    same_rules = (Score.label_revision == revision, Score.scorer_version == version)
    there = session.scalars(select(Score.submission_id).where(*same_rules, Score.submission_id.in_(texts)))
    new = sorted(set(texts) - set(there))
    if not new:
        return 0
    now = read_clock(session)
    same = {"benchmark": benchmark, "label_revision": revision, "scorer_version": version, "created_at": now}
    salts = {name: new_salt() for name in new}
    rows = [{"submission_id": name, "tally": texts[name].tally, "salt": salts[name], **same} for name in new]
    session.execute(insert(Score), rows)
    # One commitment for each score, without entry ids: receipts show the event, and some entries are unpublished.
    commitments = sorted(
        row_commitments.of_score(
            ScoreFacts(benchmark, name, texts[name].content_sha256, revision, version),
            tally=texts[name].tally,
            salt=salts[name],
        )
        for name in new
    )
    event = {"label_revision": revision, "scorer_version": version, "recorded_at": now, "scores": len(new)}
    labels = {"label_commitment": label_sets.commitment(session, benchmark, revision=revision)}
    data = {**event, **labels, "commitments": commitments, "benchmark": benchmark}
    audit.append(session, RECORDED, data=data)
    return len(new)
