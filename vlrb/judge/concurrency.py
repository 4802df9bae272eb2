"""Adaptive limit of requests in flight: it grows while calls succeed and halves after a refusal for load."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

_START = 8
_BETWEEN_CUTS = 1.0  # seconds; refusals of one moment count once


class AdaptiveConcurrency:
    """Additive increase, multiplicative decrease, between 1 and `most`."""

    def __init__(self, most: int, stop: asyncio.Event) -> None:
        self.most = most
        self._stop = stop  # nobody waits for a pause any more once it is set
        self.allowed = min(most, _START)
        self.running = 0
        self._successes = 0
        self._cut_at = float("-inf")
        self._open_at = 0.0
        self._slow_start = True
        self._changed = asyncio.Condition()

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Wait until a request may start; it counts as in flight inside."""
        await self._wait()
        try:
            yield
        finally:
            self.running -= 1
            async with self._changed:
                self._changed.notify_all()

    async def _wait(self) -> None:
        while True:
            if (pause := self._open_at - time.monotonic()) > 0 and not self._stop.is_set():
                await asyncio.sleep(min(pause, 0.5))
                continue
            async with self._changed:
                if self.running < self.allowed:
                    self.running += 1
                    return
                await self._changed.wait()

    def succeeded(self) -> None:
        """Count an answer: as many as are allowed raise the limit by one, at the start each does."""
        self._successes += 1
        if self._slow_start or self._successes >= self.allowed:
            self._successes = 0
            self.allowed = min(self.most, self.allowed + 1)

    def throttled(self, retry_after: float | None) -> None:
        """Halve the limit, and start nothing before the endpoint's time has passed."""
        now = time.monotonic()
        self._open_at = max(self._open_at, now + (retry_after or 0.0))
        self._slow_start = False
        if now - self._cut_at > _BETWEEN_CUTS:
            self._cut_at, self._successes = now, 0
            self.allowed = max(1, self.allowed // 2)
