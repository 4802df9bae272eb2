"""Watch over the replica: how far it is behind, as Litestream's socket says every few seconds."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import suppress

from operation.replication.litestream import Litestream
from operation.replication.replica import Replica
from operation.replication.replica_claim import ReplicaClaim
from operation.start import sqlite_path
from vlrb.common.messages import _

INTERVAL, PATIENCE = 5.0, 5.0  # seconds
BEHIND_SECONDS = 60.0  # before it is an alarm

log = logging.getLogger(__name__)


def replica_alarm(database_url: str, replica: Replica | None, *, patience: float = PATIENCE) -> str | None:
    """Return what is wrong with the replica now, for a command beside the service; None where all is in it."""
    path = sqlite_path(database_url)
    if replica is None or path is None:
        return None
    position = Litestream(path, replica).sync(patience)
    if position is None:
        return _("Litestream does not answer, so nothing is copied. Is the service running? See litestream in its log.")
    if position.covered:
        return None
    return _(
        "The replica is {count} transactions behind. Run: python -m maintenance doctor",
        count=position.here - position.replicated,
    )


class ReplicaWatch:
    """The last moment at which the replica had everything."""

    def __init__(
        self,
        litestream: Litestream,
        clock: Callable[[], float] = time.monotonic,
        *,
        claim: ReplicaClaim | None = None,
    ) -> None:
        """`claim`: of this process on the replica; None: nobody else is looked for."""
        self._litestream, self._clock, self._claim = litestream, clock, claim
        self.lost = False
        self._covered_at = clock()
        self.transactions_behind = 0

    @property
    def lag(self) -> float:
        """Seconds since the replica had everything; below a few seconds there is nothing to see."""
        return self._clock() - self._covered_at

    @property
    def alarm(self) -> str | None:
        """Return what is wrong and what to do; None while the replica keeps up."""
        if self.lost:
            return _(
                "REPLICA_URL no longer holds what this process wrote there: another process writes to it, "
                "or it was moved, emptied or unmounted. This process copies nothing any more. Stop the "
                "other one or bring the replica back, and start this one again."
            )
        if self.lag < BEHIND_SECONDS:
            return None
        return _(
            "The replica has been behind for {lag:.0f} s. What is submitted now would be lost with "
            "this disk. See litestream in the log, and run: python -m maintenance doctor",
            lag=self.lag,
        )

    def wait(self, timeout: float) -> bool:
        """Wait until the replica has every commit that was made before. False where it has not in time, or where it is
        not the one that this process has written to: a commit in another one does not outlive this disk.
        """
        return not self.lost and self._litestream.wait(timeout) and self._is_held()

    def _is_held(self) -> bool:
        if self._claim is None:
            return True
        try:
            if self._claim.known is None:
                self.look()  # nothing is claimed until the first look
            return self._claim.is_held()
        except Exception:  # of whatever store or database: nothing is confirmed
            log.exception("replica.unknown")
            return False

    def look(self) -> None:
        """Ask once."""
        head = self._claim.head() if self._claim is not None else None
        position = self._litestream.sync(PATIENCE)
        if position is not None:
            self.transactions_behind = max(0, position.here - position.replicated)
            if position.covered:
                self._covered_at = self._clock()
        if self._claim is not None and not self.lost:
            self.lost = self._claim.is_lost()
            if head is not None and position is not None and position.covered and not self.lost:
                self._claim.state(head)

    async def run(self, stop: asyncio.Event, end_copying: Callable[[], None] = lambda: None) -> None:
        """Ask every few seconds until `stop` is set; `end_copying` then, or when the replica is lost."""
        while not (stop.is_set() or self.lost):
            try:
                await asyncio.to_thread(self.look)
            except Exception:  # of whatever store or database: the lag shows it, and the next turn tries again
                log.exception("replica.unknown")
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), INTERVAL)
        if self.lost:
            log.error("replica.lost", extra={"data": {"reason": self.alarm}})
        end_copying()
