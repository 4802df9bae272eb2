"""Logs of inspect_ai: `.eval` (a zip archive whose members are packed with zstd or deflate) and `.json`.

A sample is one vote; epochs are further votes. The texts and the order shown stand in the prompt, if it is the official
one; otherwise the sample's metadata has `swapped`, and its id is the item's. Ids of samples are unique, those of items
are not always: a log may have fingerprint (`item`) and `id` of the item in its metadata. Scores and targets are never
read.
"""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from typing import Any

from vlrb.benchmarks.spec import value_at
from vlrb.common.messages import _
from vlrb.readers.base import FieldReader, ParsedFile, PredictionFormat, PredictionRow, flip
from vlrb.readers.batch_output import reply_of, text_of
from vlrb.readers.containers import limit_of
from vlrb.readers.lmms_eval import prompted
from vlrb.readers.problems import ProblemCollector
from vlrb.readers.strict_json import JsonFault, loads
from vlrb.verdicts import read_verdict

_MEMBER_LIMIT = 16 * 2**20
_MEMBERS_LIMIT = 40_000  # sixteen votes of each pair, and what else a log holds
_ZSTD = 93  # of the zip format
_LOCAL_HEADER = struct.Struct("<4s22xHH")
_HEADERS = frozenset({"header.json", "_journal/start.json"})
_SAMPLE_PART = re.compile(r"samples/(?:[^/]+|[^/]+/sample)\.json")  # the second in a log whose samples are in chunks
_FIRST = (b"_journal/", b"samples/", b"header.json")
_ATTACHMENT = "attachment://"
_FINGERPRINT = re.compile(r"[0-9a-f]{64}")
_DAMAGE = (
    zipfile.BadZipFile, zlib.error, struct.error, KeyError, ValueError, IndexError, EOFError, OSError,
    NotImplementedError, RuntimeError, JsonFault,
)  # fmt: skip


