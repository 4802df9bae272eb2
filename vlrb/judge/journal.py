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
from dataclasses import asdict, astuple, dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

from vlrb.judge import JudgeError
from vlrb.judge.pairs import WHOLE_PAIR, RequestKey

JOURNAL = "journal.jsonl"
UNDECIDED = "undecided"  # the reason of a comparison that prefers neither


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens of one answer, as the endpoint counts them; None where it does not say."""

    prompt: int | None = None
    completion: int | None = None

    def plus(self, other: TokenUsage) -> TokenUsage:
        """Return both together."""
        pairs = zip(astuple(self), astuple(other), strict=True)
        return TokenUsage(*(None if one is two is None else (one or 0) + (two or 0) for one, two in pairs))


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """One answer or failure. A text, a score or a choice; `reason` says why a text is empty."""

    key: RequestKey
    swapped: bool
    text: str | None = None
    score: float | None = None
    choice: int | None = None  # preferred response in stored order, by a scorer that compares
    failed: bool = False
    reason: str = ""
    finish_reason: str | None = None
    usage: TokenUsage = field(default_factory=TokenUsage)
    seconds: float = 0.0
    attempts: int = 1

    @property
    def empty(self) -> bool:
        """Whether the model answered with nothing."""
        answered = self.failed or self.text or self.reason == UNDECIDED
        return not answered and self.score is None and self.choice is None

    def after(self, earlier: RecordedAnswer | None) -> RecordedAnswer:
        """Return the answer of a vote that was asked again: what the earlier line used stays counted."""
        if earlier is None:
            return self
        attempts, seconds = self.attempts + earlier.attempts, round(self.seconds + earlier.seconds, 3)
        return replace(self, attempts=attempts, seconds=seconds, usage=self.usage.plus(earlier.usage))

    def to_json(self) -> dict[str, Any]:
        """Return the journal line's object."""
        row, vote, response = self.key
        fields = asdict(self)
        del fields["key"]
        where = {"row": row, "vote": vote} | ({} if response == WHOLE_PAIR else {"response": response})
        return where | {name: value for name, value in fields.items() if value not in (None, "")}

    @classmethod
    def from_json(cls, line: Mapping[str, Any]) -> RecordedAnswer:
        """Return the answer of a journal line."""
        key = RequestKey(line["row"], line["vote"], response=line.get("response", WHOLE_PAIR))
        known = {name: line[name] for name in cls.__dataclass_fields__ if name in line and name not in ("key", "usage")}
        return cls(key, usage=TokenUsage(**line.get("usage", {})), **({"reason": ""} | known))


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
        _cut_torn_line(self._path)
        self.answers = read_journal(self._path)
        self._waiting: list[tuple[bytes, asyncio.Future[None]]] = []
        self._writing = False

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
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((_line(answer.to_json()), done))
        if not self._writing:
            await self._drain()
        await done
        self.answers[answer.key] = answer.after(self.answers.get(answer.key))

    async def _drain(self) -> None:
        self._writing = True
        try:
            while self._waiting:
                batch, self._waiting = self._waiting, []
                failure = await asyncio.shield(asyncio.to_thread(self._try_write, b"".join(line for line, _ in batch)))
                for _, done in batch:
                    if failure is not None and not done.done():
                        done.set_exception(failure)
                    elif not done.done():
                        done.set_result(None)
        finally:
            self._writing = False

    def _try_write(self, data: bytes) -> JudgeError | None:
        try:
            self._write(data)
        except OSError as error:
            return JudgeError(
                "The journal cannot be written ({reason}). Make room, then the same command continues.",
                reason=error.strerror,
            )
        return None

    def _write(self, data: bytes) -> None:
        self._file.write(data)
        self._file.flush()
        os.fsync(self._file.fileno())


def read_journal(path: Path) -> dict[RequestKey, RecordedAnswer]:
    """Return the answers of a journal; a torn last line is passed over.

    A later line of the same key replaces a failure or an empty answer, and no other.
    """
    answers: dict[RequestKey, RecordedAnswer] = {}
    if not path.exists():
        return answers
    with path.open("rb") as file:
        for line in _whole_lines(file, path):
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
    with path.open("rb") as file:
        spans = sorted(
            (line["time"] - line["seconds"], line["time"])
            for line in _whole_lines(file, path)
            if line.get("seconds") and "time" in line
        )
    total, until = 0.0, float("-inf")
    for start, end in spans:
        total += max(0.0, end - max(start, until))
        until = max(until, end)
    return round(total, 3)


def _whole_lines(file: BinaryIO, path: Path) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(file, 1):
        if not line.endswith(b"\n"):
            return
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict):
            raise JudgeError("{path}, line {number} is damaged. Remove the line.", path=path, number=number)
        yield record


def _cut_torn_line(path: Path) -> None:
    with path.open("r+b") as file:
        size = end = file.seek(0, os.SEEK_END)
        while end > 0:
            start = max(0, end - 65536)
            file.seek(start)
            result = file.read(end - start).rfind(b"\n")
            if result >= 0:
                end = start + result + 1
                break
            end = start
        if end != size:
            file.truncate(end)


def _line(record: Mapping[str, Any]) -> bytes:
    stamped = {**record, "time": round(time.time(), 3)}
    return json.dumps(stamped, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"
