"""HTTP server: the listening socket and uvicorn."""

from __future__ import annotations

import asyncio
import socket

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from settings import Settings
from vlrb.common.command_line import say
from web.app import create_app
from web.services import Services

_DEMO_NOTE = "  (demo benchmark; LABELS serves the real one, see README.md)"


class HeaderTimeoutProtocol(H11Protocol):
    """Closes a connection whose next request's header is not complete in time (slowloris), for which uvicorn has no
    setting. Bodies have a limit of their own."""

    header_seconds = 15.0

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the time limit of the first header."""
        super().connection_made(transport)
        self._look()

    def data_received(self, data: bytes) -> None:
        """Something of a header or a body."""
        super().data_received(data)
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is due any more."""
        self._forget()
        super().connection_lost(exc)

    def _look(self) -> None:
        at_work = self.cycle is not None and not self.cycle.response_complete
        if at_work:
            self._forget()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(self.header_seconds, self.transport.close)

    def _forget(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


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
            f"Port {settings.port} on {settings.host} cannot be used ({error.strerror}). Stop what uses it, "
            "or choose another: PORT=7861."
        ) from None
    return listener


async def serve(services: Services, listener: socket.socket) -> bool:
    """Serve until told to stop (True), or until the worker turns out to be configured wrongly (False)."""
    settings, configured = services.settings, True

    def on_misconfigured() -> None:
        nonlocal configured
        configured, server.should_exit = False, True

    config = uvicorn.Config(
        create_app(services, on_misconfigured=on_misconfigured),
        log_config=None,  # what uvicorn says goes where everything goes
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=2,
        lifespan="on",
        http=HeaderTimeoutProtocol,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=list(settings.trusted_proxies),
    )
    server = uvicorn.Server(config)
    note = _DEMO_NOTE if settings.is_demo else ""
    say(f"{settings.spec.brand} leaderboard: {_url(listener)}" + note, flush=True)
    await server.serve(sockets=[listener])
    return configured


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    name = {"0.0.0.0": "localhost", "::": "localhost"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104
    return f"http://{name}:{port}"
