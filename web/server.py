"""HTTP server: the listening socket and uvicorn."""

from __future__ import annotations

import socket

import uvicorn

from settings import Settings
from vlrb.common.command_line import say
from web.app import create_app
from web.middleware.header_timeout import HeaderTimeoutProtocol
from web.services import Services

_DEMO_NOTE = "  (demo benchmark; LABELS serves the real one, see README.md)"


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


async def serve(settings: Settings, services: Services, *, listener: socket.socket) -> bool:
    """Serve until told to stop (True), or until the worker turns out to be configured wrongly (False)."""
    configured = True

    def on_misconfigured() -> None:
        nonlocal configured
        configured, server.should_exit = False, True

    config = uvicorn.Config(
        create_app(settings, services, on_misconfigured=on_misconfigured),
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
