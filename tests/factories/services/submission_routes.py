"""The routes for submitters over a real socket, and what is behind them."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
from fastapi import FastAPI

from storage.database import Database
from storage.models.core import Submission
from submissions import api
from submissions.activity import ActivityRules
from submissions.status import get_status
from tests.databases import new_database, with_labels
from tests.factories.services.service import PATIENCE
from tests.factories.services.serving import serving
from tests.factories.specs import spec_of
from tests.factories.submission_service import BENCHMARK, LIMIT, SubmissionSetup, make_setup, signed_in_as_everybody
from web.middleware.request_limits import RequestLimitsMiddleware
from web.server import HeaderTimeoutProtocol

PROBLEM = "application/problem+json"


@dataclass
class Served:
    """A running server and what is behind it."""

    http: httpx.Client
    port: int
    setup: SubmissionSetup
    database: Database

    def submit(self, data: bytes, name: str = "judge.jsonl", **form: str) -> httpx.Response:
        return self.http.post("/api/v1/submissions", files={"file": (name, data)}, data={"model": "Judge"} | form)

    def rows(self) -> int:
        with self.database.read() as session:
            return session.query(Submission).count()

    def attempts(self) -> int:
        """Return what counts against quotas."""
        with self.database.read() as session:
            return session.query(Submission).where(Submission.attempt.is_not(None)).count()

    def spooled(self) -> list[Path]:
        return list(self.setup.spool.folder.iterdir())

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)

    def raw(self, head: str, body: Callable[[socket.socket], None]) -> bytes:
        """Send bytes as they are, return what comes back."""
        with self.connect() as connection:
            connection.sendall(head.replace("\n", "\r\n").encode() + b"\r\n\r\n")
            with suppress(BrokenPipeError, ConnectionResetError):
                body(connection)
            return received(connection)


def received(connection: socket.socket) -> bytes:
    """Return all that comes until the other side closes."""
    answer = b""
    with suppress(ConnectionResetError):
        while chunk := connection.recv(65536):
            answer += chunk
    return answer


def submission_routes(folder: Path) -> tuple[SubmissionSetup, Database, FastAPI]:
    """Return the routes for submitters, with everything that they keep below a folder."""
    database = new_database(f"sqlite:///{folder}/leaderboard.db")
    with_labels(database, "r1", benchmark=BENCHMARK)
    setup = make_setup(database, folder)
    app = FastAPI()
    app.include_router(
        api.build(
            setup.intake,
            setup.spool,
            track=partial(get_status, database, spec_of(BENCHMARK)),
            database=database,
            rules=ActivityRules(spec_of(BENCHMARK)),
        )
    )
    return setup, database, app


@contextmanager
def served_from(folder: Path, patience: float = PATIENCE, *, header_seconds: float = PATIENCE) -> Iterator[Served]:
    """Provide the routes behind the request limits, with everything that they keep below a folder."""
    setup, database, app = submission_routes(folder)
    limits = RequestLimitsMiddleware(signed_in_as_everybody(app, database), LIMIT, patience=patience)
    connections = type("Connections", (HeaderTimeoutProtocol,), {"header_seconds": header_seconds})
    with serving(limits, http=connections, lifespan="off", log_config=None) as url:
        port = urlsplit(url).port
        assert port
        with httpx.Client(base_url=url, timeout=PATIENCE) as http:
            yield Served(http, port, setup=setup, database=database)
    database.close()


def problem_of(reply: httpx.Response, status_code: int, *, code: str) -> dict[str, Any]:
    """Return the body of a refusal of the kind expected."""
    assert reply.status_code == status_code, reply.text
    assert reply.headers["content-type"] == PROBLEM
    body: dict[str, Any] = reply.json()
    assert (body["status"], body["code"]) == (status_code, code)
    assert "Traceback" not in reply.text
    return body
