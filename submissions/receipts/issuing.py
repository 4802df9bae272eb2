"""Receipts as they are asked for.

A receipt of acceptance is signed and stored with the submission. Those of scores are derived from rows that never
change (score, audit event, label set) whenever somebody asks, so a re-score of thousands signs nothing.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import Any

from identity import Identity, Role
from storage import ladder, receipt_keys, visibility
from storage.clock import iso
from storage.database import Database
from submissions.receipts import facts, queries
from submissions.receipts.queries import Held
from submissions.receipts.signing import SIGNATURE, Signer, published


@dataclass(frozen=True, slots=True)
class Receipts:
    """What was signed, and what can be. `hidden_labels`: the configured label revisions that are not public."""

    database: Database
    benchmark: str
    signer: Signer
    hidden_labels: frozenset[str] = frozenset()

    def of_acceptance(self, submission: str, who: Identity) -> dict[str, Any] | None:
        """The receipt of acceptance; None where there is none that this person may see.

        It names the owner, so strangers get it of entries only that stand on the board under their owner's name.
        """
        with self.database.read() as session:
            found = queries.held(session, self.benchmark, submission)
            if found is None:
                return None
            shown = visibility.of(session, submission)
            state, _ = visibility.approvals(session, [submission]).get(submission, (visibility.APPROVED, None))
            place = None if SIGNATURE in found.receipt else queries.hash_at(session, found.receipt.get("chain_seq", 0))
        open_to_all = shown == visibility.PLAIN and state == visibility.APPROVED and not found.hidden
        if not (open_to_all or _is_theirs(found, who)):
            return None
        return found.receipt if SIGNATURE in found.receipt else self._sign_late(found.receipt, place)

    def of_scores(self, submission: str, who: Identity) -> list[dict[str, Any]] | None:
        """The receipts of all scores, the oldest first; None where there is no such entry that this person may see."""
        with self.database.read() as session:
            found = queries.held(session, self.benchmark, submission)
            if found is None:
                return None
            shown = visibility.of(session, submission)
            if (found.hidden or not shown.published) and not _is_theirs(found, who):
                return None
            labels = queries.labels(session, self.hidden_labels)
            stated = []
            not_shown = ladder.withheld(session, ladder.levels(session, self.hidden_labels), [submission])
            for score in queries.scores(session, [submission]):
                said = facts.score(
                    submission,
                    self.benchmark,
                    found.content_sha256,
                    labels[score.label_revision],
                    score.scorer_version,
                    json.loads(score.tally),
                    score.tally,
                    iso(score.created_at),
                )
                if (submission, score.label_revision, score.scorer_version) in not_shown:
                    said = facts.without_score(said)
                place = queries.place(session, score)
                chain = {"chain_seq": place and place.seq, "chain_hash": place and place.hash}
                stated.append(self.signer.sign({**said, **chain}))
        return stated

    def _sign_late(self, receipt: dict[str, Any], place: str | None) -> dict[str, Any]:
        """A receipt from before receipts were signed, with what every receipt names. `place`: hash of its event."""
        named = {"kind": facts.ACCEPTANCE, "benchmark": self.benchmark, "chain_hash": place}
        return self.signer.sign({**receipt, **named})

    def keys(self) -> dict[str, Any]:
        """`GET /api/v1/keys`: every key that a receipt may be signed with, the newest first."""
        with self.database.read() as session:
            known = receipt_keys.every(session)
        listed = [
            {
                **published(base64.b64decode(one.public_key)),
                "since": iso(one.since),
                "in_use": one.id == self.signer.key_id,
            }
            for one in known
        ]
        return {"keys": listed}


def _is_theirs(found: Held, who: Identity) -> bool:
    """Whether somebody owns an entry, or maintains. Without sign-in everybody has one account, and nobody owns."""
    return Role.MAINTAINER in who.roles or (who.via in ("session", "token") and who.account == found.owner)
