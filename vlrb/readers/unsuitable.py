"""Files that cannot be scored, and known formats without what scoring needs; each with a sentence that says so."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from vlrb.common.messages import _, joined
from vlrb.readers.base import VOTES, PredictionRow, as_number, as_vote, is_bare_verdict, shorten
from vlrb.readers.problems import ProblemCollector, UploadRejected
from vlrb.readers.tables import column_names

FORMATS = _(
    "We read this project's JSON lines, and what the official script, lmms-eval (--log_samples), "
    "VLMEvalKit (xlsx, tsv, json) and several reward models write, also as parquet or compressed with "
    "gzip or zip."
)
_SHOWN_FIELDS, _MOST_FIELDS = 8, 40  # more is an object with a field for each pair
_NEARLY_ALL = 0.95
_FEWEST = 20  # lines that tell anything
_UPLOAD = _("Upload the file with your judge's replies that your tool wrote.")
_UNPACK = _("Unpack it and upload the prediction file inside, as it is or compressed with gzip.")
_LFS = _("Run git lfs pull, and upload the file that it fetches.")
_PREDICTIONS = _("Upload the file beside it: MODEL_VL-RewardBench.xlsx (or .tsv, .json), which holds the replies.")
_SUMMARY = {"Macro Accuracy", "Overall Consistency"}
"""Columns of VLMEvalKit's score file."""
_KINDS = (
    (0, b"\x89PNG", _("a PNG image"), _UPLOAD), (0, b"\xff\xd8\xff", _("a JPEG image"), _UPLOAD),
    (0, b"%PDF", _("a PDF"), _UPLOAD), (0, b"version https://git-lfs", _("a Git LFS pointer"), _LFS),
    (0, b"BZh", _("a bzip2 file"), _UNPACK), (0, b"\xfd7zXZ", _("an xz file"), _UNPACK),
    (0, b"\x28\xb5\x2f\xfd", _("a zstd file"), _UNPACK), (0, b"7z\xbc\xaf", _("a 7z archive"), _UNPACK),
    (257, b"ustar", _("a tar archive"), _UNPACK),
    (0, b"\xd0\xcf\x11\xe0", _("an old Excel workbook (.xls) or Office file"), _("Save a prediction table as .xlsx.")),
    (0, b"\x80", _("a Python pickle, such as VLMEvalKit's score file (.pkl)"), _PREDICTIONS),
)  # fmt: skip


def refuse_binary(data: bytes, findings: ProblemCollector) -> None:
    """Refuse what is no text in UTF-8, by its bytes.

    Raises:
        UploadRejected: it is none.
    """
    for offset, magic, name, remedy in _KINDS:
        if data[offset : offset + len(magic)] == magic:
            raise findings.reject("unsupported-container", _("This file is {name}. {remedy}", name=name, remedy=remedy))
    if b"\x00" in data:
        line = data.count(b"\n", 0, data.index(b"\x00")) + 1
        message = _(
            "This is not a text file: it holds a NUL byte. Upload the file that your tool wrote, as UTF-8 text."
        )
        raise findings.reject("nul-character", message, line=line)


def refuse_text(data: bytes, findings: ProblemCollector) -> UploadRejected:
    """Return the rejection of a text that is neither JSON nor a table of predictions. ``data``: its first lines."""
    text = data.decode("utf-8", "replace").strip()
    if text.startswith("<"):
        message = _("This is a web page or XML, perhaps an error page in place of a download. It holds no predictions.")
        return findings.reject("bad-json", message)
    if text.startswith("{'"):
        message = _(
            "These lines are Python dictionaries, not JSON (they have single quotes). Write each with json.dumps."
        )
        return findings.reject("bad-json", message, line=1)
    if columns := _columns(text):
        return refuse_table(columns, findings)
    first = text.split("\n", 1)[0].strip()
    if is_bare_verdict(first):
        message = _(
            "The first line, {line}, is a verdict without the pair that it is about. {votes}",
            line=shorten(first),
            votes=VOTES,
        )
        return findings.reject("no-item-reference", message, line=1)
    return findings.reject(
        "bad-json", _("This is not a prediction file, but some other text. {formats}", formats=FORMATS)
    )


def _columns(text: str) -> list[str]:
    """Return the names of a table's columns; none where the text is no table."""
    header, _end, more = text.partition("\n")
    names = column_names(header)
    alike = "\t" in header or len(column_names(more.partition("\n")[0])) == len(names)
    return names if more and len(names) > 1 and alike else []


