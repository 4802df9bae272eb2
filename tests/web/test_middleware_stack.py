"""The order of the middleware, for each kind of service."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.responses import Response
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from receipts.jws import Signer
from settings import Settings
from storage.database import Database
from tests.databases import new_database
from web.middleware.head_requests import HeadMiddleware
from web.middleware_stack import middleware
from web.services import build_services

SIGN_IN = {"OIDC_CLIENT_ID": "id", "SESSION_SECRET": "Qm8fXo2nT4sVb7Zc1Kd9Lw3Rj6Hy5Gp0AeUiBtNx"}
PUBLIC = {"PUBLIC_URL": "https://board.example", **SIGN_IN}
INNER = ["SubmissionBenchmarkMiddleware", "IdentityMiddleware"]
OUTER = [
    "SecurityHeadersMiddleware",
    "LanguageMiddleware",
    "BoardFastPathMiddleware",
    "ProblemPagesMiddleware",
    "BenchmarkMiddleware",
    "HeadMiddleware",
    "RequestMetricsMiddleware",
    "RequestLimitsMiddleware",
    "LeftClientsMiddleware",
]
LIMITED = [*OUTER, "RateLimitMiddleware", *INNER, "RateLimitMiddleware"]


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = new_database(f"sqlite:///{tmp_path}/leaderboard.db")
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({**PUBLIC, "REQUESTS_PER_MINUTE": "60"}, LIMITED),
        ({**PUBLIC, "REQUESTS_PER_MINUTE": "0"}, [*OUTER, *INNER]),
        ({"IDENTITY": "local", "REQUESTS_PER_MINUTE": "60"}, [*OUTER, *INNER]),
    ],
    ids=["public", "public, without rate limits", "local"],
)
def test_requests_pass_the_middleware_in_this_order(
    tmp_path: Path, database: Database, environ: dict[str, str], expected: list[str]
) -> None:
    settings = Settings.from_env({"DATA_DIR": str(tmp_path), "LABELS": "v2=/labels.jsonl", **environ})
    signer = Signer.parse(base64.b64encode(bytes(range(32))).decode())
    stack = middleware(settings, build_services(settings, database, signer=signer))
    assert [layer.cls.__name__ for layer in stack] == expected  # type: ignore[attr-defined]


def test_a_head_of_the_api_is_that_of_its_answer() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await Response(scope["method"])(scope, receive, send)

    client = TestClient(HeadMiddleware(app))
    assert client.head("/api/v1/leaderboard").headers["content-length"] == "3"
    assert client.head("/about").headers["content-length"] == "4"
