"""Receipts as JSON Web Signatures (RFC 7515, Ed25519 of RFC 9864), read and checked with published keys (RFC 7517)."""

from __future__ import annotations

import json
from typing import Any, Final

from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from vlrb.common.messages import _

ALGORITHM: Final = "Ed25519"


class KeyUnusable(ValueError):
    """This is no key, or no list of keys; the message says what one looks like, never what was given."""


class NoReceipt(ValueError):
    """This is no receipt; the message says why."""


def read_keys(published: object) -> KeySet:
    """Return the keys of a JWKS. Raises KeyUnusable."""
    try:
        return KeySet.import_key_set(published)  # type: ignore[arg-type]
    except (JoseError, TypeError, ValueError, KeyError, AttributeError):
        raise KeyUnusable(_("this is no JWKS with Ed25519 keys")) from None


def read(receipt: str) -> dict[str, Any]:
    """Return what a receipt says, whoever signed it. Raises NoReceipt."""
    try:
        facts = json.loads(jws.extract_compact(receipt.encode()).payload)
    except (JoseError, ValueError, RecursionError):
        facts = None
    if not isinstance(facts, dict):
        raise NoReceipt(_("The file holds no receipt, or was cut off."))
    return facts


def key_id_of(receipt: str) -> str:
    """Return the name of the key that a receipt says it was signed with. Raises NoReceipt."""
    read(receipt)
    return str(jws.extract_compact(receipt.encode()).headers().get("kid"))


def is_signed(receipt: str, keys: KeySet) -> bool:
    """Return whether one of the keys signed exactly this."""
    try:
        jws.deserialize_compact(receipt, keys, algorithms=[ALGORITHM])
    except (JoseError, ValueError):
        return False
    return True


def event_of(receipt: str) -> dict[str, Any]:
    """Return the body of the audit event that a receipt is about. Raises NoReceipt."""
    facts = read(receipt)
    try:
        body: dict[str, Any] = json.loads(facts["event"])
    except (KeyError, TypeError, ValueError, RecursionError):
        raise NoReceipt(_("The receipt names no event.")) from None
    return body
