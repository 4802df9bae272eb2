"""Salted hash commitments to label sets."""

from __future__ import annotations

import hmac
from hashlib import sha256


def commit(digest: str, salt: bytes) -> str:
    """HMAC-SHA256 of a label set's digest, keyed with a random salt: binding now, checkable once the salt is out.

    The digest alone would not do: that of a set with few changes can be found by trying.
    """
    return hmac.new(salt, digest.encode("ascii"), sha256).hexdigest()
