"""Salted commitments to rows in audit events; without a row's salt nothing can be guessed from them.

A commitment is HMAC-SHA256(salt, digest), the digest SHA-256 of canonical JSON. Salts are random, in the rows, and
never published; a receipt reveals what follows from that of its score.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, NamedTuple

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from storage.metadata import NAMES
from storage.models.core import Submission
from vlrb.commitments import commit, joint, part, sha256
from vlrb.common.canonical_json import canonical_json

DESCRIPTION = NAMES
"""Columns of a submission that its owner may edit."""

RECORD = (
    "id",
    "benchmark",
    "content_sha256",
    "file_name",
    "format",
    "revision",
    "votes_per_item",
    "parse_rate",
    "first_shown_rate",
    "self_consistency",
    "created_at",
)
"""Columns of a submission that never change, beside its votes."""

_COLUMNS = tuple(dict.fromkeys((*RECORD, *DESCRIPTION, "owner", "votes", "orders", "margins", "salt")))
FACTS, TALLY = "facts", "tally"
"""Parts of a score that are committed to."""


def of_record(row: Mapping[str, Any]) -> str:
    """Return the commitment to a submission's content: RECORD, votes, and order and margin of each where known.
    `row`: as read from the database, with `salt`."""
    packed = {name: bytes(row[name]) for name in ("votes", "orders", "margins") if row[name] is not None}
    digests = {f"{name}_sha256": hashlib.sha256(content).hexdigest() for name, content in packed.items()}
    return _commit({**{name: row[name] for name in RECORD}, **digests}, row["salt"])


def of_description(row: Mapping[str, Any]) -> str:
    """Return the commitment to a submission's metadata: DESCRIPTION, as far as it is stated."""
    stated = {name: row[name] for name in DESCRIPTION if row[name] is not None}
    return _commit(stated, row["salt"])


class ScoreFacts(NamedTuple):
    """What was scored, and by which rules. A receipt opens this part of the commitment to a score in any case."""

    benchmark: str
    submission: str
    content_sha256: str
    label_revision: str
    scorer_version: str

    @property
    def text(self) -> str:
        """Return what is committed to."""
        return canonical_json(self._asdict())


def of_score(facts: ScoreFacts, *, tally: str, salt: str) -> str:
    """Return the commitment to a score: SHA-256 of two commitments, to the facts and to the stored tally.

    Each has a salt of its own, so that a receipt can open the first alone.
    """
    return joint(part(facts.text, part_salt(salt, FACTS)), part(tally, part_salt(salt, TALLY)))


def part_salt(salt: str, name: str) -> str:
    """Return the salt of a part; it tells nothing of the salt that it comes from."""
    return commit(name, bytes.fromhex(salt))


def _commit(facts: Mapping[str, Any], salt: str) -> str:
    return commit(sha256(canonical_json(facts)), bytes.fromhex(salt))


def submissions() -> Select[Any]:
    """Return every column of a submission that an event holds."""
    return select(*(getattr(Submission, name) for name in _COLUMNS))


def commitments(session: Session, submission: str) -> dict[str, str]:
    """Return what the event of acceptance says of a row that is there."""
    row = _row_of(session, submission)
    return {
        "record_commitment": of_record(row),
        "description_commitment": of_description(row),
    }


def description_commitment(session: Session, submission: str) -> str:
    """Return what the event of an edit says of the row as it became."""
    return of_description(_row_of(session, submission))


def _row_of(session: Session, submission: str) -> Any:
    return session.execute(submissions().where(Submission.id == submission)).one()._mapping
