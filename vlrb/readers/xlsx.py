"""Reader for the sheets of a workbook, with limits against hostile archives before openpyxl opens one.

Formulas are read instead of their values: the older writer turned texts with a leading "=" into formulas with the value
0. Control characters are restored, which were written as ``_x000D_``.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from itertools import islice
from typing import Any

from vlrb.common.messages import _
from vlrb.readers.containers import limit_of
from vlrb.readers.problems import ProblemCollector, UploadRejected

UNPACKED_LIMIT = 128 * 2**20
_PARTS_LIMIT = 1000
_CONTROL = re.compile(r"_x(00(?:0[1-9A-Fa-f]|1[0-9A-Fa-f]|5[Ff]))_")  # all but NUL
_COLUMNS_LIMIT = 100
_ROWS_LIMIT = 2**20  # as many as a sheet can have; missing rows are made up to the number that a row gives itself
_ELEMENTS_LIMIT = 500_000  # of XML, read in about five seconds; a row an item, in a hundred columns, has 375,000
_TOO_MUCH = _("the workbook unpacks to far more than a prediction table holds")
_UTF_16 = (b"\xff\xfe", b"\xfe\xff", b"<\x00", b"\x00<")  # how XML starts whose declarations would not be seen


def sheets(data: bytes, findings: ProblemCollector) -> Iterator[list[tuple[int, Any]]]:
    """Yield (row number, {column name: text}) of each sheet; its first row names the columns.

    Raises:
        UploadRejected: not a workbook, or one that unpacks to too much.
    """
    from openpyxl import load_workbook  # no other file needs it

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _check_directory(archive.infolist(), findings, limit=min(UNPACKED_LIMIT, limit_of(data)))
            _check_content(archive, findings)
        for sheet in load_workbook(io.BytesIO(data), read_only=True, keep_links=False).worksheets:
            yield _records(sheet)
    except (MemoryError, UploadRejected):
        raise
    except Exception as error:  # what damaged XML leads to in openpyxl is any of them
        raise findings.reject("bad-xlsx", _damage(type(error).__name__)) from None


def _check_directory(parts: list[zipfile.ZipInfo], findings: ProblemCollector, *, limit: int) -> None:
    """Refuse an archive that is no workbook, or that unpacks to too much by its directory."""
    names = {part.filename for part in parts}
    if "[Content_Types].xml" not in names or not any(name.startswith("xl/worksheets/") for name in names):
        message = _(
            "This is a zip archive of {n} files. Unpack it and upload one: all predictions, as it is or with gzip.",
            n=len(parts),
        )
        if any(name.startswith(("word/", "ppt/")) for name in names):
            message = _("This is a Word or PowerPoint file. Upload the judge's replies that your tool wrote.")
        raise findings.reject("unsupported-container", message)
    if any(part.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for part in parts):
        raise findings.reject("bad-xlsx", _damage("compression"))
    if len(parts) > _PARTS_LIMIT or sum(part.file_size for part in parts) > limit:
        raise findings.reject("zip-bomb", _TOO_MUCH)


def _check_content(archive: zipfile.ZipFile, findings: ProblemCollector) -> None:
    """Refuse parts that declare entities or have too many elements; one larger than the directory says is damage."""
    elements = 0
    for part in archive.infolist():
        with archive.open(part) as opened:
            xml = opened.read(UNPACKED_LIMIT)
        if xml.startswith(_UTF_16) or b"<!DOCTYPE" in xml or b"<!ENTITY" in xml:
            raise findings.reject("bad-xlsx", _damage("entities"))
        elements += xml.count(b"<") - xml.count(b"</")
    if elements > _ELEMENTS_LIMIT:
        raise findings.reject("zip-bomb", _TOO_MUCH)


def _damage(what: str) -> str:
    return _("the workbook is damaged or unusual ({what}); save it again", what=what)


def _records(sheet: Any) -> list[tuple[int, dict[str, str]]]:
    """Return the rows below the first one that is not empty, which names the columns."""
    sheet.reset_dimensions()  # what the file says of its size need not be so
    rows = islice(sheet.iter_rows(max_col=_COLUMNS_LIMIT, values_only=True), _ROWS_LIMIT)
    filled = ((number, list(map(_text, row))) for number, row in enumerate(rows, 1) if row.count(None) < len(row))
    _number, header = next(filled, (0, []))
    return [(number, {name: text for name, text in zip(header, row, strict=True) if name}) for number, row in filled]


def _text(value: Any) -> str:
    """Return a cell's value as a text, control characters restored."""
    if value is None:
        return ""
    text = str(int(value) if isinstance(value, bool) else value)
    return _CONTROL.sub(lambda match: chr(int(match.group(1), 16)), text) if "_x" in text else text
