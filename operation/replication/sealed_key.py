"""Receipt key in the replica, encrypted under a secret that is not there: scrypt, then Fernet (AES-128-CBC, HMAC)."""

from __future__ import annotations

import base64
import logging
import secrets
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from operation.replication.litestream import ReplicaUnusable
from operation.replication.replica import KEYS, Replica
from vlrb.common import atomic_files
from vlrb.common.messages import _

NAME = f"{KEYS}/receipt.key.sealed"
_SALT_BYTES = 16
AT_RISK = _(
    "The key that receipts are signed with is on the web process's disk alone, and is lost with it; a new one would "
    "sign then. Set REPLICA_SECRET or RECEIPT_KEY, and start again."
)

log = logging.getLogger(__name__)


def seal(secret: str, content: bytes) -> bytes:
    """Return the content encrypted: a salt, then the token."""
    salt = secrets.token_bytes(_SALT_BYTES)
    return salt + _cipher(secret, salt).encrypt(content)


def unseal(secret: str, sealed: bytes) -> bytes:
    """Return the content. Raises InvalidToken where the secret is another, or a byte was changed."""
    salt, token = sealed[:_SALT_BYTES], sealed[_SALT_BYTES:]
    return _cipher(secret, salt).decrypt(token)


def restore_key(replica: Replica, path: Path, *, secret: str, previous: str = "") -> bool:
    """Bring the key to an empty disk; False where there is none to bring.

    `previous`: the secret before this one. Raises ReplicaUnusable where neither opens it, or where there is none.
    """
    if path.exists() or (sealed := replica.read(NAME)) is None:
        return False
    content = next(_opened(sealed, filter(None, (secret, previous))), None)
    if content is None:
        under = _("was encrypted under another secret") if secret else _("is encrypted, and its secret is not set")
        raise ReplicaUnusable(
            _(
                "The receipt key in {public_name} {under}. Set REPLICA_SECRET "
                "(or, without one, SESSION_SECRET) to what it was, or remove {name} there to begin a new "
                "key.",
                public_name=replica.public_name,
                under=under,
                name=NAME,
            )
        )
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    atomic_files.write_once(path, content)
    return True


def begin_key(replica: Replica, path: Path, *, secret: str, content: bytes) -> None:
    """Make this the key of an installation that has none; where another process was faster, its key is used.

    Raises ReplicaUnusable.
    """
    if secret:
        replica.write_once(NAME, seal(secret, content))
        restore_key(replica, path, secret=secret)
    else:
        atomic_files.write_once(path, content)


def keep_key(replica: Replica, path: Path, *, secret: str) -> bool:
    """Store the key of this disk encrypted; False where there is no secret, or no key on the disk.

    A key that is there under the same secret is everybody's: it takes the place of the one on this disk.
    """
    if not secret or not path.exists():
        return False
    content = path.read_bytes()
    if replica.read(NAME) is None and replica.write_once(NAME, seal(secret, content)):
        return True
    try:
        shared = unseal(secret, replica.read(NAME) or b"")
    except InvalidToken:  # the secret has changed, and this disk has the key
        replica.write(NAME, seal(secret, content))
        return True
    if shared != content:
        atomic_files.write(path.with_name(f"{path.name}.replaced"), content)
        atomic_files.write(path, shared)
        log.warning("receipt_key.replaced", extra={"data": {"by": replica.public_name}})
    return True


def _opened(sealed: bytes, keys: Iterable[str]) -> Iterator[bytes]:
    for secret in keys:
        with suppress(InvalidToken):
            yield unseal(secret, sealed)


def _cipher(secret: str, salt: bytes) -> Fernet:
    key = Scrypt(salt=salt, length=32, n=2**14, r=8, p=1).derive(secret.encode())
    return Fernet(base64.urlsafe_b64encode(key))
