"""A scripted OpenAI-compatible server over real sockets, with faults on demand."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tests.factories.services.serving import serving

JUDGEMENT = "Reasons.\n\n**Overall Judgment:** Answer {} is better."


@dataclass
class Reply:
    """What the server sends: a JSON body, or raw bytes, perhaps late or cut off."""

    status: int = 200
    body: Any = None
    raw: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    after: float = 0.0
    cut: bool = False  # the connection ends before the body does


def completion(text: str | None, finish: str = "stop") -> Reply:
    """A chat completion with this text."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    head = {"id": "x", "object": "chat.completion", "created": 0, "model": "m"}
    return Reply(body={**head, "choices": [choice], "usage": usage})


def refusal(status: int, message: str, **more: Any) -> Reply:
    """An error as OpenAI writes it."""
    return Reply(status, {"error": {"message": message, "type": "invalid_request_error", **more}})


@dataclass
class ModelServer:
    """What was asked, and how to answer: `answer(path, body, number of the same question so far)`."""

    answer: Callable[[str, Any, int], Reply]
    url: str = ""
    get: Reply = field(default_factory=lambda: Reply(body={"data": []}))  # what a GET gets
    asked: list[tuple[str, Any, dict[str, str]]] = field(default_factory=list)
    seen: Counter[str] = field(default_factory=Counter)
    in_flight: int = 0
    most_in_flight: int = 0

    @property
    def bodies(self) -> list[Any]:
        """All bodies sent."""
        return [body for _, body, _ in self.asked]

    def question_count(self, body: Any) -> int:
        """How often the same text and image came before."""
        name = json.dumps([body.get("messages"), body.get("queries"), body.get("documents")])
        self.seen[name] += 1
        return self.seen[name] - 1

    async def reply(self, request: Request) -> Response:
        """Answer a request."""
        if request.method == "GET":
            return await _sent(self.get)
        body = await request.json()
        self.asked.append((request.url.path, body, dict(request.headers)))
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            return await _sent(self.answer(request.url.path, body, self.question_count(body)))
        finally:
            self.in_flight -= 1


async def _sent(reply: Reply) -> Response:
    await asyncio.sleep(reply.after)
    data = reply.raw if reply.raw is not None else json.dumps(reply.body).encode()
    headers = {"Content-Type": "application/json", "Content-Length": str(len(data)), **reply.headers}
    return Response(data[: len(data) // 2] if reply.cut else data, reply.status, headers)


@contextmanager
def serving_model(answer: Callable[[str, Any, int], Reply]) -> Iterator[ModelServer]:
    """Serve until the block ends."""
    model = ModelServer(answer)
    app = Starlette(routes=[Route("/{path:path}", model.reply, methods=["GET", "POST"])])
    with serving(app, log_level="critical", lifespan="off") as url:
        model.url = f"{url}/v1"
        yield model
