"""A scripted OpenAI-compatible server over real sockets, with faults on demand."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

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
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def bodies(self) -> list[Any]:
        """All bodies sent."""
        return [body for _, body, _ in self.asked]

    def question_count(self, body: Any) -> int:
        """How often the same text and image came before."""
        with self.lock:
            name = json.dumps([body.get("messages"), body.get("queries"), body.get("documents")])
            self.seen[name] += 1
            return self.seen[name] - 1


@contextmanager
def serving_model(answer: Callable[[str, Any, int], Reply]) -> Iterator[ModelServer]:
    """Serve until the block ends."""
    model = ModelServer(answer)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        server_model: ClassVar[ModelServer] = model

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

        def do_GET(self) -> None:
            self._send(model.get)

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with model.lock:
                model.asked.append((self.path, body, {name.lower(): value for name, value in self.headers.items()}))
                model.in_flight += 1
                model.most_in_flight = max(model.most_in_flight, model.in_flight)
            try:
                self._send(model.answer(self.path, body, model.question_count(body)))
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True
            finally:
                with model.lock:
                    model.in_flight -= 1

        def _send(self, reply: Reply) -> None:
            time.sleep(reply.after)
            data = reply.raw if reply.raw is not None else json.dumps(reply.body).encode()
            self.send_response(reply.status)
            for name, value in {"Content-Type": "application/json", **reply.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data[: len(data) // 2] if reply.cut else data)
            if reply.cut:
                self.close_connection = True

    class QuietServer(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 128

        def handle_error(self, *_: Any) -> None:
            """A client that was killed is no error."""

        def server_bind(self) -> None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            super().server_bind()

    server = QuietServer(("127.0.0.1", 0), Handler)
    model.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
