"""Calls of Gradio's functions by strangers with input that no page of ours would send."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Mount
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from web.middleware.gradio_allowlist import MOST_BYTES, GradioAllowlistMiddleware, file_paths_in

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
