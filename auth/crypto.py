"""Keyed digests, signatures and encryption, each under its own key derived from SESSION_SECRET."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
from typing import Any

from cryptography.fernet import Fernet, InvalidToken, MultiFernet


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

    def sign(self, purpose: str, value: dict[str, Any]) -> str:
        """Return the value as text that nobody else can make, for this purpose only."""
        return self.encrypt(purpose, json.dumps(value), owner="").decode()

    def unsign(self, purpose: str, text: str, *, seconds: int) -> dict[str, Any] | None:
        """Return the value; None if the text was not made here, not for this purpose, or longer ago than that."""
        opened = self.decrypt(purpose, text.encode("utf-8", "replace"), owner="", seconds=seconds)
        value: dict[str, Any] | None = None if opened is None else json.loads(opened)
        return value

    def keyed(self, purpose: str, text: str) -> str:
        """Return a digest that cannot be looked up without the secret: 64 hexadecimal characters."""
        return self._mac(self._secrets[0], purpose, text=text).hex()

    def verify_keyed(self, purpose: str, text: str, *, claimed: str) -> bool:
        """Return whether `keyed` gives this, under any of the secrets."""
        return any(
            constant_time_equal(claimed, self._mac(secret, purpose, text=text).hex()) for secret in self._secrets
        )

    def encrypt(self, purpose: str, text: str, *, owner: str) -> bytes:
        """Return a Fernet token; it can only be read back under the same purpose and owner."""
        return self._fernet(purpose, owner).encrypt(text.encode())

    def decrypt(self, purpose: str, sealed: bytes, *, owner: str, seconds: int | None = None) -> str | None:
        """Return the text; None if it was made with other secrets, for somebody else, or longer ago than that."""
        try:
            return self._fernet(purpose, owner).decrypt(sealed, ttl=seconds).decode()
        except InvalidToken:
            return None

    def _fernet(self, purpose: str, owner: str) -> MultiFernet:
        keys = (self._key(secret, f"{purpose}/{owner}") for secret in self._secrets)
        return MultiFernet([Fernet(base64.urlsafe_b64encode(key)) for key in keys])

    @staticmethod
    def _key(secret: bytes, purpose: str) -> bytes:
        return hmac.digest(secret, b"vlrb/" + purpose.encode(), "sha256")

    def _mac(self, secret: bytes, purpose: str, *, text: str) -> bytes:
        return hmac.digest(self._key(secret, purpose), text.encode("utf-8", "surrogatepass"), "sha256")
