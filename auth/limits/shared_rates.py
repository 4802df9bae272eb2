"""Rate limits that several web processes on one PostgreSQL count together, within a second."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress

from auth.crypto import KeyRing
from auth.limits.rate_limit import RateLimiter
from storage.database import UNAVAILABLE, Database
from storage.limits import shared_usage

EXCHANGE_SECONDS = 1.0

log = logging.getLogger(__name__)


class SharedRates:
    """The limiters of this process. Each counts for itself; what it counted goes to the others every second.

    Places are keyed, so that the database holds no address. While the database is away, each process counts alone.
    """

    def __init__(self, database: Database, seal: KeyRing) -> None:
        self._database, self._seal = database, seal
        self._limiters: dict[str, RateLimiter] = {}

    def add(self, name: str, limiter: RateLimiter) -> None:
        """Share a limiter with those of the same name in other processes."""
        self._limiters[name] = limiter
        limiter.shared = True

    def exchange(self) -> None:
        """Tell what was counted here since the last time, and take over what all have counted."""
        used = {
            self._seal.keyed("rates", f"{name} {place}"): (limiter, place, seconds)
            for name, limiter in self._limiters.items()
            for place, seconds in limiter.take_used().items()
        }
        if used:
            known = shared_usage.exchange(self._database, {key: rate[2] for key, rate in sorted(used.items())})
            for key, ahead in known.items():
                limiter, place, _ = used[key]
                limiter.advance(place, ahead)

    async def run(self, stop: asyncio.Event) -> None:
        """Exchange every second until told to stop."""
        while not stop.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), EXCHANGE_SECONDS)
            try:
                await asyncio.to_thread(self.exchange)
            except UNAVAILABLE as error:
                log.warning("rates.not_shared", extra={"data": {"reason": type(error).__name__}})
