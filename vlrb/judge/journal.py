"""The journal of a run: one JSON line an answer, on the disk before the next request takes its place.

A killed run leaves at most one torn line at the end; opening the journal cuts it off.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from vlrb.judge import JudgeError
from vlrb.judge.pairs import RequestKey

JOURNAL = "journal.jsonl"


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """One answer or failure: a text or a score; `reason` says why a text is empty. Tokens are None where the endpoint
    does not count them."""

    key: RequestKey
    swapped: bool
    text: str | None = None
    score: float | None = None
    failed: bool = False
    reason: str = ""
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    seconds: float = 0.0
    attempts: int = 1

    @property
    def empty(self) -> bool:
        """Whether the model answered with nothing."""
        return not (self.failed or self.text) and self.score is None

    def after(self, earlier: RecordedAnswer | None) -> RecordedAnswer:
        """Return the answer of a vote that was asked again: what the earlier line used stays counted."""
        if earlier is None:
            return self
        sums = {name: _sum(getattr(earlier, name), getattr(self, name)) for name in _USED}
        return replace(self, **sums)

    def to_json(self) -> dict[str, Any]:
        """Return the journal line's object."""
        fields = {name: getattr(self, name) for name in _FIELDS}
        return {**self.key._asdict(), **{name: value for name, value in fields.items() if value not in (None, "")}}

    @classmethod
    def from_json(cls, line: Mapping[str, Any]) -> RecordedAnswer:
        """Return the answer of a journal line."""
        key = RequestKey(*(line[name] for name in RequestKey._fields))
        return cls(key, **{name: line[name] for name in _FIELDS if name in line})


def _sum(first: float | None, second: float | None) -> Any:
    return None if first is second is None else round((first or 0) + (second or 0), 3)


_USED = ("prompt_tokens", "completion_tokens", "seconds", "attempts")
_FIELDS = tuple(field.name for field in fields(RecordedAnswer) if field.name != "key")


class Journal:
    """The journal of one directory, open for one process at a time."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / JOURNAL
        self._file = self._path.open("ab")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise JudgeError("Another process works on {folder}. Wait until it ends.", folder=folder) from None
        except OSError:
            pass  # a mounted bucket that knows no locks
        os.truncate(self._path, self._path.read_bytes().rfind(b"\n") + 1)  # a torn line
        self.answers = read_journal(self._path)
        self._waiting: list[bytes] = []
        self._writing = asyncio.Lock()
        self._fault: JudgeError | None = None

    def close(self) -> None:
        """Release the directory."""
        self._file.close()

    def open_of(self, keys: Iterable[RequestKey], *, failed: bool = False, empty: bool = False) -> list[RequestKey]:
        """Return the keys without an answer. `failed`, `empty`: also those of such answers."""
        known = {key: self.answers.get(key) for key in keys}
        return [
            key
            for key, answer in known.items()
            if answer is None or (failed and answer.failed) or (empty and answer.empty)
        ]

    async def record(self, answer: RecordedAnswer) -> None:
        """Record an answer without holding up others: those that come meanwhile share one flush."""
        self._waiting.append(_line(answer.to_json()))
        async with self._writing:
            batch, self._waiting = self._waiting, []
            if batch and self._fault is None:
                await asyncio.shield(asyncio.to_thread(self._write, b"".join(batch)))
            if self._fault is not None:
                raise self._fault
        self.answers[answer.key] = answer.after(self.answers.get(answer.key))

    def _write(self, data: bytes) -> None:
        try:
            self._file.write(data)
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            self._fault = JudgeError(
                "The journal cannot be written ({reason}). Make room, then the same command continues.",
                reason=error.strerror,
            )


def read_journal(path: Path) -> dict[RequestKey, RecordedAnswer]:
    """Return the answers of a journal; a torn last line is passed over.

    A later line of the same key replaces a failure or an empty answer, and no other.
    """
    answers: dict[RequestKey, RecordedAnswer] = {}
    for line in _whole_lines(path):
        try:
            answer = RecordedAnswer.from_json(line)
        except (KeyError, TypeError):
            raise JudgeError(
                "{path} holds a line that is damaged: {line}. Remove the line.", path=path, line=line
            ) from None
        known = answers.get(answer.key)
        if known is None or known.failed or known.empty:
            answers[answer.key] = answer.after(known)
    return answers


def busy_seconds(path: Path) -> float:
    """Return how long at least one request was in flight, over all starts of a run; 0 where no answer says."""
    timed = (line for line in _whole_lines(path) if line.get("seconds") and "time" in line)
    spans = sorted((line["time"] - line["seconds"], line["time"]) for line in timed)
    total, until = 0.0, float("-inf")
    for start, end in spans:
        total += max(0.0, end - max(start, until))
        until = max(until, end)
    return round(total, 3)


def _whole_lines(path: Path) -> Iterator[dict[str, Any]]:
    *lines, _torn = path.read_bytes().split(b"\n") if path.exists() else [b""]
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict):
            raise JudgeError("{path}, line {number} is damaged. Remove the line.", path=path, number=number)
        yield record


def _line(record: Mapping[str, Any]) -> bytes:
    stamped = {**record, "time": round(time.time(), 3)}
    return json.dumps(stamped, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"