def is_archive(data: bytes) -> bool:
    """Return whether a zip archive is a log."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return bool(_HEADERS & set(archive.namelist()))
    except (zipfile.BadZipFile, NotImplementedError, OSError, ValueError, struct.error):
        # It is cut off; the name of its first member is left.
        return data[_LOCAL_HEADER.size :].startswith(_FIRST)


def is_document(value: Any) -> bool:
    """Return whether a JSON document is a log."""
    return isinstance(value, dict) and isinstance(value.get("eval"), dict) and isinstance(value.get("samples"), list)


def archive_records(data: bytes, findings: ProblemCollector) -> list[tuple[int, Any]]:
    """Return (number, sample) of an archive, epoch by epoch.

    Raises:
        UploadRejected: it is damaged, or unpacks to too much.
    """
    findings.format = INSPECT.key
    try:
        return _by_epoch(_samples(data, findings))
    except _DAMAGE as error:
        reason = error.message if isinstance(error, JsonFault) else type(error).__name__
        raise findings.reject(
            "bad-eval", _("the log is damaged, encrypted or packed unusually ({name}); export it again", name=reason)
        ) from None


def _samples(data: bytes, findings: ProblemCollector) -> Iterator[dict[str, Any]]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        unpacked = sum(member.file_size for member in members)
        largest = max((member.file_size for member in members), default=0)
        if len(members) > _MEMBERS_LIMIT or largest > _MEMBER_LIMIT or unpacked > limit_of(data):
            message = _(
                "the log unpacks to {unpacked:,.0f} MiB in {members:,} parts, more than is read here; run "
                "with --no-log-images, or export the replies as native JSON lines",
                unpacked=unpacked / 2**20,
                members=len(members),
            )
            raise findings.reject("zip-bomb", message)
        for member in {member.filename: member for member in members}.values():  # of a requeued sample the last counts
            if _SAMPLE_PART.fullmatch(member.filename):
                yield _needed(loads(_unpacked(archive, member, data=data)))


def _unpacked(archive: zipfile.ZipFile, member: zipfile.ZipInfo, *, data: bytes) -> bytes:
    """Return the content of a member, at most the size that its directory states."""
    if member.compress_type != _ZSTD:
        with archive.open(member) as opened:
            return opened.read(member.file_size)
    import pyarrow  # the standard library reads zstd from Python 3.14 on

    magic, name, extra = _LOCAL_HEADER.unpack_from(data, member.header_offset)
    start = member.header_offset + _LOCAL_HEADER.size + name + extra
    packed = data[start : start + member.compress_size]
    if magic != b"PK\x03\x04" or len(packed) != member.compress_size or not member.file_size:
        raise zipfile.BadZipFile
    content: bytes = pyarrow.Codec("zstd").decompress(packed, decompressed_size=member.file_size, asbytes=True)
    if zlib.crc32(content) != member.CRC:
        raise zipfile.BadZipFile
    return content


def _needed(sample: Any) -> Any:
    """Return the parts of a sample that are used; the rest, often images, is dropped at once."""
    if not isinstance(sample, dict):
        return sample
    item, name, swapped = (value_at(sample, f"metadata.{field}") for field in ("item", "id", "swapped"))
    own = isinstance(item, str) and isinstance(name, str) and _FINGERPRINT.fullmatch(item)
    name = name if own else sample.get("id")
    return {
        "id": str(name) if type(name) is int else name,
        "item": item if own else None,
        "prompt": _resolved(_prompt(sample.get("input")), sample),
        "reply": _resolved(_reply(sample.get("output")), sample),
        "swapped": swapped,
        "epoch": sample.get("epoch"),
    }


def _resolved(text: Any, sample: Any) -> Any:
    """Return a text, or the attachment that stands in its place."""
    if isinstance(text, str) and text.startswith(_ATTACHMENT):
        return value_at(sample.get("attachments"), text.removeprefix(_ATTACHMENT))
    return text


def _prompt(given: Any) -> Any:
    """Return the text of the input, or of its last message from the user."""
    if isinstance(given, str):
        return given
    messages = [message for message in given if isinstance(message, dict)] if isinstance(given, list) else []
    asked = [message.get("content") for message in messages if message.get("role") == "user"]
    return text_of(asked[-1]) if asked else None


def _reply(output: Any) -> Any:
    """Return the completion; "" for a sample without one, whose call failed."""
    completion = value_at(output, "completion")
    return completion if isinstance(completion, str) else reply_of({"response": output}) or ""


def document_records(value: dict[str, Any]) -> list[tuple[int, Any]]:
    """Return (number, sample) of a log that is one JSON document, epoch by epoch."""
    return _by_epoch(map(_needed, value["samples"]))


def _by_epoch(samples: Iterable[Any]) -> list[tuple[int, Any]]:
    """Return samples with their numbers; the first votes first, where a log has them as their replies came."""

    def epoch(numbered: tuple[int, Any]) -> int:
        sample = numbered[1]
        return sample["epoch"] if isinstance(sample, dict) and type(sample["epoch"]) is int else 0

    return sorted(enumerate(samples, 1), key=epoch)


def read(records: Iterable[FieldReader], parsed: ParsedFile) -> None:
    """Add the rows of a log."""
    for fields in records:
        record = fields.record
        text = fields.bounded(record["reply"], "output") if isinstance(record["reply"], str) else ""
        swapped, prompt = record["swapped"], record["prompt"]
        query, responses = (prompted(prompt) if isinstance(prompt, str) else None) or (None, None)
        if responses is None and type(swapped) is not bool:
            message = _("the sample states no order: use the official prompt, or put `swapped` into its metadata")
            fields.fault("input", "missing-field", message=message)
        if fields.ok:
            turned = 0 if responses else int(swapped)  # texts are as shown
            choice, key = flip(read_verdict(text, parsed.spec), turned), None if responses else record["item"]
            parsed.add(PredictionRow(fields.line, (choice,), (turned,), fields.id, query, responses, key), (text,))


INSPECT = PredictionFormat(
    key="inspect",
    tool="Inspect log",
    upload="the log as written",
    read=read,
    file={"one_vote_a_row": True, "text_field": "input", "reply_field": "output"},
)
