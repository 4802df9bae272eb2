"""Watch over the replica: how far it is behind, as Litestream's socket says every few seconds."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import suppress

from operation.litestream import Litestream
from operation.replica import Replica
from operation.replica_claim import ReplicaClaim
from operation.start import sqlite_path

INTERVAL, PATIENCE = 5.0, 5.0  # seconds
BEHIND_SECONDS = 60.0  # before it is an alarm

log = logging.getLogger(__name__)


def replica_alarm(database_url: str, replica: Replica | None, patience: float = PATIENCE) -> str | None:
    """Return what is wrong with the replica now, for a command beside the service; None where all is in it."""
    path = sqlite_path(database_url)
    if replica is None or path is None:
        return None
    position = Litestream(path, replica).sync(patience)
    if position is None:
        return "Litestream does not answer, so nothing is copied. Is the service running? See litestream in its log."
    if position.covered:
        return None
    return (
        f"The replica is {position.here - position.replicated} transactions behind. Run: python -m maintenance doctor"
    )


class ReplicaWatch:
    """The last moment at which the replica had everything."""

    def __init__(
        self,
        litestream: Litestream,
        clock: Callable[[], float] = time.monotonic,
        claim: ReplicaClaim | None = None,
    ) -> None:
        """`claim`: of this process on the replica; None: nobody else is looked for."""
        self._litestream, self._clock, self._claim = litestream, clock, claim
        self.taken_over = False
        self._covered_at = clock()
        self.transactions_behind = 0

    @property
    def lag(self) -> float:
        """Seconds since the replica had everything; below a few seconds there is nothing to see."""
        return self._clock() - self._covered_at

    @property
    def alarm(self) -> str | None:
        """Return what is wrong and what to do; None while the replica keeps up."""
        if self.taken_over:
            return (
                "Another process writes to REPLICA_URL: two services share it, or this one was started twice. This one "
                "copies nothing any more. Stop one of them, give each its own REPLICA_URL, and start this one again."
            )
        if self.lag < BEHIND_SECONDS:
            return None
        return (
            f"The replica has been behind for {self.lag:.0f} s. What is submitted now would be lost with this disk. "
            "See litestream in the log, and run: python -m maintenance doctor"
        )

    def look(self) -> None:
        """Ask once."""
        head = self._claim.head() if self._claim is not None else None
        position = self._litestream.sync(PATIENCE)
        if position is not None:
            self.transactions_behind = max(0, position.here - position.replicated)
            if position.covered:
                self._covered_at = self._clock()
        if self._claim is not None and not self.taken_over:
            self.taken_over = self._claim.is_taken()
            if head is not None and position is not None and position.covered and not self.taken_over:
                self._claim.state(head)

    async def run(self, stop: asyncio.Event, end_copying: Callable[[], None] = lambda: None) -> None:
        """Ask every few seconds until `stop` is set; `end_copying` then, or when another process has taken over."""
        while not (stop.is_set() or self.taken_over):
            try:
                await asyncio.to_thread(self.look)
            except Exception:  # of whatever store or database: the lag shows it, and the next turn tries again
                log.exception("replica.unknown")
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), INTERVAL)
        if self.taken_over:
            log.error("replica.taken_over", extra={"data": {"reason": self.alarm}})
        end_copying()
