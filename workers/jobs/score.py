"""Scoring of one submission under one label revision: claim, read the votes, count, record. Counting is outside
transactions."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from enum import Enum, auto

import orjson
from sqlalchemy import insert
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from storage.clock import read_clock
from storage.database import Database
from storage.integrity import audit, row_commitments, stored_votes
from storage.integrity.integrity_alarms import RecordChanged
from storage.integrity.row_commitments import ScoreFacts
from storage.jobs import job_queue, leases
from storage.jobs.leases import LeaseLost
from storage.labels import label_sets
from storage.models.core import Score
from storage.models.queue import Job
from vlrb.behaviour import Behaviour, behaviour_of
from vlrb.commitments import new_salt
from vlrb.common.messages import _
from vlrb.scoring import Tally, tally
from vlrb.votes import Votes, unpack_margins
from workers.scorer import Scorer

SCORED = audit.SCORED
_FAULT = _("Scoring failed. This is a fault of the service, not of the file; maintainers see it.")

log = logging.getLogger(__name__)


class ScoringOutcome(Enum):
    """Outcome of one turn."""

    NOTHING_TO_DO = auto()
    SCORED = auto()
    LEASE_LOST = auto()
    FAILED = auto()


def score_next(
    database: Database,
    scorers: Sequence[Scorer],
    *,
    worker: str,
    lease_seconds: float,
    hold: Callable[[Job | None], None] = lambda claim: None,
) -> ScoringOutcome:
    """Score the first waiting job of any of the scorers' benchmarks.

    `hold` receives the claim, then None: a heartbeat keeps the lease meanwhile. All scorers have one version.

    Raises SQLAlchemyError where the database is away; the job is then scored again when its lease is over.
    """
    with database.write() as session:
        served, version = served_revisions(session, scorers), scorers[0].version
        claim = job_queue.claim(session, worker, lease_seconds=lease_seconds, revisions=served, scorer_version=version)
    if claim is None:
        return ScoringOutcome.NOTHING_TO_DO
    hold(claim)
    try:
        scorer = next(scorer for scorer in scorers if scorer.benchmark == claim.benchmark)
        return _score(database, scorer, claim=claim)
    finally:
        hold(None)


def served_revisions(session: Session, scorers: Sequence[Scorer]) -> dict[str, Sequence[str]]:
    """Return benchmark -> label revisions to score under.

    A benchmark is left out where its board shows labels that are not here: a worker with other settings than the
    service must not fill it with scores that nobody asked for.
    """
    shown = {scorer.benchmark: label_sets.current(session, scorer.benchmark) for scorer in scorers}
    return {
        scorer.benchmark: scorer.revisions
        for scorer in scorers
        if (board := shown[scorer.benchmark]) is not None and board.label_revision in scorer.labels
    }


def _score(database: Database, scorer: Scorer, *, claim: Job) -> ScoringOutcome:
    try:
        (stored,), items = stored_votes.read(database, [claim.submission_id]), len(scorer.table)
        votes = Votes.unpack(stored.votes, items, k=stored.votes_per_item)
        orders = None if stored.orders is None else Votes.unpack(stored.orders, items, k=stored.votes_per_item)
        labels = scorer.labels[claim.label_revision]
        counted = tally(votes, labels, table=scorer.table)
        margins = unpack_margins(stored.margins)
        behaviour = behaviour_of(votes, orders, preferred=labels.preferred, margins=margins, table=scorer.table)
        with database.write() as session:
            record(session, claim, text=tally_text(counted, behaviour), content_sha256=stored.content_sha256)
    except LeaseLost:
        log.warning("job.lease_lost", extra={"data": {"job": claim.id, "epoch": claim.epoch}})
        return ScoringOutcome.LEASE_LOST
    except SQLAlchemyError:
        raise
    except RecordChanged as changed:
        return _give_back(database, claim, reason=str(changed), retry=False)
    except Exception:  # the edge of one unit of work: the next submission must not suffer from this one
        log.exception("job.failed", extra={"data": {"job": claim.id, "submission": claim.submission_id}})
        return _give_back(database, claim, reason=_FAULT, retry=True)
    log.info("job.scored", extra={"data": {"job": claim.id, "submission": claim.submission_id}})
    return ScoringOutcome.SCORED


def record(session: Session, claim: Job, *, text: str, content_sha256: str) -> None:
    """Record score, state and audit event in one transaction; raises LeaseLost, and then nothing is recorded.

    `text`: of ``tally_text``. `content_sha256`: of the file.
    """
    salt = new_salt()
    leases.finish(session, claim)
    now = read_clock(session)
    rules = {"label_revision": claim.label_revision, "scorer_version": claim.scorer_version}
    whose = {"benchmark": claim.benchmark, "submission_id": claim.submission_id}
    session.execute(insert(Score).values(**whose, **rules, tally=text, created_at=now, salt=salt))
    scored = ScoreFacts(
        claim.benchmark, claim.submission_id, content_sha256, claim.label_revision, claim.scorer_version
    )
    commitment = row_commitments.of_score(scored, tally=text, salt=salt)
    labels = {"label_commitment": label_sets.commitment(session, claim.benchmark, revision=claim.label_revision)}
    data = {"submission": claim.submission_id, **rules, **labels, "recorded_at": now, "commitments": [commitment]}
    audit.append(session, SCORED, data=data)


def tally_text(counted: Tally, behaviour: Behaviour) -> str:
    """Return a tally as it is stored, with the behaviour on the same pairs."""
    return orjson.dumps({**counted.to_json(), "behaviour": behaviour}).decode()


def _give_back(database: Database, claim: Job, *, reason: str, retry: bool) -> ScoringOutcome:
    try:
        with database.write() as session:
            leases.fail(session, claim, outcome=reason, retry=retry)
    except LeaseLost:
        return ScoringOutcome.LEASE_LOST
    return ScoringOutcome.FAILED
