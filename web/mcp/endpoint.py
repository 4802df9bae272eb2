"""Route ``POST /mcp``. The MCP library is imported at the first request, and the REST API is called in this process."""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import httpx
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from auth.problem_details import problem
from settings import Settings
from vlrb.benchmarks.spec import BenchmarkSpec
from web.mcp.tools import ApiRequest, read_tools

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

PATH = "/mcp"
_HERE = "http://localhost"  # no request leaves the process
_ONLY_POST = "This address is for MCP clients, which send POST. See /docs for the REST API."
_UNAVAILABLE = "The MCP endpoint cannot be used at the moment. The REST API has the same answers: see /docs."
_MEDIA = {"Accept": "application/json", "Accept-Encoding": "identity"}


def serves_mcp(settings: Settings) -> bool:
    """Return whether there is an endpoint: it is switched on, and the MCP library is installed."""
    return settings.mcp and importlib.util.find_spec("mcp") is not None


class McpEndpoint:
    """ASGI: the MCP server, started by the first request inside of ``run``."""

    def __init__(self, specs: Sequence[BenchmarkSpec]) -> None:
        self._specs = tuple(specs)
        self._wanted, self._started = asyncio.Event(), asyncio.Event()
        self._server: ASGIApp | None = None
        self._api: ASGIApp | None = None

    def attach(self, api: ASGIApp) -> None:
        """Name the application that answers the tools: the REST API, inside of every limit."""
        self._api = api

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["method"] == "POST":
            self._wanted.set()
            await self._started.wait()
        refused = self._refusal(scope["method"])
        await (refused or self._server or problem(503, "mcp-unavailable", detail=_UNAVAILABLE))(scope, receive, send)

    def _refusal(self, method: str) -> Response | None:
        """Return the answer to a method that no client of ours needs: nothing here lasts longer than a request."""
        if method == "POST":
            return None
        refused = problem(405, "method-not-allowed", detail=_ONLY_POST)
        refused.headers["Allow"] = "POST"
        return refused

    async def run(self, stop: asyncio.Event) -> None:
        """Serve from the first request until told to stop."""
        waiting = [asyncio.create_task(event.wait()) for event in (self._wanted, stop)]
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        for task in waiting:
            task.cancel()
        try:
            if not stop.is_set():
                await self._serve(stop)
        finally:
            self._server = None
            self._started.set()  # who waits is answered, whatever happened

    async def _serve(self, stop: asyncio.Event) -> None:
        manager = await asyncio.to_thread(self._build)
        async with manager.run():
            self._server = manager.handle_request
            self._started.set()
            await stop.wait()

    def _build(self) -> StreamableHTTPSessionManager:
        from web.mcp.server import build_manager  # imports the library: a second or two

        return build_manager(read_tools(self._specs), self._call, brand=self._specs[0].brand)

    async def _call(self, request: ApiRequest) -> tuple[int, Any]:
        """Return status and body of the REST API's answer."""
        assert self._api is not None
        transport = httpx.ASGITransport(self._api, raise_app_exceptions=False)
        client = httpx.AsyncClient(transport=transport, base_url=_HERE, headers=_MEDIA, trust_env=False)
        response = await client.get(request.path, params=dict(request.parameters))
        kind = response.headers.get("content-type", "")
        return response.status_code, response.json() if "json" in kind else None
