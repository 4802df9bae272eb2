"""Work for clients that ask for much or have left, over real sockets: another's is done at once."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from leaderboard.site.serial_executor import SerialExecutor
from tests.factories.services.service import until
from tests.factories.services.serving import serving
from web.middleware.request_limits import LeftClientsMiddleware

LONG, CLIENTS = 0.4, 12  # seconds that an export takes, and those who ask for one and perhaps hang up
CROWD, OTHER = "127.0.0.2", "127.0.0.3"


@pytest.fixture
def made() -> list[str]:
    """What was exported, in order."""
    return []


@pytest.fixture
def url(made: list[str]) -> Iterator[str]:
    executor = SerialExecutor()

    def export(name: str) -> str:
        made.append(name)
        time.sleep(LONG)
        return name

    async def answer(request: Request) -> PlainTextResponse:
        return PlainTextResponse(await executor.take(export, request.path_params["name"]))

    with serving(LeftClientsMiddleware(Starlette(routes=[Route("/export/{name}", answer)]))) as address:
        yield address


def ask(url: str, name: str, *, at: str) -> socket.socket:
    host, port = url.removeprefix("http://").split(":")
    connection = socket.create_connection((host, int(port)), source_address=(at, 0))
    connection.sendall(f"GET /export/{name} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    return connection


def seconds_of_other(url: str) -> float:
    """Return how long another client waits for its export."""
    with httpx.Client(transport=httpx.HTTPTransport(local_address=OTHER)) as client:
        started = time.monotonic()
        assert client.get(f"{url}/export/other").text == "other"
        return time.monotonic() - started


def test_exports_of_clients_that_left_are_not_made(url: str, made: list[str]) -> None:
    crowd = [ask(url, f"left-{number}", at=CROWD) for number in range(CLIENTS)]
    until(lambda: bool(made), 10, what="the first one begins")
    for connection in crowd:
        connection.close()
    assert seconds_of_other(url) < 2 * LONG
    time.sleep(2 * LONG)
    assert made == ["left-0", "other"]


def test_clients_that_stay_have_one_place_an_address(url: str, made: list[str]) -> None:
    crowd = [ask(url, f"stays-{number}", at=CROWD) for number in range(CLIENTS)]
    until(lambda: bool(made), 10, what="the first one begins")
    assert seconds_of_other(url) < 2 * LONG
    for connection in crowd:
        assert connection.recv(1000).startswith(b"HTTP/1.1 200")
        connection.close()
    assert len(made) == CLIENTS + 1


def test_no_figure_is_drawn_while_another_thread_imports_pandas() -> None:
    """Plotly takes half a pandas out of sys.modules; Gradio imports it with the first visit to its page."""
    code = """if True:
        import asyncio, importlib, sys, threading
        import plotly.graph_objects as go
        from leaderboard.site.serial_executor import SerialExecutor

        async def draw(executor=SerialExecutor()):
            importing = threading.Thread(target=importlib.import_module, args=("pandas",))
            importing.start()
            while importing.is_alive():
                await executor.take(lambda x: go.Scatter(x=x), [1.0, 2.0])

        assert "pandas" not in sys.modules
        asyncio.run(draw())
    """
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert ran.returncode == 0, ran.stderr
