"""Free ports of this machine, and applications on them, in a thread of the tests."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn


@contextmanager
def held_port() -> Iterator[int]:
    """Provide a port of loopback for a process that has to be told its number before it starts.

    It stays bound here, without listening, so that no other process is given it; who asks for it by number, and sets
    SO_REUSEADDR as servers do, gets it. Until then connections are refused.
    """
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind(("127.0.0.1", 0))
        yield holder.getsockname()[1]


@contextmanager
def serving(app: Any, **options: Any) -> Iterator[str]:
    """Run an ASGI application on a free port of loopback; yields its address. `options`: of uvicorn's Config."""
    listener = socket.socket(proto=socket.IPPROTO_TCP)  # as web.server does: else an answer waits 40 ms
    listener.bind(("127.0.0.1", 0))
    with serving_on(listener, app, **options) as url:
        yield url


@contextmanager
def serving_on(listener: socket.socket, app: Any, **options: Any) -> Iterator[str]:
    """As `serving`, on a socket that is bound already."""
    server = uvicorn.Server(uvicorn.Config(app, **{"log_level": "error", "access_log": False, **options}))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive(), "the server did not start"
            time.sleep(0.005)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(10)
        listener.close()
