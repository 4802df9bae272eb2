"""Work that takes a processor for up to a second, asked for by anybody: few at a time, and not too many waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")


class QueueFull(Exception):
    """Too many are waiting already."""


class SerialExecutor:
    """A queue for so many at once. The board is served meanwhile: the work is done in a thread."""

    def __init__(self, most_waiting: int = 20, at_once: int = 1) -> None:
        """``most_waiting``: further callers are refused; at a second each nobody would wait longer."""
        self._free = asyncio.Semaphore(at_once)
        self._most = most_waiting
        self._waiting = 0

    async def take(self, work: Callable[[Asked], Answer], asked: Asked) -> Answer:
        """Do the work when it is our turn.

        Raises:
            QueueFull: too many others wait.
        """
        if self._waiting >= self._most:
            raise QueueFull
        self._waiting += 1
        try:
            async with self._free:
                return await asyncio.to_thread(work, asked)
        finally:
            self._waiting -= 1
