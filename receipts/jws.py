"""Receipts as JSON Web Signatures (RFC 7515, Ed25519 of RFC 9864), and their keys as JWKS (RFC 7517)."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import KeySet, OKPKey

from vlrb.common.messages import _

ALGORITHM: Final = "Ed25519"
_SEED_BYTES = 32


class KeyUnusable(ValueError):
    """This is no key, or no list of keys; the message says what one looks like, never what was given."""


class NoReceipt(ValueError):
    """This is no receipt; the message says why."""


@dataclass(frozen=True, slots=True)
class Signer:
    """One private key, which no repr, log or page shows."""

    _key: OKPKey = field(repr=False)

    @classmethod
    def make(cls) -> Signer:
        """Return a signer with a new key."""
        return cls(OKPKey.generate_key(ALGORITHM))

    @classmethod
    def parse(cls, text: str) -> Signer:
        """Return a signer from the base64 of 32 random bytes. Raises KeyUnusable."""
        try:
            seed = base64.b64decode(text.strip(), validate=True)
        except (binascii.Error, ValueError):
            seed = b""
        if len(seed) != _SEED_BYTES:
            raise KeyUnusable(_("a key is the base64 of 32 random bytes: openssl rand -base64 32"))
        public = Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()
        return cls(OKPKey.import_key({"kty": "OKP", "crv": ALGORITHM, "d": _base64url(seed), "x": _base64url(public)}))

    @property
    def key_id(self) -> str:
        """Return the name of the public key: its thumbprint (RFC 7638)."""
        return str(self._key.thumbprint())

    @property
    def public_key(self) -> dict[str, Any]:
        """Return the public key as JWK."""
        public = self._key.as_dict(private=False)
        return {name: public[name] for name in ("kty", "crv", "x")} | {"kid": self.key_id, "alg": ALGORITHM}

    def text(self) -> str:
        """Return the private key as ``parse`` reads it, for its file."""
        seed = str(self._key.as_dict(private=True)["d"])
        return base64.b64encode(base64.urlsafe_b64decode(seed + "=")).decode()

    def sign(self, facts: Mapping[str, Any]) -> str:
        """Return a receipt: the same facts, the same bytes."""
        header = {"alg": ALGORITHM, "kid": self.key_id}
        return jws.serialize_compact(header, json.dumps(facts), self._key, algorithms=[ALGORITHM])


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
        raise NoReceipt(_("The file holds no receipt, or was cut off.")) from None
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


def _base64url(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()
