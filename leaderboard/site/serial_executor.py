"""Work that takes a processor for up to a second, asked for by anybody: few at a time, and a share for each client."""

from __future__ import annotations

import asyncio
import importlib
import sys
from collections.abc import Callable
from contextvars import ContextVar
from functools import partial
from typing import TypeVar
from weakref import WeakValueDictionary

from anyio import CapacityLimiter, to_thread

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")

CLIENT: ContextVar[str] = ContextVar("client", default="")
"""The address that the current request comes from."""


class QueueFull(Exception):
    """Too many are waiting already."""


class SerialExecutor:
    """A queue for so many at once, one of them for each client. The work is done in a thread; of a request that is
    cancelled, what has not begun is dropped."""

    def __init__(self, most_waiting: int = 64, at_once: int = 2) -> None:
        """``most_waiting``: further callers are refused; at a second each nobody would wait longer."""
        self._free = CapacityLimiter(at_once)
        self._shares: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
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
            async with self._shares.setdefault(CLIENT.get(), asyncio.Lock()):
                return await to_thread.run_sync(partial(_do, work), asked, limiter=self._free)
        finally:
            self._waiting -= 1


def _do(work: Callable[[Asked], Answer], asked: Asked) -> Answer:
    """Do the work once no other thread is importing pandas: Plotly takes it from sys.modules as soon as it is there,
    and fails on a half. Gradio imports it with the first visit to its page, an export with the first file."""
    if "pandas" in sys.modules:
        importlib.import_module("pandas")
    return work(asked)
