"""Daily check of stored uploads against the hashes that their submissions hold, and the alarm of all stored files.

Reading every file every day would cost more than it shows: beyond a limit a pass takes one part, another each day.
"""

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
FILES_CHECKED = "files.checked"  # what only workers may read (workers/jobs/check_files.py)
MOST_BYTES = 20 * 2**30  # of one pass
_DAY = 86_400.0
_EVERY = _DAY  # between two passes, in seconds
NAMED = 20  # problems that an event names


class StoredUpload(NamedTuple):
    """What a submission holds of its file."""

    submission: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class UploadsAlarm:
    """Files that the last passes found missing or damaged."""

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
        if not is_due(session, CHECKED, now=now):
            return None
    looked_at = part_of_day(stored_uploads(database), int(now // _DAY), most_bytes=MOST_BYTES)
    problems = find_problems(looked_at, uploads)
    with database.write() as session:
        facts = {"files": len(looked_at), "problems": len(problems), "named": problems[:NAMED]}
        audit.append(session, CHECKED, data=facts)
    return problems


def stored_uploads(database: Database) -> list[StoredUpload]:
    """Return what submissions hold of their files."""
    with database.read() as session:
        result = session.execute(select(Submission.id, Submission.content_sha256, Submission.size_bytes)).all()
    return [StoredUpload(*row) for row in result]


def is_due(session: Session, kind: str, *, now: float) -> bool:
    """Return whether the last pass of a kind is a day old."""
    last = audit.newest(session, [kind], limit=1)
    return not last or last[0].at <= now - _EVERY


def part_of_day(uploads: list[StoredUpload], day: int, *, most_bytes: int) -> list[StoredUpload]:
    """Return those whose turn it is: all, or the part of the day where all would be more than `most_bytes`."""
    parts = -(-sum(upload.size for upload in uploads) // most_bytes) or 1
    return [upload for upload in uploads if int(upload.sha256[:8], 16) % parts == day % parts]


def find_problems(stored: Iterable[StoredUpload], uploads: Uploads) -> list[str]:
    """Return a sentence for each file that is missing or is not what its hash says."""
    return [sentence for upload in stored if (sentence := _problem(upload, uploads))]


def alarm(session: Session) -> UploadsAlarm | None:
    """Return what the last passes found, of uploads and of what only workers may read; None where all was there."""
    last = [event for kind in (CHECKED, FILES_CHECKED) for event in audit.newest(session, [kind], limit=1)]
    named = tuple(name for event in last for name in event.body["named"])
    if not named:
        return None
    return UploadsAlarm(max(event.at for event in last), sum(event.body["problems"] for event in last), named=named)


def _problem(upload: StoredUpload, uploads: Uploads) -> str | None:
    try:
        uploads.read(upload.sha256)
    except FileNotFoundError:
        return f"The upload of submission {upload.submission} is missing."
    except UploadDamaged:
        return f"The upload of submission {upload.submission} is damaged."
    return None
