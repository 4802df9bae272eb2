"""Receipt key in the replica, encrypted under a secret that is not there: scrypt, then Fernet (AES-128-CBC, HMAC)."""

from __future__ import annotations

import base64
import secrets
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from common import atomic_files
from common.messages import _
from operation.litestream import ReplicaUnusable
from operation.replica import KEYS, Replica

NAME = f"{KEYS}/receipt.key.sealed"
_SALT_BYTES = 16


def seal(secret: str, content: bytes) -> bytes:
    """Return the content encrypted: a salt, then the token."""
    salt = secrets.token_bytes(_SALT_BYTES)
    return salt + _cipher(secret, salt).encrypt(content)


def unseal(secret: str, sealed: bytes) -> bytes:
    """Return the content. Raises InvalidToken where the secret is another, or a byte was changed."""
    salt, token = sealed[:_SALT_BYTES], sealed[_SALT_BYTES:]
    return _cipher(secret, salt).decrypt(token)


def restore_key(replica: Replica, path: Path, secret: str) -> bool:
    """Bring the key to an empty disk; False where there is none to bring.

    Raises ReplicaUnusable where the secret does not open it.
    """
    if path.exists() or not secret or (sealed := replica.read(NAME)) is None:
        return False
    try:
        content = unseal(secret, sealed)
    except InvalidToken:
        raise ReplicaUnusable(
            _(
                "The receipt key in {public_name} was encrypted under another secret. Set REPLICA_SECRET "
                "(or, without one, SESSION_SECRET) to what it was, or remove {name} there to begin a new "
                "key.",
                public_name=replica.public_name,
                name=NAME,
            )
        ) from None
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    atomic_files.write_once(path, content)
    return True


def keep_key(replica: Replica, path: Path, secret: str) -> bool:
    """Store the key encrypted, unless it is there already; False where there is no secret, or no key on the disk."""
    if not secret or not path.exists():
        return False
    content, sealed = path.read_bytes(), replica.read(NAME)
    try:
        if sealed is not None and unseal(secret, sealed) == content:
            return True
    except InvalidToken:
        pass  # the secret has changed, and this disk has the key
    replica.write(NAME, seal(secret, content))
    return True


def _cipher(secret: str, salt: bytes) -> Fernet:
    key = Scrypt(salt=salt, length=32, n=2**14, r=8, p=1).derive(secret.encode())
    return Fernet(base64.urlsafe_b64encode(key))
