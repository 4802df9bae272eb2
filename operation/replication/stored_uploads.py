"""Daily check of stored uploads against the hashes that their submissions hold, and its alarm."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from storage.clock import database_now
from storage.database import Database
from storage.files.uploads import UploadDamaged, Uploads
from storage.integrity import audit
from storage.models.core import Submission

CHECKED = "uploads.checked"
_EVERY = 86_400.0  # between two passes, in seconds
NAMED = 20  # problems that an event names


class StoredUpload(NamedTuple):
    """What a submission holds of its file."""

    submission: str
    sha256: str


@dataclass(frozen=True, slots=True)
class UploadsAlarm:
    """Files that the last pass found missing or damaged."""

    at: float
    problems: int
    named: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """Return the alarm in words, with what to do."""
        return (
            f"Stored files are missing or damaged: {self.problems}, the first: {self.named[0]} Scores and votes "
            "are not affected. Bring an upload back from another copy, or ask its owner, who has the receipt."
        )


def check_daily(database: Database, uploads: Uploads) -> list[str] | None:
    """Check where nobody has in the last 24 hours; the sentences found, None where it was not due."""
    with database.read() as session:
        now = session.execute(select(database_now())).scalar_one()
        last = audit.newest(session, [CHECKED], limit=1)
        if last and last[0].at > now - _EVERY:
            return None
    looked_at = stored_uploads(database)
    problems = find_problems(looked_at, uploads)
    with database.write() as session:
        facts = {"files": len(looked_at), "problems": len(problems), "named": problems[:NAMED]}
        audit.append(session, CHECKED, data=facts)
    return problems


def stored_uploads(database: Database) -> list[StoredUpload]:
    """Return what submissions hold of their files."""
    with database.read() as session:
        result = session.execute(select(Submission.id, Submission.content_sha256)).all()
    return [StoredUpload(*row) for row in result]


def find_problems(stored: Iterable[StoredUpload], uploads: Uploads) -> list[str]:
    """Return a sentence for each file that is missing or is not what its hash says."""
    return [sentence for upload in stored if (sentence := _problem(upload, uploads))]


def alarm(session: Session) -> UploadsAlarm | None:
    """Return what the last pass found; None where all was there."""
    last = audit.newest(session, [CHECKED], limit=1)
    if not last or not last[0].body["named"]:
        return None
    return UploadsAlarm(last[0].at, last[0].body["problems"], named=tuple(last[0].body["named"]))


def _problem(upload: StoredUpload, uploads: Uploads) -> str | None:
    try:
        uploads.read(upload.sha256)
    except FileNotFoundError:
        return f"The upload of submission {upload.submission} is missing."
    except UploadDamaged:
        return f"The upload of submission {upload.submission} is damaged."
    return None
