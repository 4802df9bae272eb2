"""Keyed digests, signatures and encryption, each under its own key derived from SESSION_SECRET."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import time
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

_NONCE = 12  # bytes


def random_id() -> str:
    """256 random bits, 43 characters that are safe in cookies and URLs."""
    return secrets.token_urlsafe(32)


def digest(secret: str) -> str:
    """SHA-256 as 64 hexadecimal characters. For secrets of 256 random bits no slow hash is needed."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def constant_time_equal(first: str, second: str) -> bool:
    """Equality that takes as long for a near miss as for a far one."""
    return hmac.compare_digest(first.encode("utf-8", "surrogatepass"), second.encode("utf-8", "surrogatepass"))


class KeyRing:
    """Signs and encrypts with the first secret, and accepts what any of them made (so that they can be replaced)."""

    def __init__(self, session_secrets: tuple[str, ...]) -> None:
        self._secrets = tuple(secret.encode() for secret in session_secrets)

    def sign(self, purpose: str, value: dict[str, Any], *, seconds: float) -> str:
        """Return the value as text that nobody else can make, good for so many seconds and for this purpose only."""
        body = _encode(json.dumps({**value, "exp": time.time() + seconds}, separators=(",", ":")).encode())
        return f"{body}.{_encode(self._mac(self._secrets[0], purpose, text=body))}"

    def unsign(self, purpose: str, text: str) -> dict[str, Any] | None:
        """Return the value; None if the text was not made here, not for this purpose, or too long ago."""
        body, _, signature = text.partition(".")
        if not any(
            constant_time_equal(signature, _encode(self._mac(secret, purpose, text=body))) for secret in self._secrets
        ):
            return None
        value: dict[str, Any] = json.loads(_decode(body))
        return value if value.pop("exp") > time.time() else None

    def keyed(self, purpose: str, text: str) -> str:
        """Return a digest that cannot be looked up without the secret: 64 hexadecimal characters."""
        return self._mac(self._secrets[0], purpose, text=text).hex()

    def verify_keyed(self, purpose: str, text: str, *, claimed: str) -> bool:
        """Return whether `keyed` gives this, under any of the secrets."""
        return any(
            constant_time_equal(claimed, self._mac(secret, purpose, text=text).hex()) for secret in self._secrets
        )

    def encrypt(self, purpose: str, text: str, *, owner: str) -> bytes:
        """AES-256-GCM; it can only be read back under the same purpose and owner."""
        nonce = secrets.token_bytes(_NONCE)
        key = AESGCM(self._key(self._secrets[0], purpose))
        return nonce + key.encrypt(nonce, text.encode(), owner.encode())

    def decrypt(self, purpose: str, sealed: bytes, *, owner: str) -> str | None:
        """Return the text; None if it was made with other secrets or for somebody else."""
        for secret in self._secrets:
            try:
                opened = AESGCM(self._key(secret, purpose)).decrypt(sealed[:_NONCE], sealed[_NONCE:], owner.encode())
            except (InvalidTag, ValueError):
                continue
            return opened.decode()
        return None

    @staticmethod
    def _key(secret: bytes, purpose: str) -> bytes:
        return hmac.digest(secret, b"vlrb/" + purpose.encode(), "sha256")

    def _mac(self, secret: bytes, purpose: str, *, text: str) -> bytes:
        return hmac.digest(self._key(secret, purpose), text.encode("utf-8", "surrogatepass"), "sha256")


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
