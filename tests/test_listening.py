"""The listening socket: small responses leave at once on a connection that is kept alive."""

from __future__ import annotations

import asyncio
import socket

import httpx
import pytest
from starlette.responses import PlainTextResponse

from settings import Settings
from tests.factories.services.serving import serving_on
from web.server import HeaderTimeoutProtocol, open_listener


def seen_by(listener: socket.socket) -> list[bool]:
    """Return whether TCP_NODELAY is on, for each connection that the server accepted; two requests share one."""
    seen = []

    class Watched(HeaderTimeoutProtocol):
        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            accepted = transport.get_extra_info("socket")
            seen.append(bool(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)))
            super().connection_made(transport)

    serve = serving_on(listener, PlainTextResponse("here"), http=Watched, lifespan="off")
    with serve as url, httpx.Client(base_url=url) as client:
        assert [client.get("/").text for _ in range(2)] == ["here", "here"]
    return seen


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_a_connection_that_is_kept_alive_does_not_wait_for_acknowledgements(host: str) -> None:
    listener = open_listener(Settings.from_env({"IDENTITY": "local", "HOST": host, "PORT": "0"}))
    assert listener.proto == socket.IPPROTO_TCP  # what asyncio looks at
    if host == "127.0.0.1":
        assert seen_by(listener) == [True]
    listener.close()
