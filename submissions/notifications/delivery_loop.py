"""Loop of a process that collects notifications and sends them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Protocol

from storage.database_wait import log_away

INTERVAL_SECONDS = 5.0
_RELEASE_EVERY = 12  # rounds

log = logging.getLogger(__name__)


class Delivery(Protocol):
    """What collects messages and sends them; all methods block."""

    def collect(self) -> int: ...
    def send_due(self, stopped: Callable[[], bool] = ...) -> int: ...
    def release_expired(self) -> int: ...


async def run_delivery(delivery: Delivery, failed: str, *, stop: asyncio.Event) -> None:
    """Collect and send until `stop` is set; a step that fails is logged under the name `failed`."""
    rounds = 0
    while not stop.is_set():
        steps: list[Callable[[], int]] = [delivery.collect, partial(delivery.send_due, stop.is_set)]
        if rounds % _RELEASE_EVERY == 0:
            steps.insert(0, delivery.release_expired)
        for step in steps:
            try:
                await asyncio.to_thread(step)
            except Exception as error:  # of the database, say; the other steps go on, and the next round tries again
                if not log_away(error):
                    log.exception(failed)
        rounds += 1
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), INTERVAL_SECONDS)
