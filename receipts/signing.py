"""Signing and verification: Ed25519 over canonical JSON. Pure; used by the service and the command line."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from vlrb.common.canonical_json import canonical_json
from vlrb.common.messages import _

SIGNATURE = "signature"
ALGORITHM = "Ed25519"
_SEED_BYTES = 32
_ID_DIGITS = 16


class KeyUnusable(ValueError):
    """This is no Ed25519 key; the message says what one looks like, never what was given."""


def key_id(public_key: bytes) -> str:
    """Return the name of a public key: the start of its SHA-256."""
    return hashlib.sha256(public_key).hexdigest()[:_ID_DIGITS]


@dataclass(frozen=True, slots=True)
class Signer:
    """Signs with one private key, which no repr, log or page shows."""

    _private: Ed25519PrivateKey = field(repr=False)

    @classmethod
    def make(cls) -> Signer:
        """Return a signer with a new key."""
        return cls(Ed25519PrivateKey.generate())

    @classmethod
    def parse(cls, text: str) -> Signer:
        """Return a signer from PEM (PKCS 8), or the base64 of 32 random bytes. Raises KeyUnusable."""
        if "-----BEGIN" in text:
            try:
                private = load_pem_private_key(text.strip().encode(), password=None)
            except (ValueError, TypeError, UnsupportedAlgorithm):
                raise KeyUnusable(_("this PEM holds no private key that can be read without a password")) from None
            if not isinstance(private, Ed25519PrivateKey):
                raise KeyUnusable(_("this is another kind of key than Ed25519: openssl genpkey -algorithm ed25519"))
            return cls(private)
        seed = _decoded(text, _SEED_BYTES, what=_("the base64 of 32 random bytes"))
        return cls(Ed25519PrivateKey.from_private_bytes(seed))

    @property
    def public_key(self) -> bytes:
        """32 bytes."""
        return self._private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)

    @property
    def key_id(self) -> str:
        """Return the name under which the public key is published."""
        return key_id(self.public_key)

    def pem(self) -> str:
        """Return the private key, for its file."""
        return self._private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()

    def sign(self, facts: Mapping[str, Any]) -> dict[str, Any]:
        """Return the facts with `key_id` and `signature` (base64), which covers all the rest. The same facts, the same
        bytes.

        Raises ValueError where the facts have such a name, or hold what JSON cannot.
        """
        if taken := {"key_id", SIGNATURE} & set(facts):
            raise ValueError(f"facts may not set {', '.join(sorted(taken))}")
        named = {**facts, "key_id": self.key_id}
        return {**named, SIGNATURE: base64.b64encode(self._private.sign(_signed_text(named))).decode()}


def verify_signature(receipt: Mapping[str, Any], public_key: bytes) -> bool:
    """Return whether the signature of a receipt is by this key, and over exactly what it says."""
    try:
        signature = base64.b64decode(receipt[SIGNATURE], validate=True)
        values = {name: value for name, value in receipt.items() if name != SIGNATURE}
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, _signed_text(values))
    except (InvalidSignature, KeyError, TypeError, ValueError):
        return False
    return True


def public_key_json(public_key: bytes) -> dict[str, str]:
    """Return a public key as it is published."""
    pem = Ed25519PublicKey.from_public_bytes(public_key).public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    encoded = base64.b64encode(public_key).decode()
    return {"id": key_id(public_key), "algorithm": ALGORITHM, "public_key": encoded, "pem": pem.decode()}


def read_keys(given: object) -> dict[str, bytes]:
    """Key id -> public key, from PEM text or from JSON with a list `keys` as it is published. Raises KeyUnusable."""
    if isinstance(given, str):
        try:
            public = load_pem_public_key(given.strip().encode())
        except (ValueError, UnsupportedAlgorithm):
            raise KeyUnusable(_("this PEM holds no public key")) from None
        if not isinstance(public, Ed25519PublicKey):
            raise KeyUnusable(_("this is another kind of key than Ed25519"))
        return _by_id([public.public_bytes(Encoding.Raw, PublicFormat.Raw)])
    listed = given.get("keys") if isinstance(given, Mapping) else None
    if not isinstance(listed, list) or not all(isinstance(key, Mapping) for key in listed):
        raise KeyUnusable(_("this is neither PEM nor JSON with a list of keys"))
    return _by_id(_decoded(key.get("public_key"), _SEED_BYTES, what=_("32 bytes in base64")) for key in listed)


def _by_id(keys: Iterable[bytes]) -> dict[str, bytes]:
    return {key_id(key): key for key in keys}


def _signed_text(facts: Mapping[str, Any]) -> bytes:
    return canonical_json(facts).encode("ascii")


def _decoded(text: object, size: int, *, what: str) -> bytes:
    try:
        result = base64.b64decode(text.strip(), validate=True) if isinstance(text, str) else b""
    except (binascii.Error, ValueError):
        result = b""
    if len(result) != size:
        raise KeyUnusable(_("a key is {what}", what=what))
    return result
