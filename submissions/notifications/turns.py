"""Turns of a process that sends notifications."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

TURN_SECONDS = 5.0
_RELEASE_EVERY = 12  # turns

log = logging.getLogger(__name__)


class Delivery(Protocol):
    """What collects messages and sends them; all methods block."""

    def collect(self) -> int: ...
    def send_due(self, stopped: Callable[[], bool] = ...) -> int: ...
    def release_expired(self) -> int: ...


async def run_turns(delivery: Delivery, failed: str, stop: asyncio.Event) -> None:
    """Collect and send until told to stop; a turn that fails is logged under the name `failed`."""
    turn = 0
    while not stop.is_set():
        try:
            if turn % _RELEASE_EVERY == 0:
                await asyncio.to_thread(delivery.release_expired)
            await asyncio.to_thread(delivery.collect)
            await asyncio.to_thread(delivery.send_due, stop.is_set)
        except Exception:  # of the database; the next turn tries again
            log.exception(failed)
        turn += 1
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), TURN_SECONDS)
