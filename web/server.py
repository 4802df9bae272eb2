"""Listening socket of the web server."""

from __future__ import annotations

import socket

from settings import Settings


def open_listener(settings: Settings) -> socket.socket:
    """Return the socket to serve on, taken first: a second process fails here before it changes anything.

    Raises:
        OSError: with a sentence that says what to do.
    """
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # asyncio switches TCP_NODELAY on only where the socket says that it is TCP; without it every response on a
    # kept-alive connection waits for the delayed ACK of the one before.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host.strip("[]"), settings.port))
        listener.listen(2048)
    except OSError as error:
        raise OSError(
            f"Port {settings.port} on {settings.host} cannot be used ({error.strerror}). "
            "Stop what uses it, or choose another: PORT=7861."
        ) from None
    return listener


def url_of(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    name = {"0.0.0.0": "localhost", "::": "localhost"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104
    return f"http://{name}:{port}"
