"""The MCP endpoint gives assistants what the REST API gives programs, and nothing more."""

from __future__ import annotations

import asyncio
import importlib.util
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client
from mcp.types import CallToolResult, Tool

from auth.limits.request_classes import rate_limit_class
from settings import Settings
from tests.factories.services.service import Service, running, until
from vlrb.benchmarks.spec import DEFAULT_BENCHMARK
from vlrb.benchmarks.spec_file import load_spec
from web.mcp.endpoint import McpEndpoint, serves_mcp
from web.mcp.tools import BadCall, ReadTool, read_tools

SPEC = load_spec(DEFAULT_BENCHMARK)
TOOLS = {tool.name: tool for tool in read_tools([SPEC])}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """The demo, whose labels are hidden but for the overall."""
    with running(tmp_path_factory.mktemp("mcp") / "data", HIDDEN_LABELS="demo:overall") as service:
        until(lambda: _settled(service), 180, what="the demo's judges are scored and compared")
        yield service


def _settled(service: Service) -> bool:
    """Return whether all six judges are scored and the board stands still, so that two requests see the same one."""
    before = service.http.get("/api/v1/leaderboard").json()["snapshot"]
    time.sleep(3)
    after = service.http.get("/api/v1/leaderboard").json()["snapshot"]
    return len(_scored(service)) >= 6 and before == after


def _scored(service: Service) -> list[str]:
    entries = service.http.get("/api/v1/leaderboard").json()["entries"]
    return [entry["id"] for entry in entries if entry["tier"] == "scored"]


def _use(service: Service, work: Callable[[Client], Any], *, mode: Any = "auto") -> Any:
    async def session() -> Any:
        async with Client(f"{service.url}/mcp", mode=mode) as client:
            return await work(client)

    return asyncio.run(session())


def _call(service: Service, tool: str, *, arguments: dict[str, Any], mode: Any = "auto") -> CallToolResult:
    result: CallToolResult = _use(service, lambda client: client.call_tool(tool, arguments), mode=mode)
    return result


def _sentence(result: CallToolResult) -> str:
    assert result.is_error
    return str(getattr(result.content[0], "text", ""))


def test_who_asks_while_the_service_stops_is_answered() -> None:
    async def ask() -> int:
        endpoint, stop = McpEndpoint([SPEC]), asyncio.Event()
        stop.set()
        await endpoint.run(stop)
        transport = httpx.ASGITransport(endpoint)
        async with httpx.AsyncClient(transport=transport, base_url="http://board.example") as client:
            reply = await asyncio.wait_for(client.post("/mcp", json={}), 5)
        return reply.status_code

    assert asyncio.run(ask()) == 503


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_clients_of_both_protocol_generations_find_tools_that_only_read(service: Service, mode: str) -> None:
    tools: list[Tool] = _use(service, lambda client: client.list_tools(), mode=mode).tools
    assert [tool.name for tool in tools] == ["leaderboard", "judge", "compare", "check_numbers", "policy"]
    assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools)


@pytest.mark.slow
def test_every_tool_returns_the_body_of_its_route_also_where_labels_are_hidden(service: Service) -> None:
    first, second = _scored(service)[:2]
    routes = {
        "/api/v1/leaderboard?limit=3&tier=scored&protocol=paper&sort=model:asc": (
            "leaderboard",
            {"limit": 3, "protocol": "paper", "sort": "model:asc"},
        ),
        f"/api/v1/entries/{first}": ("judge", {"entry": first}),
        f"/api/v1/compare?entries={first},{second}": ("compare", {"first": first, "second": second}),
        "/api/v1/check-numbers?overall=71.9": ("check_numbers", {"figures": {"overall": "71.9"}}),
        "/api/v1/policy": ("policy", {"benchmark": "demo"}),
    }
    for path, (tool, arguments) in routes.items():
        result = _call(service, tool, arguments=arguments)
        assert not result.is_error, result
        assert result.structured_content == service.http.get(path).json(), path


@pytest.mark.slow
def test_a_board_is_quoted_with_interval_rule_and_revision_and_hidden_figures_stay_hidden(service: Service) -> None:
    board: dict[str, Any] = _call(service, "leaderboard", arguments={"sort": "general"}).structured_content
    scored = board["entries"]
    assert {entry["tier"] for entry in scored} == {"scored"}, "reported rows do not stand before the first rank"
    assert board["protocol"] == "strict" and board["label_revision"] == "demo"
    assert all(entry["interval"]["overall"] for entry in scored)
    assert all(entry["general"] is None and entry["macro"] is None for entry in scored)
    usual = service.http.get("/api/v1/leaderboard?limit=20&tier=scored").json()["entries"]
    assert board["entries"] == usual, "an order by a hidden column would tell it"


