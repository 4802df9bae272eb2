"""What audit events say about rows: salted commitments, of which nothing can be guessed without the row's salt.

A commitment is HMAC-SHA256(salt, digest), the digest SHA-256 of canonical JSON. Salts are random, in the rows, and
never published, but for that of a score under public labels, which its receipt reveals.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from typing import Any

from benchmark.commitments import commit
from common.canonical_json import canonical_json

DESCRIPTION = (
    "model",
    "version",
    "organisation",
    "judge_type",
    "base_model",
    "parameters_b",
    "open_weights",
    "link",
    "paper",
    "code",
    "hub_id",
    "temperature",
    "prompt",
    "notes",
    "judge",
)
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
    """Of UTF-8, as 64 hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def of_record(row: Mapping[str, Any]) -> str:
    """Commitment to what a submission said: RECORD, votes. `row`: as the database returns it, with `salt`."""
    votes = hashlib.sha256(bytes(row["votes"])).hexdigest()
    return _commit({**{name: row[name] for name in RECORD}, "votes_sha256": votes}, row["salt"])


def of_description(row: Mapping[str, Any]) -> str:
    """Commitment to what is said about a submission: DESCRIPTION."""
    return _commit({name: row[name] for name in DESCRIPTION}, row["salt"])


def of_score(submission: str, revision: str, version: str, tally_sha256: str, salt: str) -> str:
    """Commitment to a score: whose, under which labels and rules, and the SHA-256 of its stored tally."""
    facts = {
        "submission": submission,
        "label_revision": revision,
        "scorer_version": version,
        "tally_sha256": tally_sha256,
    }
    return _commit(facts, salt)


def _commit(facts: Mapping[str, Any], salt: str) -> str:
    return commit(sha256(canonical_json(facts)), bytes.fromhex(salt))
