"""Canonical JSON for hashing and signing, and the link hash of the audit chain. Pure: no database is loaded.

h_i = SHA-256(h_{i-1} || b_i) with b_i = SHA-256(canonical_json(event_i)), both as 32 raw bytes; h_0 is 32 zero bytes.
Hashes are shown as 64 lower-case hexadecimal digits. b_i is public, so anybody can recompute every link.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

GENESIS = "0" * 64


def canonical_json(facts: Mapping[str, Any]) -> str:
    """Return one text for one set of facts: sorted keys, no spaces, ASCII. Raises ValueError for NaN and infinity."""
    return json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def body_sha256(body: str) -> str:
    """Return the public digest of an event (canonical JSON). Raises UnicodeEncodeError where the text is not ASCII."""
    return hashlib.sha256(body.encode("ascii")).hexdigest()


def link_of(previous: str, body_digest: str) -> str:
    """Return the hash of an event with this body digest, after the one with hash `previous`. Raises ValueError for
    no hex."""
    return hashlib.sha256(bytes.fromhex(previous) + bytes.fromhex(body_digest)).hexdigest()


def link(previous: str, body: str) -> str:
    """Return the hash of an event (canonical JSON) that follows the one with hash `previous`."""
    return link_of(previous, body_sha256(body))
