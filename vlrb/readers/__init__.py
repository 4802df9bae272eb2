"""Readers of the prediction files of real tools, one module per format; chosen by content, never by file name.

A reader turns records into rows of votes with hints to find the item. It never uses a label, a correctness flag or a
category from the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.spec import TIE
from vlrb.common.messages import _
from vlrb.readers import inspect_log, unsuitable
from vlrb.readers.base import ParsedFile, PredictionFormat, held_of, is_bare_verdict, unwrap
from vlrb.readers.batch_output import BATCH
from vlrb.readers.containers import ARCHIVE, opened
from vlrb.readers.inspect_log import INSPECT
from vlrb.readers.lmms_eval import LMMS_EVAL
from vlrb.readers.lwe import LWE
from vlrb.readers.native import NATIVE
from vlrb.readers.official import MULTIMODAL, OFFICIAL, OMNI_RRM
from vlrb.readers.problems import ProblemCollector, UploadRejected
from vlrb.readers.r1_reward import R1_REWARD
from vlrb.readers.recorded_choice import ARM_THINKER, MM_JUDGEBENCH, VL_REWARD_MODEL
from vlrb.readers.strict_json import (
    LINE_LIMIT,
    JsonFault,
    first_lines,
    json_lines,
    loads,
    records_of,
    too_many_records,
)
from vlrb.readers.tables import as_record, column_names, table_records
from vlrb.readers.two_score import JEV, TWO_SCORE
from vlrb.readers.vlmevalkit import VLMEVALKIT
from vlrb.votes import MAX_VOTES_PER_ITEM, UNDECIDED

READERS = (
    NATIVE, JEV, OMNI_RRM, OFFICIAL, LMMS_EVAL, VLMEVALKIT, R1_REWARD, TWO_SCORE, VL_REWARD_MODEL, BATCH, ARM_THINKER,
    LWE, MM_JUDGEBENCH, MULTIMODAL,
)  # fmt: skip
"""In the order in which they are asked; the first that recognises a record reads the file."""

_Change = Callable[[Any], Any]
_Recognised = tuple[PredictionFormat, Iterable[tuple[int, Any]]]
"""Who reads a file, and its records."""

_NAMED = {reader.key: reader.name or reader.tool for reader in (*READERS, INSPECT)}

DOCUMENT_LIMIT = 64 * 2**20  # a log of inspect_ai has about 20 KB a vote; the sandbox bounds the memory
_ASKED = 20  # records that are asked before a format counts as unknown
_SHOWN_OF_LINE = 4096  # bytes that tell what else a text is


def format_name(key: str) -> str:
    """Return how people call a format that reports name by its key; without a name, its key."""
    return _(_NAMED.get(key, key))


def detect(record: Any) -> PredictionFormat | None:
    """Return the reader that recognises a parsed record, or None."""
    if type(record) is not dict or unsuitable.is_by_column(record):
        return None
    unwrapped = unwrap(record)
    return next((reader for reader in READERS if reader.matches(unwrapped)), None)


def _detect_among(records: Sequence[Any]) -> tuple[PredictionFormat, _Change] | None:
    """Return the reader that recognises one of some records, and what to make of each for it.

    Names in capitals, as `ID` and `Votes`, are tried where no reader knows a record as it stands.
    """
    changes: tuple[_Change, ...] = (lambda record: record, _with_small_names)
    for change in changes:
        for record in records:
            if reader := detect(change(record)):
                return reader, change
    return None


def _with_small_names(record: Any) -> Any:
    """Return a record under names in small letters, unless two would be the same."""
    if type(record) is not dict:
        return record
    renamed = as_record(record)
    return renamed if len(renamed) == len(record) else record


def read_file(data: bytes, findings: ProblemCollector, *, table: ItemTable) -> ParsedFile:
    """Read a whole file about the benchmark of a table.

    Raises:
        UploadRejected: the file as a whole cannot be read. Problems of single records are added to ``findings``.
    """
    reader, records = _recognise(opened(data, findings), findings, items=len(table))
    if isinstance(records, list) and len(records) > len(table) * MAX_VOTES_PER_ITEM:
        raise too_many_records(len(records), findings, items=len(table))
    findings.format = reader.key
    parsed = reader.read_file(records, findings, table=table)
    findings.format = parsed.format
    unsuitable.refuse_flags(parsed.rows, findings)
    if not table.spec.tells_ties:
        for row in parsed.rows:
            if TIE in row.choices:
                row.choices = [UNDECIDED if choice == TIE else choice for choice in row.choices]
    return parsed


def first_records(data: bytes) -> list[Any]:
    """Return the first records of a file, of those that can be read."""
    try:
        data = opened(data, ProblemCollector())
    except UploadRejected:
        return []
    lines = [_parsed(line) for line in first_lines(data, _ASKED)]
    records = [line for line in lines if isinstance(line, dict)]
    return records if len(records) > 1 else records_of(_parsed(data))[:_ASKED]


def _recognise(data: bytes, findings: ProblemCollector, *, items: int) -> _Recognised:
    """Return the reader of a file by its content, and its records. ``items``: how many the benchmark has, which bounds
    the number of records. Raises UploadRejected."""
    if data.startswith(ARCHIVE):
        if inspect_log.is_archive(data):
            return INSPECT, inspect_log.archive_records(data, findings)
        return _workbook(data, findings)
    unsuitable.refuse_binary(data, findings)
    start = data[:4096].lstrip()[:1]
    if not start and not data.strip():
        raise findings.reject("empty-file", _("The file is empty. Upload the predictions that your tool wrote."))
    if is_bare_verdict(data[:_SHOWN_OF_LINE].split(b"\n", 1)[0].decode("utf-8", "replace")):
        raise unsuitable.refuse_text(data[:_SHOWN_OF_LINE], findings)
    document = _document(data, findings)
    if document is not None:
        return _of_document(document, findings)
    if start not in (b"[", b"{") and _table_reader(data.split(b"\n", 1)[0]):
        return _table(table_records(data, findings), findings, code="unknown-format")
    return _lines(data, findings, items=items)


def _document(data: bytes, findings: ProblemCollector) -> Any:
    """Return the value of a file that is one JSON object or list rather than JSON lines; None if it is not."""
    lines = [line.strip() for line in first_lines(data, _ASKED) if line.strip()]
    first = lines[0] if lines else b""
    if first[:1] not in (b"[", b"{") or first[:2] == b"{'":
        return None
    if first not in (b"[", b"{"):
        value = _parsed(first)
        if value is not None:
            return value if len(data.strip()) == len(first) and not detect(value) else None
        if any(isinstance(_parsed(line), dict) for line in lines[1:]):
            return None
    if len(data) > DOCUMENT_LIMIT:
        message = _(
            "the JSON document has {data:,} bytes; at most {document_limit:,} are read. Write JSON lines; "
            "a log of inspect_ai, in its `.eval` format",
            data=len(data),
            document_limit=DOCUMENT_LIMIT,
        )
        raise findings.reject("document-too-large", message)
    try:
        return loads(data)
    except JsonFault as fault:
        raise findings.reject(fault.code, fault.message, line=fault.line) from None


def _parsed(text: bytes) -> Any:
    """Return the value of strict JSON, else None."""
    try:
        return loads(text)
    except JsonFault:
        return None


def _of_document(value: Any, findings: ProblemCollector) -> _Recognised:
    """Return the reader and records of one JSON value: a list of records, or an object that holds one."""
    if inspect_log.is_document(value):
        return INSPECT, inspect_log.document_records(value)
    records = records_of(value)
    known = _detect_among(records[:_ASKED])
    if known is None:
        raise _unknown(records or [value], findings, rows=len(records))
    reader, change = known
    return reader, list(enumerate(map(change, records), 1))


def _table_reader(header: bytes) -> PredictionFormat | None:
    """Return the reader of a table by its header line, if that is one."""
    if len(header) > LINE_LIMIT:
        return None
    names = column_names(header.decode("utf-8", "replace").strip())
    return detect(as_record(dict.fromkeys(names, ""))) if len(names) > 1 else None


def _workbook(data: bytes, findings: ProblemCollector) -> _Recognised:
    """Return the reader and rows of the first sheet of a workbook that is a table of predictions."""
    from vlrb.readers import xlsx  # XML parsers are needed for no other file

    sheets: list[list[tuple[int, Any]]] = []
    for records in xlsx.sheets(data, findings):
        sheets.append(records)
        if records and detect(as_record(records[0][1])):
            break
    shown = next((records for records in (*sheets[-1:], *sheets) if records), [])
    return _table(shown, findings, code="xlsx-not-vlmevalkit")


def _table(records: list[tuple[int, Any]], findings: ProblemCollector, *, code: str) -> _Recognised:
    """Return the reader and records of an xlsx, tsv or csv file."""
    reader = detect(as_record(records[0][1])) if records else None
    if records and reader is None:
        raise unsuitable.refuse_table(list(records[0][1]), findings, code=code)
    if reader is None:
        raise findings.reject("empty-file", _("The table has no rows. Upload the predictions that your tool wrote."))
    return reader, [(line, as_record(row)) for line, row in records]


def _lines(data: bytes, findings: ProblemCollector, *, items: int) -> _Recognised:
    """Return the reader and values of JSON lines; split on LF only, since texts hold other line separators."""
    first = first_lines(data, _ASKED)
    values = [_parsed(line) for line in first if len(line) <= LINE_LIMIT]
    known = _detect_among(values)
    if known is None:
        if not any(_looks_like_json(line) for line in first):
            raise unsuitable.refuse_text(b"\n".join(line[:_SHOWN_OF_LINE] for line in first), findings)
        held = [value for value in values if value is not None]
        if not held:
            held = [value for _, value in json_lines(data, findings, items=items)]
        if findings.problem_count:
            raise findings.rejected()
        raise _unknown(held, findings, rows=sum(1 for line in data.split(b"\n") if line.strip()))
    reader, change = known
    return reader, ((number, change(value)) for number, value in json_lines(data, findings, items=items))


def _looks_like_json(line: bytes) -> bool:
    """Return whether a line is JSON or was meant to be: it starts like an object, or like a list of something."""
    start = line.lstrip()[:2]
    return (start[:1] == b"{" and start != b"{'") or start[:1] == b"[" or _parsed(line) is not None


def _unknown(records: Sequence[Any], findings: ProblemCollector, *, rows: int) -> UploadRejected:
    """Return the rejection of records that no reader knows. ``rows``: how many the file has."""
    record = next((record for record in records if isinstance(record, dict)), records[0])
    if known := unsuitable.refusal(record, rows=rows):
        return findings.reject(*known)
    message = _(
        "{found} That is no known format. Write one line for each pair: its `id` and `votes`, for "
        'instance {{"id": "ID", "votes": [0]}}. {formats}',
        found=unsuitable.found_in(record),
        formats=_nearest(record) or unsuitable.FORMATS,
    )
    return findings.reject("unknown-format", message)


def _nearest(record: Any) -> str:
    """Say which format has most of its fields in a record, and which are missing; nothing where none has any."""
    if not isinstance(record, dict):
        return ""
    held = [[held_of(record, names) for names in reader.fields] for reader in READERS]
    reader, there = max(zip(READERS, held, strict=True), key=lambda one: (sum(map(bool, one[1])), -len(one[1])))
    if not any(there):
        return ""
    missing = (" / ".join(names) for names, here in zip(reader.fields, there, strict=True) if not here)
    return _(
        "The nearest is {format}: there is `{there}`, but no `{missing}`.",
        format=format_name(reader.key),
        there="`, `".join(name for names in there for name in names),
        missing="`, `".join(missing),
    )
