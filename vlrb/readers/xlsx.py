"""Streaming reader for the sheets of a workbook, with limits against hostile archives.

Read with the standard library because that gives what no spreadsheet library gives: the text of a formula cell (the
older writer turned texts with a leading "=" into formulas with the value 0), the control characters that were written
as ``_x000D_``, and bounds on what is unpacked.
"""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO, Any
from xml.etree import ElementTree  # expat fetches nothing, and documents with a DTD are refused below

from vlrb.common.messages import _
from vlrb.predictions.problems import ProblemCollector

UNPACKED_LIMIT = 128 * 2**20
RATIO_LIMIT = 100
_PARTS_LIMIT = 1000
_NAME = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_CONTROL = re.compile(r"_x(00[01][0-9A-Fa-f]|005[Ff])_")
_COLUMN = re.compile(r"[A-Z]{1,3}")
_COLUMNS_LIMIT = 100
_ELEMENTS_LIMIT = 1_000_000  # XML elements of a part; ten votes on each item, in twenty columns, are 750,000
_DAMAGE = (
    zipfile.BadZipFile, zlib.error, struct.error, ElementTree.ParseError,
    KeyError, ValueError, IndexError, OverflowError, EOFError, OSError,
)  # fmt: skip


class _UnusableWorkbook(Exception):
    """The archive is no workbook that can be read."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


def sheets(data: bytes, findings: ProblemCollector) -> Iterator[list[tuple[int, Any]]]:
    """Yield (row number, {column name: text}) of each sheet; its first row names the columns.

    Raises:
        UploadRejected: not a workbook, or one that unpacks to too much.
    """
    try:
        for rows in _sheets(data):
            header = rows[0][1] if rows else {}
            yield [
                (number, {name: cells.get(column, "") for column, name in header.items()}) for number, cells in rows[1:]
            ]
    except _UnusableWorkbook as error:
        raise findings.reject(error.code, error.message) from None
    except _DAMAGE as error:
        raise findings.reject(
            "bad-xlsx", _("the workbook is damaged ({name}); save it again", name=type(error).__name__)
        ) from None
    except (NotImplementedError, RuntimeError):
        raise findings.reject("bad-xlsx", _("the workbook is encrypted or packed unusually; save it again")) from None


def _sheets(data: bytes) -> Iterator[list[tuple[int, dict[str, str]]]]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = _sheet_names(archive, len(data))
        shared: list[str] = []
        if "xl/sharedStrings.xml" in archive.namelist():
            shared = [_text(element) for element in _elements(archive, "xl/sharedStrings.xml", tag="si")]
        for sheet in names:
            yield list(_rows(archive, sheet, shared=shared))


def _rows(archive: zipfile.ZipFile, sheet: str, *, shared: list[str]) -> Iterator[tuple[int, dict[str, str]]]:
    for count, row in enumerate(_elements(archive, sheet, tag="row"), 1):
        cells: dict[str, str] = {}
        for cell in row.iter(f"{_NAME}c"):
            column = _COLUMN.match(cell.get("r", ""))
            if column and len(cells) < _COLUMNS_LIMIT:
                cells[column.group()] = _cell_text(cell, shared)
        yield int(row.get("r", count)), cells


def _sheet_names(archive: zipfile.ZipFile, packed: int) -> list[str]:
    """Return the names of the sheets' parts in order, after checking how much the archive unpacks to."""
    parts = archive.infolist()
    names = {part.filename for part in parts}
    sheets = sorted(
        (n for n in names if n.startswith("xl/worksheets/") and n.endswith(".xml")), key=lambda n: (len(n), n)
    )
    if "[Content_Types].xml" not in names or not sheets:
        message = _("This is a zip archive. Unpack it and upload the prediction file inside, as it is or with gzip.")
        if any(name.startswith(("word/", "ppt/")) for name in names):
            message = _("This is a Word or PowerPoint file. Upload the judge's replies that your tool wrote.")
        raise _UnusableWorkbook("unsupported-container", message)
    if any(part.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for part in parts):
        raise _UnusableWorkbook("bad-xlsx", _("the workbook is packed unusually; save it again"))
    unpacked = sum(part.file_size for part in parts)
    if len(parts) > _PARTS_LIMIT or unpacked > UNPACKED_LIMIT or unpacked > RATIO_LIMIT * max(packed, 2**16):
        message = _(
            "the workbook unpacks to {unpacked:,.0f} MiB in {parts} parts; it is not a prediction table",
            unpacked=unpacked / 2**20,
            parts=len(parts),
        )
        raise _UnusableWorkbook("zip-bomb", message)
    return sheets


def _elements(archive: zipfile.ZipFile, part: str, *, tag: str) -> Iterator[ElementTree.Element]:
    """Yield the elements with a tag, one at a time, each forgotten afterwards."""
    with archive.open(part) as opened:
        xml = opened.read(UNPACKED_LIMIT + 1)
    if len(xml) > UNPACKED_LIMIT:
        raise _UnusableWorkbook("zip-bomb", _("a part of the workbook unpacks to more than its directory says"))
    if b"\x00" in xml or b"<!DOCTYPE" in xml or b"<!ENTITY" in xml:
        raise _UnusableWorkbook(
            "bad-xlsx", _("the workbook declares entities or is not in UTF-8; no prediction table does")
        )
    stream: IO[bytes] = io.BytesIO(xml)
    root: ElementTree.Element | None = None
    seen = 0
    for event, element in ElementTree.iterparse(stream, events=("start", "end")):  # noqa: S314 - a DTD was refused
        seen += event == "start"
        if seen > _ELEMENTS_LIMIT:
            message = _(
                "a part of the workbook has over {elements_limit:,} elements; no prediction table has so many",
                elements_limit=_ELEMENTS_LIMIT,
            )
            raise _UnusableWorkbook("zip-bomb", message)
        if root is None:
            root = element
        elif event == "end" and element.tag == _NAME + tag:
            yield element
            element.clear()


def _text(element: ElementTree.Element) -> str:
    """Return a shared or inline string: its runs without phonetic hints, control characters restored."""
    runs = [element.findtext(f"{_NAME}t") or ""]
    runs += [run.findtext(f"{_NAME}t") or "" for run in element.findall(f"{_NAME}r")]
    return _restore("".join(runs))


def _restore(text: str) -> str:
    return _CONTROL.sub(lambda match: chr(int(match.group(1), 16)), text) if "_x" in text else text


def _cell_text(cell: ElementTree.Element, shared: list[str]) -> str:
    """Return a cell's text; of a formula cell the formula, since that is what the writer was given."""
    formula = cell.findtext(f"{_NAME}f")
    if formula is not None:
        return "=" + _restore(formula)
    kind = cell.get("t")
    if kind == "inlineStr":
        inline = cell.find(f"{_NAME}is")
        return "" if inline is None else _text(inline)
    value = cell.findtext(f"{_NAME}v") or ""
    return shared[int(value)] if kind == "s" else _restore(value)
