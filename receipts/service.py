"""Receipts of a submission: issue, sign and return them.

A receipt of acceptance is signed and stored with the submission. Those of scores are derived from rows that never
change (score, audit event, label set) whenever somebody asks, so a re-score of thousands signs nothing. Before one is
signed, these rows are compared with what the audit chain holds of them.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from auth import Identity, Role
from receipts import payload, queries
from receipts.queries import ReceiptRow, Scored
from receipts.signing import SIGNATURE, Signer, public_key_json
from storage import visibility
from storage.clock import iso
from storage.database import Database, Session
from storage.integrity import audit, integrity_alarms, receipt_keys
from storage.integrity import integrity_check as integrity
from storage.integrity.integrity_check import Ledger
from vlrb.benchmarks.spec import BenchmarkSpec


@dataclass(frozen=True, slots=True)
class ReceiptService:
    """Receipts, stored and derived. `hidden_labels`: the configured label revisions that are not public, with
    their disclosure levels."""

    database: Database
    spec: BenchmarkSpec
    signer: Signer
    hidden_labels: Mapping[str, str] = field(default_factory=dict)

    def of_acceptance(self, submission: str, user: Identity) -> dict[str, Any] | None:
        """Return the receipt of acceptance; None where there is none that this person may see.

        It names the owner, so others get it only for entries on the board under their owner's name.
        """
        with self.database.read() as session:
            result = queries.receipts_of_submission(session, self.spec.id, submission=submission)
            if result is None:
                return None
            entry_visibility = visibility.of(session, submission)
            state, _ = visibility.approvals(session, [submission]).get(submission, (visibility.APPROVED, None))
        open_to_all = entry_visibility == visibility.PLAIN and state == visibility.APPROVED and not result.hidden
        if not (open_to_all or _may_see(result, user)):
            return None
        return result.receipt if SIGNATURE in result.receipt else None

    def of_scores(self, submission: str, user: Identity) -> list[dict[str, Any]] | None:
        """Return the receipts of all scores, the oldest first; None where there is no such entry that this person may
        see.

        Raises RecordChanged where rows about it, or about labels, are not what their events say.
        """
        with self.database.read() as session:
            result = queries.receipts_of_submission(session, self.spec.id, submission=submission)
            if result is None:
                return None
            entry_visibility = visibility.of(session, submission)
            if (result.hidden or not entry_visibility.published) and not _may_see(result, user):
                return None
            ledger, wrong = integrity.about(session, submission)
            labels = queries.labels(session, self.spec.id, hidden=self.hidden_labels)
            stored = queries.scores(session, [submission])
            stated = (
                []
                if wrong
                else [self._state(session, result, score=score, labels=labels, ledger=ledger) for score in stored]
            )
        if wrong:
            integrity_alarms.refuse(self.database, wrong[0], subject=submission)
        return [self.signer.sign(statement) for statement in stated]

    def _state(
        self,
        session: Session,
        receipt: ReceiptRow,
        *,
        score: Scored,
        labels: dict[str, payload.Labels],
        ledger: Ledger,
    ) -> dict[str, Any]:
        """Return what a receipt of a score says: the score, and its place in the audit chain.

        Under public labels it carries the body of its event, and the salt that opens the score's commitment in it.
        Body and salt would let the holder try out tallies of hidden labels, so under these it carries neither.
        """
        under = labels[score.label_revision]
        counted = payload.CountedScore(
            submission=receipt.id,
            spec=self.spec,
            content_sha256=receipt.content_sha256,
            scorer_version=score.scorer_version,
            tally_text=score.tally,
            scored_at=iso(score.created_at),
        )
        statement = payload.score_payload(counted, under)
        place = ledger.place(score)
        assert place is not None  # or else it would have been refused
        event = audit.event(session, place.seq)
        return {
            **statement,
            "chain_seq": event.seq,
            "chain_hash": event.hash,
            "body_sha256": audit.body_sha256(audit.canonical_json(event.body)),
            "body": event.body if under.public else None,
            "score_commitment": score.commitment,
            "score_salt": score.salt if under.public else None,
        }

    def keys(self) -> dict[str, Any]:
        """`GET /api/v1/keys`: every key that a receipt may be signed with, the newest first."""
        with self.database.read() as session:
            known = receipt_keys.list_keys(session)
        listed = [
            {
                **public_key_json(base64.b64decode(key.public_key)),
                "since": iso(key.since),
                "in_use": key.id == self.signer.key_id,
            }
            for key in known
        ]
        return {"keys": listed}


def _may_see(receipt: ReceiptRow, user: Identity) -> bool:
    """Return whether somebody owns an entry, or maintains. Without sign-in everybody has one account, and nobody
    owns."""
    return Role.MAINTAINER in user.roles or (user.auth_method in ("session", "token") and user.account == receipt.owner)
