"""One event loop for all of Starlette's test clients in a process: each request would start one, and a thread."""

from __future__ import annotations

import atexit
import os
from contextlib import ExitStack
from functools import cache

from anyio.from_thread import BlockingPortal, start_blocking_portal
from starlette.testclient import TestClient

_RUNNING = ExitStack()
atexit.register(_RUNNING.close)  # later, an interpreter that ends would wait for a thread that no longer runs


class _SharedPortal:
    """Attribute of a class; a client that is a context manager sets one of its own, and None at its end."""

    def __get__(self, client: object, owner: type) -> BlockingPortal:
        return _portal(os.getpid())


def share_event_loop() -> None:
    """Give every client of this process the same loop."""
    TestClient.portal = _SharedPortal()  # type: ignore[assignment]


@cache  # a forked process has no thread of its parent
def _portal(process: int) -> BlockingPortal:
    return _RUNNING.enter_context(start_blocking_portal())
