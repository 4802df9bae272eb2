"""Files that people upload by mistake and that are no predictions, each with a sentence that says what it is."""

from __future__ import annotations

import csv
from collections.abc import Sequence

from predictions.problems import ProblemCollector, UploadRejected

FORMATS = (
    "We read this project's JSON lines, and what the official script, lmms-eval (--log_samples), VLMEvalKit (xlsx, "
    "tsv, json) and several reward models write. JSON may be compressed with gzip."
)
_UPLOAD = "Upload the file with your judge's replies that your tool wrote."
_UNPACK = "Unpack it and upload the prediction file inside, as it is or compressed with gzip."
_CONVERT = "Write its rows as JSON lines and upload those."
_SCORE_FILE = "VLMEvalKit's score file"
_PREDICTIONS = "Upload the file beside it: MODEL_VL-RewardBench.xlsx (or .tsv, .json), which holds the replies."
_CONTAINER = "unsupported-container"
_KINDS = (
    (0, b"\x89PNG", "a PNG image", _UPLOAD), (0, b"\xff\xd8\xff", "a JPEG image", _UPLOAD),
    (0, b"GIF8", "a GIF image", _UPLOAD), (8, b"WEBP", "a WebP image", _UPLOAD),
    (0, b"II*\x00", "a TIFF image", _UPLOAD), (0, b"MM\x00*", "a TIFF image", _UPLOAD),
    (4, b"ftyp", "a video or a photo", _UPLOAD), (0, b"%PDF", "a PDF", _UPLOAD),
    (0, b"BZh", "a bzip2 file", _UNPACK), (0, b"\xfd7zXZ", "an xz file", _UNPACK),
    (0, b"\x28\xb5\x2f\xfd", "a zstd file", _UNPACK), (0, b"7z\xbc\xaf", "a 7z archive", _UNPACK),
    (257, b"ustar", "a tar archive", _UNPACK), (0, b"Rar!", "a rar archive", _UNPACK),
    (0, b"PK\x05\x06", "an empty zip archive", _UPLOAD), (0, b"PAR1", "a parquet file", _CONVERT),
    (0, b"ARROW1", "an Arrow file", _CONVERT), (0, b"SQLite format 3", "an SQLite database", _CONVERT),
    (0, b"\xd0\xcf\x11\xe0", "an old Excel workbook (.xls) or Office file", "Save a prediction table as .xlsx."),
    *((0, b"\x80" + bytes([protocol]), f"a Python pickle, such as {_SCORE_FILE} (.pkl)", _PREDICTIONS)
      for protocol in range(2, 6)),
)  # fmt: skip


def refuse_binary(data: bytes, findings: ProblemCollector) -> None:
    """Refuse what is no text in UTF-8, by its bytes.

    Raises:
        UploadRejected: it is none.
    """
    for offset, magic, name, remedy in _KINDS:
        if data[offset : offset + len(magic)] == magic:
            raise findings.reject(_CONTAINER, f"This is {name}. {remedy}")
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") or data[:4] == b"\x00\x00\xfe\xff" or b"\x00" in data[:4]:
        raise findings.reject("not-utf8", "The file is in UTF-16 or UTF-32. Save it as UTF-8.", line=1)
    if b"\x00" in data:
        line = data.count(b"\n", 0, data.index(b"\x00")) + 1
        message = "This is not a text file: it holds a NUL byte. Upload the file that your tool wrote, as UTF-8 text."
        raise findings.reject("nul-character", message, line=line)


def refuse_text(data: bytes, findings: ProblemCollector) -> UploadRejected:
    """Return the rejection of a text that is neither JSON nor a table of predictions. ``data``: its first lines."""
    text = data.decode("utf-8", "replace").strip()
    if text.startswith("<"):
        message = "This is a web page or XML, perhaps an error page in place of a download. It holds no predictions."
        return findings.reject("bad-json", message)
    if text.startswith("{'"):
        message = "These lines are Python dictionaries, not JSON (they have single quotes). Write each with json.dumps."
        return findings.reject("bad-json", message, line=1)
    if columns := _columns(text):
        return refuse_table(columns, findings)
    return findings.reject("bad-json", f"This is not a prediction file, but some other text. {FORMATS}")


def _columns(text: str) -> list[str]:
    """Return the names of a table's columns; none where the text is no table."""
    lines = text.split("\n")[:3]
    delimiter = "\t" if "\t" in lines[0] else ","
    try:
        cells = list(csv.reader(lines, delimiter=delimiter))
    except csv.Error:
        return []
    alike = len(cells) > 1 and len(cells[0]) > 1 and (delimiter == "\t" or len(cells[0]) == len(cells[1]))
    return cells[0] if alike else []


def refuse_table(columns: Sequence[str], findings: ProblemCollector, code: str = "unknown-format") -> UploadRejected:
    """Return the rejection of a table that is no table of predictions."""
    names = {name.strip() for name in columns}
    if {"Macro Accuracy", "Overall Consistency"} & names:
        return findings.reject("summary-only", f"This is {_SCORE_FILE}: it holds scores alone. {_PREDICTIONS}")
    if {"index", "question"} <= names:
        message = (
            "This table has no column `prediction`: it is a benchmark's list of questions, without the judge's "
            "replies. Upload the file that VLMEvalKit wrote, MODEL_VL-RewardBench.xlsx (or .tsv, .json)."
        )
        return findings.reject("no-votes", message)
    shown = ", ".join(name[:40] for name in columns[:8])
    message = (
        "A prediction table has the columns index, question, response and prediction, as VLMEvalKit writes them. "
        f"This one has {shown}."
    )
    return findings.reject(code, message)
