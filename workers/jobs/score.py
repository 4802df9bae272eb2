"""Scoring of one submission under one label revision: claim, read the votes, count, record. Counting is outside
transactions."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from enum import Enum, auto
from typing import Any, NamedTuple

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
from vlrb.behaviour import behaviours_of
from vlrb.commitments import new_salt
from vlrb.common.messages import _
from vlrb.scoring import tally_many
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


class CountedVotes(NamedTuple):
    """The counts of a submission as they are stored, and the digest of its file."""

    tally: str  # JSON, with the behaviour on the same pairs
    content_sha256: str


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
        scores = count_stored(database, scorer, names=[claim.submission_id], revision=claim.label_revision)
        counted = scores[claim.submission_id]  # it is left out, and the job fails, where the votes do not fit the items
        with database.write() as session:
            record(session, claim, counted=counted)
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


def record(session: Session, claim: Job, *, counted: CountedVotes) -> None:
    """Record score, state and audit event in one transaction; raises LeaseLost, and then nothing is recorded."""
    leases.finish(session, claim)
    scores = {claim.submission_id: counted}
    facts = insert_scores(
        session, claim.benchmark, revision=claim.label_revision, version=claim.scorer_version, scores=scores
    )
    audit.append(session, SCORED, data={"submission": claim.submission_id, **facts})


def insert_scores(
    session: Session, benchmark: str, *, revision: str, version: str, scores: Mapping[str, CountedVotes]
) -> dict[str, Any]:
    """Insert the scores of submissions, and return what their event says.

    It has one commitment for each score, without entry ids: receipts show the event, and some entries are unpublished.
    """
    rules, now = {"label_revision": revision, "scorer_version": version}, read_clock(session)
    salts = {name: new_salt() for name in scores}
    same = {"benchmark": benchmark, "created_at": now, **rules}
    rows = [
        {"submission_id": name, "tally": counted.tally, "salt": salts[name], **same} for name, counted in scores.items()
    ]
    session.execute(insert(Score), rows)
    commitments = sorted(
        row_commitments.of_score(
            ScoreFacts(benchmark, name, counted.content_sha256, revision, version),
            tally=counted.tally,
            salt=salts[name],
        )
        for name, counted in scores.items()
    )
    labels = label_sets.commitment(session, benchmark, revision=revision)
    return {**rules, "label_commitment": labels, "recorded_at": now, "commitments": commitments}


def count_stored(database: Database, scorer: Scorer, *, names: Sequence[str], revision: str) -> dict[str, CountedVotes]:
    """Count the stored votes of submissions, outside any transaction. Those of the wrong length are left out: one such
    entry fails alone, and not a whole run. Raises RecordChanged."""
    labels, items = scorer.labels[revision], len(scorer.table)
    result: dict[str, CountedVotes] = {}
    for same, matrix in stored_votes.matrices(database, names, items=items):
        orders = [row.orders and Votes.unpack(row.orders, items, k=row.votes_per_item) for row in same]
        margins = [unpack_margins(row.margins) for row in same]
        behaviours = behaviours_of(matrix, orders, preferred=labels.preferred, margins=margins, table=scorer.table)
        counted = tally_many(matrix, labels, table=scorer.table)
        for row, tally, behaviour in zip(same, counted, behaviours, strict=True):
            text = orjson.dumps({**tally.to_json(), "behaviour": behaviour}).decode()
            result[row.id] = CountedVotes(text, row.content_sha256)
    return result


def _give_back(database: Database, claim: Job, *, reason: str, retry: bool) -> ScoringOutcome:
    try:
        with database.write() as session:
            leases.fail(session, claim, outcome=reason, retry=retry)
    except LeaseLost:
        return ScoringOutcome.LEASE_LOST
    return ScoringOutcome.FAILED
