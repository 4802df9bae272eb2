"""Salted hash commitments to label sets and to scores."""

from __future__ import annotations

import hashlib
import hmac
import secrets


def commit(digest: str, salt: bytes) -> str:
    """HMAC-SHA256 of a label set's digest, keyed with a random salt: binding now, checkable once the salt is out.

    The digest alone would not do: that of a set with few changes can be found by trying.
    """
    return hmac.digest(salt, digest.encode("ascii"), "sha256").hex()


def sha256(text: str) -> str:
    """Return the SHA-256 of a text in UTF-8, as 64 hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def part(text: str, salt: str) -> str:
    """Return the commitment to one part of a score."""
    return commit(sha256(text), bytes.fromhex(salt))


def joint(facts: str, tally: str) -> str:
    """Return the commitment to a score from those to its parts."""
    return sha256(facts + tally)


def new_salt() -> str:
    """Return 64 random hexadecimal digits."""
    return secrets.token_hex(32)
