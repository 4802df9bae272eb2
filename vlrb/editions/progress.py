"""Progress of long steps on standard error: a line that changes in a terminal, otherwise one line every ten seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TextIO, TypeVar

from vlrb.common.command_line import translated
from vlrb.common.messages import Message, _

T = TypeVar("T")
_FIRST = 1.0  # seconds; shorter steps say nothing
_EVERY = {True: 0.2, False: 10.0}  # in a terminal, elsewhere


def follow(steps: Iterable[T], what: Message, *, total: int | None = None, stream: TextIO | None = None) -> Iterator[T]:
    """Yield the steps, and show how many are done once they take longer than a second."""
    out = stream or sys.stderr
    live = out.isatty()
    began = time.monotonic()
    due, printed = began + _FIRST, False
    for number, step in enumerate(steps):
        now = time.monotonic()
        if now >= due:
            due, printed = now + _EVERY[live], True
            text = translated(describe(what, number, total=total, seconds=now - began))
            out.write(f"\r\x1b[K{text}" if live else f"{text}\n")
            out.flush()
        yield step
    if printed and live:
        out.write("\n")


def describe(what: Message, done: int, *, total: int | None, seconds: float) -> Message:
    """Return the state in words."""
    rate = done / seconds if seconds > 0 else 0.0
    if not total:
        return _("{what}: {done:,}, {rate:,.0f}/s", what=what, done=done, rate=rate)
    left = _(", {seconds:,.0f} s left", seconds=(total - done) / rate) if rate else ""
    return _(
        "{what}: {done:,} of {total:,} ({share:.0%}), {rate:,.0f}/s{left}",
        what=what, done=done, total=total, share=done / total, rate=rate, left=left,
    )  # fmt: skip
