"""A file that was compressed with gzip, unpacked within bounds.

Several members one after another are one file, as for gunzip; anything else behind a member is damage. The checksum and
length of each member are verified.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from vlrb.common.file_limit import FILE_LIMIT, too_large
from vlrb.common.messages import _
from vlrb.predictions.problems import ProblemCollector

MAGIC = b"\x1f\x8b"
RATIO_LIMIT = 100
_SMALL = 2**16  # packed bytes below which the ratio is that of so many
_MEMBERS_LIMIT = 10_000  # bgzip writes one for each 64 KiB
_PIECE = 2**16  # bytes that are unpacked at once, and the most that they may become
_MOST_AT_ONCE = 2**20
_GZIP = 31  # window bits: a gzip header and trailer around the data


def unpack(data: bytes, findings: ProblemCollector) -> bytes:
    """Return the content of a gzip file.

    Raises:
        UploadRejected: it is cut off or damaged, unpacks to too much, or holds another archive.
    """
    limit = min(FILE_LIMIT, RATIO_LIMIT * max(len(data), _SMALL))
    parts: list[bytes] = []
    size = 0
    try:
        for part in _parts(data):
            parts.append(part)
            size += len(part)
            if size > limit:
                raise findings.reject("unsupported-container", too_much(limit))
    except EOFError:
        message = _("The gzip file ends in the middle: it was cut off. Compress or upload it again.")
        raise findings.reject("bad-gzip", message) from None
    except zlib.error:
        raise findings.reject("bad-gzip", _("The gzip file is damaged. Compress or upload it again.")) from None
    return unnested(b"".join(parts), findings)


def _parts(data: bytes) -> Iterator[bytes]:
    """Yield the content piece by piece. Raises zlib.error, or EOFError where a member has no end."""
    place, end = 0, len(data.rstrip(b"\x00")) if data.endswith(b"\x00") else len(data)  # padding behind the last one
    for _member in range(_MEMBERS_LIMIT):
        member = zlib.decompressobj(_GZIP)
        waiting = b""
        while not member.eof:
            if not waiting:
                if place >= len(data):
                    raise EOFError
                waiting = data[place : place + _PIECE]
                place += len(waiting)
            yield member.decompress(waiting, _MOST_AT_ONCE)
            waiting = member.unconsumed_tail
        place -= len(member.unused_data)
        if place >= end:
            return
    raise zlib.error


def too_much(limit: int) -> str:
    """Return what to say of a packed file that unpacks to more than a limit."""
    if limit == FILE_LIMIT:
        return too_large()
    return _("The file unpacks to more than {ratio_limit} times its size.", ratio_limit=RATIO_LIMIT)


def unnested(content: bytes, findings: ProblemCollector) -> bytes:
    """Return what a packed file holds, unless it is packed once more."""
    if content.startswith(MAGIC):
        message = _("This file was compressed twice. Unpack it once and upload the result.")
        raise findings.reject("unsupported-container", message)
    if content.startswith(b"PK\x03\x04"):
        message = _("This file holds a zip archive or an Excel workbook. Unpack it and upload what is inside.")
        raise findings.reject("unsupported-container", message)
    return content
