"""The key that signs receipts, from the settings, or generated once and stored beside the database;
`vlrb.client.jws` reads receipts.

The web process signs, and nobody else reads the key: the worker, which alone knows labels, has no use for it.
"""

from __future__ import annotations

import base64
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from joserfc import jws
from joserfc.jwk import OKPKey

from vlrb.client.jws import ALGORITHM, KeyUnusable
from vlrb.common.atomic_files import write_once
from vlrb.common.messages import _

FILE_NAME = "receipt.key"


@dataclass(frozen=True, slots=True)
class Signer:
    """One private key, which no repr, log or page shows."""

    _key: OKPKey = field(repr=False)

    @classmethod
    def parse(cls, text: str) -> Signer:
        """Return a signer from the base64 of 32 random bytes. Raises KeyUnusable."""
        try:
            key = Ed25519PrivateKey.from_private_bytes(base64.b64decode(text.strip(), validate=True))
        except ValueError:
            raise KeyUnusable(_("a key is the base64 of 32 random bytes: openssl rand -base64 32")) from None
        return cls(OKPKey.import_key(key))

    @property
    def key_id(self) -> str:
        """Return the name of the public key: its thumbprint (RFC 7638)."""
        return str(self._key.thumbprint())

    @property
    def public_key(self) -> dict[str, Any]:
        """Return the public key as JWK."""
        public = self._key.as_dict(private=False)
        return {name: public[name] for name in ("kty", "crv", "x")} | {"kid": self.key_id, "alg": ALGORITHM}

    def sign(self, facts: Mapping[str, Any]) -> str:
        """Return a receipt: the same facts, the same bytes."""
        header = {"alg": ALGORITHM, "kid": self.key_id}
        return jws.serialize_compact(header, json.dumps(facts), self._key, algorithms=[ALGORITHM])


def open_signer(setting: str, directory: Path) -> Signer:
    """Return the key of the setting, else the one in the directory, made there where there is none (mode 0600).

    Raises:
        KeyUnusable: with a sentence that says which key, and what one looks like.
        OSError: the directory cannot be used.
    """
    path = directory / FILE_NAME
    try:
        if setting:
            return Signer.parse(setting)
        if not path.exists():
            # Durable, because a receipt must not outlive the key that signed it.
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_once(path, base64.b64encode(secrets.token_bytes(32)))
        return Signer.parse(path.read_text(encoding="ascii"))
    except (KeyUnusable, UnicodeDecodeError) as error:
        reason = error if isinstance(error, KeyUnusable) else "it is no text"
        raise KeyUnusable(f"{'RECEIPT_KEY' if setting else path} cannot be used: {reason}.") from None
