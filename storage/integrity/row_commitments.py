"""Salted commitments to rows in audit events; without a row's salt nothing can be guessed from them.

A commitment is HMAC-SHA256(salt, digest), the digest SHA-256 of canonical JSON. Salts are random, in the rows, and
never published, but for that of a score under public labels, which its receipt reveals.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from typing import Any

from storage.metadata import FIRST, NAMES
from vlrb.commitments import commit
from vlrb.common.canonical_json import canonical_json

DESCRIPTION = NAMES
"""Columns of a submission that its owner may edit."""

RECORD = (
    "id",
    "benchmark",
    "content_sha256",
    "size_bytes",
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

_SALT_BYTES = 32


def new_salt() -> str:
    """64 hexadecimal digits."""
    return secrets.token_hex(_SALT_BYTES)


def sha256(text: str) -> str:
    """Return the SHA-256 of a text in UTF-8, as 64 hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def of_record(row: Mapping[str, Any]) -> str:
    """Return the commitment to a submission's content: RECORD, votes, and the order of each vote where it is known.
    `row`: as read from the database, with `salt`."""
    packed = {name: bytes(row[name]) for name in ("votes", "orders") if row[name] is not None}
    digests = {f"{name}_sha256": hashlib.sha256(content).hexdigest() for name, content in packed.items()}
    return _commit({**{name: row[name] for name in RECORD}, **digests}, row["salt"])


def of_description(row: Mapping[str, Any]) -> str:
    """Return the commitment to a submission's metadata: DESCRIPTION.

    A field that came later is in it only where it is stated, so that commitments made before it still hold.
    """
    stated = {name: row[name] for name in DESCRIPTION if name in FIRST or row[name] is not None}
    return _commit(stated, row["salt"])


def of_score(submission: str, revision: str, *, version: str, tally_sha256: str, salt: str) -> str:
    """Return the commitment to a score: submission, labels, scorer version and SHA-256 of the stored tally."""
    facts = {
        "submission": submission,
        "label_revision": revision,
        "scorer_version": version,
        "tally_sha256": tally_sha256,
    }
    return _commit(facts, salt)


def _commit(facts: Mapping[str, Any], salt: str) -> str:
    return commit(sha256(canonical_json(facts)), bytes.fromhex(salt))