@pytest.mark.slow
def test_a_judge_is_found_by_its_name_with_its_result_on_every_benchmark(service: Service) -> None:
    known = service.http.get("/api/v1/judges").json()["judges"][0]
    for text in (known["name"], known["judge"], known["name"][1:].upper()):
        found: dict[str, Any] = _call(service, "judge", arguments={"judge": text}).structured_content
        assert known in found["judges"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("leaderboard", {"protocol": "best"}, "protocol is one of strict, paper"),
        ("leaderboard", {"benchmark": "other"}, "benchmark is demo at this address, not 'other'."),
        ("leaderboard", {"sort": "labels"}, "sort is one of rank, model"),
        ("leaderboard", {"limit": 0}, "limit: Input should be greater than or equal to 1"),
        ("compare", {"first": "a", "second": "b"}, "There is no entry a, b. leaderboard lists the ids"),
        ("judge", {"judge": "nobody"}, "No judge is called 'nobody'. leaderboard lists the names."),
        ("entries", {}, "There is no tool 'entries'. The tools are leaderboard, judge"),
    ],
)
def test_an_error_is_a_sentence_that_names_what_to_send(
    service: Service, tool: str, arguments: dict[str, Any], expected: str
) -> None:
    assert expected in _sentence(_call(service, tool, arguments=arguments))


@pytest.mark.slow
def test_pages_of_other_sites_and_other_hosts_get_no_answer(service: Service) -> None:
    for header in ({"Origin": "https://evil.example"}, {"Host": "evil.example"}):
        assert service.http.post("/mcp", json={}, headers=header).status_code == 403
    chinese = {"Accept-Language": "zh-CN", "Accept": "application/json, text/event-stream"}
    assert service.http.post("/mcp", json={}, headers=chinese).status_code == 400, "one endpoint for all languages"
    refused = service.http.get("/mcp")
    assert refused.status_code == 405 and refused.headers["Allow"] == "POST"
    assert f"{service.url}/mcp" in httpx.get(f"{service.url}/llms.txt").text


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        (
            "leaderboard",
            {"order": "up"},
            "grouping, revision, as_of, sort, limit, cursor, not 'order'.",
        ),
        ("leaderboard", {"sort": ["a"]}, "sort is a text or a number, not list."),
        ("compare", {"first": "a"}, "compare needs second. Id of another entry"),
        ("judge", {}, "judge needs either judge (a name) or entry (an id)."),
        ("judge", {"entry": "../keys"}, "entry is an id, not '../keys'."),
        ("check_numbers", {"figures": {"best": 1}}, "figures has 'best', but the names are general"),
        ("check_numbers", {"figures": "71.9"}, "figures is an object of names and percentages."),
    ],
)
def test_wrong_arguments_are_refused_before_anything_is_asked(
    tool: str, arguments: dict[str, Any], expected: str
) -> None:
    with pytest.raises(BadCall) as error:
        _request(TOOLS[tool], arguments)
    assert expected in str(error.value)


def _request(tool: ReadTool, arguments: dict[str, Any]) -> Any:
    return tool.request(tool.check(arguments))


def test_arguments_become_parameters_of_the_route() -> None:
    board = _request(TOOLS["leaderboard"], {"benchmark": SPEC.id, "cursor": None, "protocol": "paper"})
    given = {"benchmark": SPEC.id, "protocol": "paper"}
    assert board == ("/api/v1/leaderboard", {"limit": "20", "tier": "scored", **given})


def test_a_part_of_many_names_asks_for_more_of_the_name() -> None:
    judges = [{"judge": f"judge-{n}", "name": f"Judge {n}"} for n in range(30)]
    with pytest.raises(BadCall, match="30 judges have 'judge' in their names"):
        TOOLS["judge"].answer({"judge": "judge"}, {"judges": judges})
    assert TOOLS["judge"].answer({"judge": "Judge 3"}, {"judges": judges})["judges"] == [judges[3]]


def test_calls_are_counted_apart_from_submissions() -> None:
    assert rate_limit_class({"type": "http", "method": "POST", "path": "/mcp"}) == "mcp"


def test_the_endpoint_can_be_switched_off_and_is_missing_without_its_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environ = {"DATA_DIR": str(tmp_path), "IDENTITY": "local"}
    assert serves_mcp(Settings.from_env(environ))
    assert not serves_mcp(Settings.from_env({**environ, "MCP": "off"}))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert not serves_mcp(Settings.from_env(environ))
