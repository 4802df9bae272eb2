"""Calls of Gradio's functions by strangers with input that no page of ours would send."""

from __future__ import annotations

import json
import select
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Mount
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from tests.factories.services.service import Service, running
from web.middleware.gradio_allowlist import MOST_BYTES, GradioAllowlistMiddleware, file_paths_in, is_allowed

NAME = "a" * 64


def of(path: str) -> dict[str, Any]:
    """Return what Gradio takes for an uploaded file."""
    return {"path": path, "meta": {"_type": "gradio.FileData"}}


def attempts(path: str) -> Iterator[dict[str, Any]]:
    """Yield the bodies of calls that name a file."""
    for file in (of(path), {"path": path}, {**of("x"), "path": path, "url": "http://127.0.0.1:1/x", "is_stream": True}):
        yield {"data": [file]}
        yield {"data": ["", [{"deep": [file]}]]}
        yield {"data": [{"value": file, "__type__": "update"}]}
        yield {"file": file}


class Behind:
    """An application that says what reached it."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.bodies.append((await receive()).get("body", b""))
        await PlainTextResponse("reached")(scope, receive, send)


def opened(uploads: Path) -> tuple[TestClient, Behind]:
    behind, target = Behind(), GradioAllowlistMiddleware(uploads)
    target.attach(behind, {0, 7})
    return TestClient(Starlette(routes=[Mount("/app", target)])), behind


def test_a_file_in_a_call_is_one_that_was_uploaded(tmp_path: Path) -> None:
    client, behind = opened(tmp_path)
    good = f"{tmp_path}/{NAME}/votes.jsonl"
    for body in attempts(good):
        assert client.post("/app/gradio_api/queue/join", json=body).status_code == 200
        assert json.loads(behind.bodies.pop()) == body
    other: list[Any] = ["/etc/passwd", "/proc/self/environ", "x", "", f"{tmp_path}/leaderboard.db", None, 7, [good]]
    other += [f"/uploads/{NAME}/votes.jsonl"]
    other += [f"{tmp_path}/{NAME}/..", f"{tmp_path}/{NAME}/.", f"{tmp_path}/{NAME}/", f"{tmp_path}/{NAME}"]
    other += [f"{tmp_path}/../{NAME}/x", f"{tmp_path}/{NAME}/../../x", f"{tmp_path}/{NAME}/../x", f"{good}\0.png"]
    other += ["http://127.0.0.1:1/x.jsonl", "https://example.org/x", f"file://{good}", f"/{good}", f"{good}/../x"]
    for path in other:
        routes = ("queue/join", "cancel", "reset")
        for body in attempts(path):
            for route in routes if path == other[0] else routes[:1]:
                answer = client.post(f"/app/gradio_api/{route}", json=body)
                assert (answer.status_code, answer.json()["code"]) == (422, "not-uploaded"), (path, route)
    assert behind.bodies == []


def test_only_what_was_uploaded_is_handed_out(tmp_path: Path) -> None:
    client, behind = opened(tmp_path)
    assert client.get(f"/app/gradio_api/file={tmp_path}/{NAME}/votes.jsonl").status_code == 200
    for path in (
        "/etc/passwd",
        f"{tmp_path}/leaderboard.db",
        "https://example.org/",
        f"{tmp_path}/{NAME}/%2e%2e/x",
    ):
        assert client.get(f"/app/gradio_api/file={path}").status_code == 404
    assert len(behind.bodies) == 1


@pytest.mark.parametrize(
    "body",
    [
        b"[]",
        b"{",
        b"",
        '{"data": []}'.encode("utf-16"),  # Python's own reader guesses the encoding, and would see a path
        b"[" * 100_000,
        b'{"fn_index": 8}',
        b'{"fn_index": -1}',
        b'{"fn_index": true}',
        b'{"fn_index": "7"}',
        b'{"session_hash": "' + b"z" * 65 + b'"}',
        b'{"session_hash": ["s"]}',
        b'{"session_hash": ""}',
        b'{"session_hash": "a\\nb"}',
    ],
)
def test_a_call_that_no_page_makes_is_refused_with_a_code(tmp_path: Path, body: bytes) -> None:
    client, behind = opened(tmp_path)
    answer = client.post("/app/gradio_api/queue/join", content=body)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid-call")
    large = client.post("/app/gradio_api/queue/join", json={"data": ["x" * MOST_BYTES]})
    assert (large.status_code, large.json()["code"]) == (413, "too-large")
    assert behind.bodies == []


def test_the_search_for_files_needs_no_stack(tmp_path: Path) -> None:
    deep: Any = {"path": "/etc/passwd"}
    for _ in range(900):
        deep = [deep]
    assert list(file_paths_in({"data": deep})) == ["/etc/passwd"]


NOT_SERVED = [
    ("GET", "/monitoring"),
    ("GET", "/monitoring/summary"),
    ("GET", "/gradio_api/deep_link?session_hash=x"),
    ("POST", "/gradio_api/process_recording"),
    ("POST", "/gradio_api/component_server"),
    ("POST", "/gradio_api/run/check"),
    ("POST", "/gradio_api/call/check"),
    ("POST", "/gradio_api/api/check"),
    ("POST", "/gradio_api/stream/x"),
    ("POST", "/gradio_api/vibe-edit"),
    ("POST", "/gradio_api/run-history/connect"),
    ("GET", "/gradio_api/run-history/records"),
    ("GET", "/gradio_api/dev/reload"),
    ("GET", "/gradio_api/proxy=http://127.0.0.1:1"),
    ("GET", "/gradio_api/openapi.json"),
    ("GET", "/openapi.json"),
    ("POST", "/login"),
    ("GET", "/logout"),
    ("PUT", "/gradio_api/queue/join"),
    ("DELETE", "/gradio_api/upload"),
]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running(tmp_path_factory.mktemp("setup") / "data", gradio=True) as found:
        yield found


@pytest.mark.slow
def test_what_pages_do_not_need_of_gradio_is_not_there_and_leaves_nothing_behind(service: Service) -> None:
    before = set(Path(tempfile.gettempdir()).iterdir())
    for method, path in NOT_SERVED:
        assert not is_allowed(method, path.partition("?")[0]), path
        files = {"file": ("x.webm", b"x" * 1000)} if "recording" in path else None
        assert service.http.request(method, f"/app{path}", files=files).status_code in (404, 405), path
    left = [path for path in set(Path(tempfile.gettempdir()).iterdir()) - before if path.suffix == ".webm"]
    assert left == []


@pytest.mark.slow
def test_no_call_reads_a_file_of_the_service_or_an_address(service: Service, tmp_path: Path) -> None:
    data = next(iter(service.log_path.parent.rglob("labels.jsonl")))
    config = service.http.get("/app/config").json()
    with socket.create_server(("127.0.0.1", 0)) as heard:
        address = f"http://127.0.0.1:{heard.getsockname()[1]}/x.jsonl"
        for path in (str(data), "/proc/self/environ", "/etc/passwd", address):
            for one in config["dependencies"]:
                files = [of(path)] * (len(one["inputs"]) + 1)
                call = {"data": files, "fn_index": one["id"], "session_hash": "s"}
                answer = service.http.post("/app/gradio_api/queue/join", json=call)
                assert (answer.status_code, answer.json()["code"]) == (422, "not-uploaded")
        assert select.select([heard], [], [], 1.0)[0] == []
    assert not [path for path in data.parent.rglob("gradio/*/*") if path.name in ("labels.jsonl", "environ", "passwd")]
