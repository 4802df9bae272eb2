"""Progress of a run on standard error: a line that changes in a terminal, otherwise one line every half minute."""

from __future__ import annotations

import sys
import time
from typing import TextIO

from judge.texts import as_money
from judge.totals import Prices, RunTotals


class ProgressLine:
    """Shows how far a run is."""

    def __init__(self, wanted: int, done: int, prices: Prices, stream: TextIO | None = None) -> None:
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
        text = self.line(totals, in_flight, now - self._began)
        self._stream.write(f"\r\x1b[K{text}" if self._live else f"{text}\n")
        self._stream.flush()

    def line(self, totals: RunTotals, in_flight: int, seconds: float) -> str:
        """Return the state in words."""
        done = totals.answers + totals.failed
        rate = (done - self._start) / seconds if seconds > 0 else 0.0
        parts = [f"{done:,} of {self._wanted:,} ({done / self._wanted:.0%})", f"{rate:.1f}/s"]
        parts += [f"{duration((self._wanted - done) / rate)} left"] if rate else []
        parts += [f"{totals.tokens:,} tokens"] if totals.tokens else []
        if self._prices != Prices():
            parts.append(f"cost {as_money(self._prices.cost(totals.prompt_tokens, totals.completion_tokens))}")
        parts += [f"{totals.failed:,} failed"] if totals.failed else []
        return ", ".join([*parts, f"{in_flight} in flight"])

    def close(self) -> None:
        """End the line of a terminal."""
        if self._live:
            self._stream.write("\n")


def duration(seconds: float) -> str:
    """Return a time in words: 1 h 05 min."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