def refuse_table(columns: Sequence[str], findings: ProblemCollector, *, code: str = "unknown-format") -> UploadRejected:
    """Return the rejection of a table that is no table of predictions."""
    if _SUMMARY & {name.strip() for name in columns}:
        message = _("This is VLMEvalKit's score file: it holds scores alone. {remedy}", remedy=_PREDICTIONS)
        return findings.reject("summary-only", message)
    examples = joined(name[:40] for name in columns[:8])
    message = _(
        "A prediction table has the columns index, question, response and prediction, as VLMEvalKit "
        "writes them, or id and vote: 0 where the judge chose the response that the dataset has first, 1 where it "
        "chose the other. The first row names them; here it has {shown}.",
        shown=examples,
    )
    return findings.reject(code, message)


def is_by_column(record: dict[str, Any]) -> bool:
    """Return whether a record is a table column by column: each value an object by row number."""
    return bool(record) and all(isinstance(column, dict) and "0" in column for column in record.values())


def refusal(record: Any, *, rows: int) -> tuple[str, str] | None:
    """(code, sentence) for a record or a document that no reader can score; None if it is not known either.

    ``rows``: how many such records the file has.
    """
    if not isinstance(record, dict):
        return None
    keys = record.keys()
    if is_by_column(record):
        return "by-column", _(
            "This is a table of pandas column by column, as to_json() writes it. Write it row by row: "
            "to_json(path, orient='records', lines=True)."
        )
    if {"chosen", "rejected"} <= keys and all(as_number(record[name]) is not None for name in ("chosen", "rejected")):
        return "no-item-reference", _(
            "These are {rows:,} rows with the scores of the preferred and of the other response (`chosen`, "
            "`rejected`), without ids. Keep the rows of this benchmark, and write for each the `id` of its pair, and "
            "in `scores` the score of the response that the dataset has first, then of the other: "
            '{{"id": "ID", "scores": [0.7, 0.2]}}.',
            rows=rows,
        )
    if {"swap_pred", "pair_acc"} & keys or ("pred" in keys and "id" not in keys):
        return "no-item-reference", _(
            "These rows tell neither pair nor order. A file of LWE has `ID`, `Output1`, `Output2` and `response`: "
            "upload it as written. In any other, as of mmr, give the `id` of each pair. {votes}",
            votes=VOTES,
        )
    if isinstance(record.get("results"), dict) or _SUMMARY & keys:
        summary = _(
            "This is a tool's summary of scores. Upload the file of single predictions that it wrote beside it."
        )
        return "summary-only", summary
    if as_number(record.get("score", "")) is not None and as_vote(record["score"]) is None:
        return "no-votes", _(
            "`score` is one number, and two responses have one each. Write one line for each pair, first the score "
            'of the response that the dataset has first: {"id": "ID", "scores": [0.7, 0.2]}.'
        )
    if {"correct", "score", "flag_status"} & keys:
        return "correctness-only", _(
            "This file says which pairs were right, not which was chosen. {votes}", votes=VOTES
        )
    return None


def found_in(record: Any) -> str:
    """Say what a record or a document without a known format holds: the names of its first fields."""
    if not isinstance(record, dict) or not record:
        return _("The file holds {found}.", found=shorten(record))
    names = joined(f"`{name[:40]}`" for name in list(record)[:_SHOWN_FIELDS])
    if len(record) > _MOST_FIELDS:
        return _("This is one object with {n:,} fields: {names} and so on.", n=len(record), names=names)
    return _("The first record has the fields {names}.", names=names)


def refuse_flags(rows: Iterable[PredictionRow], findings: ProblemCollector) -> None:
    """Refuse a file whose votes are its flags of being right: they say nothing of the choice.

    An honest vote equals its flag where the second response is the preferred one, and is the opposite elsewhere. So the
    opposite on every line is no sign: in VL-RewardBench nearly all preferred responses are stored first. Nor is a
    choice that refers to the record's own texts, to the label or to an order shown.

    Raises:
        UploadRejected: they are.
    """
    flags = findings.flags
    stored = [row for row in rows if row.responses is None and row.shown is None and not row.about_label]
    pairs = [(vote, flags[row.line]) for row in stored if row.line in flags for vote in row.choices if vote in (0, 1)]
    same = sum(vote == flag for vote, flag in pairs)
    if len(pairs) < _FEWEST or same < _NEARLY_ALL * len(pairs):
        return
    message = _(
        "{same:,} of {votes:,} votes are the same as the field `correct` or `is_correct` beside them: they seem to say "
        "whether the judge was right, not which response it chose. Write 0 where it chose the response that the "
        "dataset has first, 1 where it chose the other.",
        same=same,
        votes=len(pairs),
    )
    raise findings.reject("correctness-only", message)
