"""Containers and encodings of prediction files: gzip, a zip archive of one file, UTF-16 or UTF-32, parquet."""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from pathlib import PurePosixPath

import orjson

from vlrb.common.file_limit import FILE_LIMIT, too_large
from vlrb.common.messages import _
from vlrb.readers.problems import ProblemCollector

ARCHIVE = b"PK\x03\x04"
_GZIP = b"\x1f\x8b"
RATIO_LIMIT = 100
_PARQUET = b"PAR1"
_ENCODINGS = (
    (b"\xff\xfe\x00\x00", "utf-32"), (b"\x00\x00\xfe\xff", "utf-32"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"),
    (b"\xef\xbb\xbf", "utf-8"),
)  # fmt: skip
"""Byte order marks; those of UTF-32 begin like those of UTF-16."""
_SMALL = 2**16  # packed bytes below which the ratio is that of so many
_CODE = "unsupported-container"


def opened(data: bytes, findings: ProblemCollector) -> bytes:
    """Return the text inside a file in UTF-8; the rows of a parquet file as JSON lines; another file as it is.

    Raises:
        UploadRejected: it is too large, cut off or damaged, or holds another archive.
    """
    if len(data) > FILE_LIMIT:
        raise findings.reject("file-too-large", too_large())
    if data.startswith(_GZIP):
        data = _unpacked(data, findings)
    elif data.startswith(ARCHIVE):
        data = _only_member(data, findings)
    if data.startswith(_PARQUET):
        return _parquet_lines(data, findings)
    mark, encoding = next((known for known in _ENCODINGS if data.startswith(known[0])), (b"", "utf-8"))
    if encoding == "utf-8":
        return data[len(mark) :] if mark else data
    try:
        return data.decode(encoding).encode()
    except UnicodeError:
        message = _("The file begins as {encoding} and is damaged. Save it as UTF-8.", encoding=encoding.upper())
        raise findings.reject("not-utf8", message) from None


def _unpacked(data: bytes, findings: ProblemCollector) -> bytes:
    """Return the content of a gzip file; several members one after another are one file, as for gunzip."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            content = file.read(limit_of(data) + 1)
    except (EOFError, zlib.error, OSError):
        message = _("The gzip file is damaged or was cut off. Compress or upload it again.")
        raise findings.reject("bad-gzip", message) from None
    return _bounded(content, findings, packed=data)


def limit_of(packed: bytes) -> int:
    """Return how many bytes a packed file may hold."""
    return min(FILE_LIMIT, RATIO_LIMIT * max(len(packed), _SMALL))


def _bounded(content: bytes, findings: ProblemCollector, *, packed: bytes) -> bytes:
    """Return what a packed file holds, unless that is too much or packed once more."""
    limit = limit_of(packed)
    if len(content) > limit:
        message = _("The file unpacks to more than {ratio_limit} times its size.", ratio_limit=RATIO_LIMIT)
        raise findings.reject(_CODE, too_large() if limit == FILE_LIMIT else message)
    if content.startswith((_GZIP, ARCHIVE)):
        raise findings.reject(_CODE, _("This file holds another archive. Unpack it and upload what is inside."))
    return content


def _only_member(data: bytes, findings: ProblemCollector) -> bytes:
    """Return the content of a zip archive of one file; every other archive as it is: a workbook and a log are some."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [member for member in archive.infolist() if _is_meant(member)]
            if len(members) != 1 or members[0].compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                return data
            with archive.open(members[0]) as member:
                content = member.read(limit_of(data) + 1)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, KeyError, NotImplementedError, RuntimeError):
        return data  # whoever reads archives says what is wrong with it
    return _bounded(content, findings, packed=data)


def _is_meant(member: zipfile.ZipInfo) -> bool:
    """Return whether somebody packed a member on purpose: no folder, and nothing that a system adds of its own."""
    path = PurePosixPath(member.filename)
    return not (member.filename.endswith("/") or path.name.startswith(".") or path.parts[:1] == ("__MACOSX",))


def _parquet_lines(data: bytes, findings: ProblemCollector) -> bytes:
    """Return the rows of a parquet file as JSON lines, without what JSON cannot hold, such as images."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError:
        message = _(
            "This is a parquet file; reading it needs another package: pip install 'vlrb[parquet]'. Or write its rows "
            "as JSON lines."
        )
        raise findings.reject(_CODE, message) from None
    lines: list[bytes] = []
    size = 0
    try:
        file = pyarrow.parquet.ParquetFile(pyarrow.BufferReader(data), pre_buffer=False)
        kept = [column.name for column in file.schema_arrow if "binary" not in str(column.type)]  # no images
        for batch in file.iter_batches(batch_size=1000, columns=kept, use_threads=False):
            for row in batch.to_pylist():
                lines.append(orjson.dumps(row, default=lambda _value: None))
                size += len(lines[-1])
            if size > FILE_LIMIT:
                raise findings.reject("file-too-large", too_large())
    except MemoryError:  # one of its exceptions, too
        raise
    except (pyarrow.ArrowException, OSError, ValueError, TypeError):
        message = _("The parquet file is damaged or unusual. Write its rows as JSON lines and upload those.")
        raise findings.reject(_CODE, message) from None
    return b"\n".join(lines)
