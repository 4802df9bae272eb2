"""Payloads of receipts before signing. Pure: the same inputs give the same payload everywhere."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from storage.files.spool import UploadedFile
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.disclosure import PUBLIC, shown_scores
from vlrb.predictions.parse import Predictions
from vlrb.protocols import category_counts
from vlrb.scoring import Tally
from vlrb.votes import ABSENT, Votes

ACCEPTANCE, SCORE = "acceptance", "score"
_COUNTS = ("n", "agree", "reject", "undecided")
_DIGITS = 6  # of fractions, so that no platform's last bit shows; labels that are not public have fewer


def votes_sha256(votes: Votes) -> str:
    """Return what a file says, whatever its format, order and texts: SHA-256 of K and the votes, item by item.

    One byte a vote (0, 1, 255 undecided), the items of the file's revision in the order of the benchmark's table.
    """
    present = votes.matrix[(votes.matrix != ABSENT).all(axis=1)]
    return hashlib.sha256(f"{votes.k}\n".encode() + present.tobytes()).hexdigest()


@dataclass(frozen=True, slots=True)
class Acceptance:
    """That a file was taken, from whom and when."""

    submission: str
    benchmark: str
    owner: str
    accepted_at: str
    attempt: int  # its number among the owner's under the board's label revision
    policy: dict[str, Any]  # under which it was taken
    durability: str  # where the bytes were when this was said


def acceptance_payload(taken: Acceptance, file: UploadedFile, *, upload: Predictions) -> dict[str, Any]:
    """Return what was taken; its place in the audit chain follows from these facts."""
    return {
        "kind": ACCEPTANCE,
        "benchmark": taken.benchmark,
        "submission": taken.submission,
        "content_sha256": file.sha256,
        "votes_sha256": votes_sha256(upload.votes),
        "bytes": file.size,
        "owner": taken.owner,
        "format": upload.format,
        "revision": upload.revision,
        "items": upload.items,
        "votes_per_item": upload.votes.k,
        "votes": upload.items * upload.votes.k,
        "accepted_at": taken.accepted_at,
        "attempt": taken.attempt,
        "policy": taken.policy,
        "durability": taken.durability,
    }


@dataclass(frozen=True, slots=True)
class Labels:
    """A label revision as a receipt names it. `salt`: of the commitment, where it is revealed."""

    revision: str
    items: int
    level: str  # benchmark.disclosure
    digest: str
    commitment: str | None
    salt: str | None

    @property
    def public(self) -> bool:
        """Whether everything may be said."""
        return self.level == PUBLIC


@dataclass(frozen=True, slots=True)
class CountedScore:
    """A score as it is stored. `tally_text`: vlrb.scoring.Tally.to_json() as text."""

    submission: str
    spec: BenchmarkSpec
    content_sha256: str
    scorer_version: str
    tally_text: str
    scored_at: str


def score_payload(score: CountedScore, labels: Labels) -> dict[str, Any]:
    """Return how a submission was scored. Of labels that are not public: the scores that their level shows, the
    commitment instead of the digest, and nothing else that depends on a label."""
    counted = Tally.from_json(json.loads(score.tally_text), score.spec)
    visible = shown_scores(counted, labels.level)
    rounded = {name: None if value is None else round(value, _DIGITS) for name, value in visible.items()}
    return {
        "kind": SCORE,
        "benchmark": score.spec.id,
        "submission": score.submission,
        "content_sha256": score.content_sha256,
        "votes_per_item": counted.k,
        "label_revision": labels.revision,
        "label_items": labels.items,
        "label_commitment": labels.commitment,
        "label_digest": labels.digest if labels.public else None,
        "label_salt": labels.salt if labels.public else None,
        "disclosure": labels.level,
        "scorer_version": score.scorer_version,
        "protocol": score.spec.ranking,
        "grouping": score.spec.official,
        "scores": rounded,
        "counts": _counts(counted) if labels.public else None,
        "tally_sha256": hashlib.sha256(score.tally_text.encode()).hexdigest() if labels.public else None,
        "scored_at": score.scored_at,
    }


def _counts(tally: Tally) -> dict[str, dict[str, int]]:
    rows = category_counts(tally.counts, tally.spec)[:, : len(_COUNTS)].tolist()
    return {
        name: dict(zip(_COUNTS, row, strict=True)) for name, row in zip(tally.spec.category_keys, rows, strict=True)
    }
