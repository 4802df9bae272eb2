"""Size limit of prediction files, wherever one is read, checked or sent."""

from __future__ import annotations

from vlrb.common.messages import _

FILE_LIMIT = 256 * 2**20
"""Bytes of a file that is read, and of what it unpacks to. Ten votes on each pair from the official script take 68 MB,
sixteen 109 MB."""


def too_large(limit: int = FILE_LIMIT) -> str:
    """Return what to say of a file of more bytes than a service takes, or than can be read at all."""
    if limit < FILE_LIMIT:
        return _(
            "The file is larger than the {limit:g} MB that this service takes. Compress it with gzip.",
            limit=limit / 2**20,
        )
    return _(
        "The file has more than {limit:g} MB, or unpacks to more. Write one line for each pair with its `id` and "
        "`votes`, without the judge's texts.",
        limit=limit / 2**20,
    )
