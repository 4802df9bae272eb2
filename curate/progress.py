"""Progress of long steps on standard error: a line that changes in a terminal, otherwise one line every ten seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TextIO, TypeVar

T = TypeVar("T")
_FIRST = 1.0  # seconds; shorter steps say nothing
_EVERY = {True: 0.2, False: 10.0}  # in a terminal, elsewhere


def follow(steps: Iterable[T], what: str, *, total: int | None = None, stream: TextIO | None = None) -> Iterator[T]:
    """Yield the steps, and show how many are done once they take longer than a second."""
    out = stream or sys.stderr
    live = out.isatty()
    began = time.monotonic()
    due, shown = began + _FIRST, False
    for number, step in enumerate(steps):
        now = time.monotonic()
        if now >= due:
            due, shown = now + _EVERY[live], True
            text = describe(what, number, total, now - began)
            out.write(f"\r\x1b[K{text}" if live else f"{text}\n")
            out.flush()
        yield step
    if shown and live:
        out.write("\n")


def describe(what: str, done: int, total: int | None, seconds: float) -> str:
    """Return the state in words."""
    rate = done / seconds if seconds > 0 else 0.0
    if not total:
        return f"{what}: {done:,}, {rate:,.0f}/s"
    left = f", {(total - done) / rate:,.0f} s left" if rate else ""
    return f"{what}: {done:,} of {total:,} ({done / total:.0%}), {rate:,.0f}/s{left}"
