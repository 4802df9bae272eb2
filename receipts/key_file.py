"""Private signing key of receipts: from the settings, or generated once and stored beside the database.

The web process signs, and nobody else reads the key: the worker, which alone knows labels, has no use for it.
"""

from __future__ import annotations

from pathlib import Path

from receipts.jws import Signer
from vlrb.client.jws import KeyUnusable
from vlrb.common.atomic_files import write_once

FILE_NAME = "receipt.key"


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
            write_once(path, Signer.make().text().encode("ascii"))
        return Signer.parse(path.read_text(encoding="ascii"))
    except (KeyUnusable, UnicodeDecodeError) as error:
        reason = error if isinstance(error, KeyUnusable) else "it is no text"
        raise KeyUnusable(f"{'RECEIPT_KEY' if setting else path} cannot be used: {reason}.") from None
