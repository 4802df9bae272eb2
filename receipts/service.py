"""Receipts of a submission: an audit event with its link, signed.

Receipts are derived from rows that never change (event, score, label set) whenever somebody asks, so a re-score of
thousands signs nothing. Before one is signed, these rows are compared with what the audit chain holds of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from auth import Identity, Role
from receipts import queries
from receipts.jws import Signer
from receipts.queries import Labels, ReceiptRow, Scored
from storage import visibility
from storage.database import Database, Session
from storage.integrity import audit, integrity_alarms, row_commitments
from storage.integrity.integrity_check import Mismatch
from storage.integrity.row_commitments import FACTS, TALLY
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.commitments import part
from vlrb.disclosure import PUBLIC, shown_scores
from vlrb.scoring import Tally


class _RecordedScore(NamedTuple):
    score: Scored
    labels: Labels
    event: audit.Recorded


def sign_acceptance(session: Session, signer: Signer, *, submission: str) -> str | None:
    """Return the receipt of acceptance; None where no event says that there was one."""
    event = queries.acceptance(session, submission)
    return None if event is None else signer.sign(event._asdict())


@dataclass(frozen=True, slots=True)
class ReceiptService:
    """Receipts, derived."""

    database: Database
    spec: BenchmarkSpec
    signer: Signer

    def of_acceptance(self, submission: str, user: Identity) -> str | None:
        """Return the receipt of acceptance; None where there is none that this person may see.

        It names the owner, so others get it only for entries on the board under their owner's name.
        """
        with self.database.read() as session:
            result = queries.receipts_of_submission(session, self.spec.id, submission=submission)
            if result is None:
                return None
            named = result.anonymous_until is None and result.approval in (None, visibility.APPROVED)
            if not ((result.published and named) or _may_see(result, user)):
                return None
            return sign_acceptance(session, self.signer, submission=submission)

    def of_scores(self, submission: str, user: Identity) -> list[str] | None:
        """Return the receipts of all scores, the oldest first; None where there is no such entry that this person may
        see.

        Raises RecordChanged where a score is not the one that its event committed to.
        """
        recorded = self._recorded(submission, user)
        if recorded is None:
            return None
        return [self.signer.sign(_statement(one)) for one in recorded]

    def shown_scores(self, submission: str, user: Identity) -> Iterator[tuple[str, Mapping[str, float | None]]]:
        """Yield label revision, and scores by name as they may be shown, of all scores of an entry that this person may
        see, the oldest first. Raises RecordChanged."""
        for score, labels, _ in self._recorded(submission, user) or ():
            tally = Tally.from_json(json.loads(score.tally), self.spec)
            yield score.label_revision, shown_scores(tally, labels.level)

    def _recorded(self, submission: str, user: Identity) -> list[_RecordedScore] | None:
        with self.database.read() as session:
            result = queries.receipts_of_submission(session, self.spec.id, submission=submission)
            if result is None:
                return None
            if not (result.published or _may_see(result, user)):
                return None
            labels, scores = queries.labels(session, self.spec.id), queries.scores(session, [submission])
            events = [queries.event_of(session, score) for score in scores]
        if None in events:
            wrong = Mismatch("scores", f"of entry {submission}", event=None, why="no event that holds committed to it")
            integrity_alarms.refuse(self.database, wrong, subject=submission)
        rows = zip(scores, events, strict=True)
        return [_RecordedScore(score, labels[score.label_revision], event) for score, event in rows if event]


def _statement(recorded: _RecordedScore) -> dict[str, Any]:
    """Return what a receipt of a score says: its event, and what of its commitment is opened.

    Under labels that are not public that is what was scored, and not the tally: who has its salt could try tallies
    out. The same with the labels.
    """
    event, score, labels = recorded.event, recorded.score, recorded.labels
    facts = {"facts": score.facts.text, "facts_salt": row_commitments.part_salt(score.salt, FACTS)}
    salt = row_commitments.part_salt(score.salt, TALLY)
    if labels.level != PUBLIC:
        return {**event._asdict(), "score": {**facts, "tally_commitment": part(score.tally, salt)}}
    opened = {"labels": {"digest": labels.digest, "salt": labels.salt}} if labels.salt else {}
    return {**event._asdict(), "score": {**facts, "tally": score.tally, "tally_salt": salt}, **opened}


def _may_see(receipt: ReceiptRow, user: Identity) -> bool:
    """Return whether somebody owns an entry, or maintains. Without sign-in everybody has one account, and nobody
    owns."""
    return Role.MAINTAINER in user.roles or (user.auth_method in ("session", "token") and user.account == receipt.owner)
