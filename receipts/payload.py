"""Facts of an accepted file, as its event and so its receipt states them. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from storage.files.spool import UploadedFile
from vlrb.predictions.parse import Predictions


@dataclass(frozen=True, slots=True)
class Acceptance:
    """That a file was taken, from whom and when."""

    submission: str
    benchmark: str
    owner: str
    accepted_at: str
    attempt: int  # its number among the owner's under the board's label revision
    policy: dict[str, Any]  # under which it was taken


def acceptance_payload(taken: Acceptance, file: UploadedFile, *, upload: Predictions) -> dict[str, Any]:
    """Return what was taken."""
    return {
        "benchmark": taken.benchmark,
        "submission": taken.submission,
        "content_sha256": file.sha256,
        "votes_sha256": upload.votes.sha256,
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
    }
