"""Progress of a run on standard error: a line that changes in a terminal, otherwise one line every half minute."""

from __future__ import annotations

import sys
import time
from typing import TextIO

from vlrb.common.command_line import translated
from vlrb.common.messages import Message, _, joined, ngettext
from vlrb.judge.texts import as_money
from vlrb.judge.totals import Prices, RunTotals


class ProgressLine:
    """Shows how far a run is."""

    def __init__(self, wanted: int, done: int, *, prices: Prices, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._wanted, self._start, self._prices = wanted, done, prices
        self._live = self._stream.isatty()
        self._began = time.monotonic()
        self._next = self._began + (0.0 if self._live else 30.0)

    def show(self, totals: RunTotals, in_flight: int) -> None:
        """Show the state if it is time to."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + (0.2 if self._live else 30.0)
        text = translated(self.line(totals, in_flight, seconds=now - self._began))
        self._stream.write(f"\r\x1b[K{text}" if self._live else f"{text}\n")
        self._stream.flush()

    def line(self, totals: RunTotals, in_flight: int, *, seconds: float) -> Message:
        """Return the state in words."""
        done = totals.answers + totals.failed
        rate = (done - self._start) / seconds if seconds > 0 else 0.0
        share = done / self._wanted
        parts: list[str] = [
            _("{done:,} of {wanted:,} ({share:.0%})", done=done, wanted=self._wanted, share=share),
            f"{rate:.1f}/s",
        ]
        parts += [_("{duration} left", duration=duration((self._wanted - done) / rate))] if rate else []
        parts += [ngettext("{n:,} token", "{n:,} tokens", totals.tokens)] if totals.tokens else []
        if self._prices != Prices():
            cost = self._prices.cost(totals.prompt_tokens, totals.completion_tokens)
            parts.append(_("cost {money}", money=as_money(cost)))
        parts += [_("{count:,} failed", count=totals.failed)] if totals.failed else []
        return joined([*parts, _("{count} in flight", count=in_flight)])

    def close(self) -> None:
        """End the line of a terminal."""
        if self._live:
            self._stream.write("\n")


def duration(seconds: float) -> Message:
    """Return a time in words: 1 h 05 min."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return _("{hours} h {minutes:02} min", hours=hours, minutes=minutes)
    return _("{minutes} min {rest:02} s", minutes=minutes, rest=rest) if minutes else _("{rest} s", rest=rest)
