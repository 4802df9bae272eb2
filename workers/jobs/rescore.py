"""Bulk re-scoring under another label revision, from the stored votes alone. Entry ids stay the same."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from sqlalchemy import Select, exists, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from storage.database import Database
from storage.integrity import audit
from storage.jobs import job_queue
from storage.models.core import Score, Submission
from storage.visibility import LET_THROUGH
from workers.jobs.score import CountedVotes, count_stored, insert_scores
from workers.scorer import Scorer
from workers.task_context import CHUNK

RECORDED = audit.SCORES_RECORDED
_TRIES = 5

log = logging.getLogger(__name__)


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
        texts, done = count_stored(database, scorer, names=names, revision=revision), done + len(names)
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


def _record(
    database: Database,
    texts: Mapping[str, CountedVotes],
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


def _record_once(session: Session, texts: Mapping[str, CountedVotes], *, scorer: Scorer, revision: str) -> int:
    benchmark, version = scorer.benchmark, scorer.version
    # Jobs first: a worker that is about to finish one of them is either done by now, and its score is seen below,
    # or has lost its lease.
    job_queue.mark_done_in_bulk(
        session, benchmark, submission_ids=list(texts), label_revision=revision, scorer_version=version
    )
    same_rules = (Score.label_revision == revision, Score.scorer_version == version)
    there = session.scalars(select(Score.submission_id).where(*same_rules, Score.submission_id.in_(texts)))
    new = {name: texts[name] for name in texts.keys() - set(there)}
    if new:
        facts = insert_scores(session, benchmark, revision=revision, version=version, scores=new)
        audit.append(session, RECORDED, data={**facts, "scores": len(new), "benchmark": benchmark})
    return len(new)
