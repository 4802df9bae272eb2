"""Addresses of several benchmarks: a prefix, a parameter or the id of a submission picks the benchmark."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from starlette.responses import JSONResponse
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from auth.limits.rate_limit import RateLimitMiddleware, address_of
from web.benchmarks import BenchmarkDispatch, BenchmarkMiddleware, SubmissionBenchmarkMiddleware

IDS = ("first", "second")


async def _main(scope: Scope, receive: Receive, send: Send) -> None:
    await JSONResponse(["main", scope["path"]])(scope, receive, send)


async def _second(scope: Scope, receive: Receive, send: Send) -> None:
    await JSONResponse(["second", scope["path"]])(scope, receive, send)


@pytest.fixture
def client() -> TestClient:
    app = BenchmarkDispatch(_main, {"second": _second})
    known = {"e2": "second", "e1": "first", "gone": "removed-benchmark"}
    inner = SubmissionBenchmarkMiddleware(app, IDS, benchmark_of=known.get)
    return TestClient(BenchmarkMiddleware(inner, IDS), follow_redirects=False)


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("/", ["main", "/"]),
        ("/b/second/", ["second", "/"]),
        ("/b/second/entries/e2", ["second", "/entries/e2"]),
        ("/b/second/api/v1/check", ["second", "/api/v1/check"]),
        ("/b/third/", ["main", "/b/third/"]),
        ("/about?benchmark=second", ["main", "/about"]),
        ("/api/v1/leaderboard?benchmark=second", ["second", "/api/v1/leaderboard"]),
        ("/export/board.csv?benchmark=second", ["second", "/export/board.csv"]),
        ("/export/cite.bib?benchmark=first", ["main", "/export/cite.bib"]),
        ("/feed.xml?benchmark=second", ["second", "/feed.xml"]),
        ("/check-numbers?benchmark=second", ["second", "/check-numbers"]),
        ("/b/second/export/board.csv?benchmark=second", ["second", "/export/board.csv"]),
        ("/api/v1/leaderboard?benchmark=first", ["main", "/api/v1/leaderboard"]),
        ("/api/v1/leaderboard?sort=benchmark=second", ["main", "/api/v1/leaderboard"]),
        ("/api/v1/entries/e2", ["second", "/api/v1/entries/e2"]),
        ("/api/v1/submissions/e2/receipt", ["second", "/api/v1/submissions/e2/receipt"]),
        ("/account/submissions/e2", ["second", "/account/submissions/e2"]),
        ("/api/v1/entries/e1", ["main", "/api/v1/entries/e1"]),
        ("/api/v1/entries/e1?benchmark=second", ["main", "/api/v1/entries/e1"]),
        ("/api/v1/entries/e2?benchmark=first", ["second", "/api/v1/entries/e2"]),
        ("/b/second/api/v1/entries/e1", ["main", "/api/v1/entries/e1"]),
        ("/api/v1/entries/gone", ["main", "/api/v1/entries/gone"]),
        ("/api/v1/entries/unknown", ["main", "/api/v1/entries/unknown"]),
    ],
)
def test_a_request_reaches_the_application_of_its_benchmark(client: TestClient, asked: str, answered: object) -> None:
    assert client.get(asked).json() == answered


@pytest.mark.parametrize(
    ("asked", "place"),
    [
        ("/b/first/about?x=1", "/about?x=1"),
        ("/b/first/", "/"),
        ("/b/second", "/b/second/"),
        ("/b/first//evil.example/x", "/evil.example/x"),
        ("/about/?x=1", "/about?x=1"),
        ("/b/second/about/", "/b/second/about"),
        ("/%2Fevil.example/", "/evil.example"),
        ("/app/submit/", "/app/submit"),
        ("/app/analyse", "/analyse"),
        ("/app/maintain?benchmark=second&tab=labels", "/maintain?benchmark=second&tab=labels"),
        ("/app/analyse/?entries=a,b&chart=size", "/analyse?entries=a,b&chart=size"),
        ("/app/", "/"),
        ("/app/compare?entries=a,b", "/compare?entries=a,b"),
    ],
)
def test_other_addresses_lead_to_the_one_that_stays(client: TestClient, asked: str, place: str) -> None:
    assert client.get(asked).headers["location"] == place


@pytest.mark.parametrize(
    ("asked", "known"),
    [
        ("/api/v1/leaderboard?benchmark=third", IDS),
        ("/export/board.csv?benchmark=third", IDS),
        ("/feed.xml?benchmark=third", IDS),
        ("/b/second/export/board.csv?benchmark=first", ["second"]),
        ("/b/first/export/board.csv?benchmark=second", ["first"]),
    ],
)
def test_an_unknown_benchmark_is_named_with_those_that_are_served(
    client: TestClient, asked: str, known: Sequence[str]
) -> None:
    answer = client.get(asked)
    assert answer.status_code == 400
    assert (answer.json()["code"], answer.json()["known"]) == ("unknown-benchmark", list(known))


def test_a_request_over_the_limit_of_its_address_looks_up_no_submission() -> None:
    looked_up: list[str] = []
    inner = SubmissionBenchmarkMiddleware(BenchmarkDispatch(_main, {}), IDS, benchmark_of=looked_up.append)
    client = TestClient(BenchmarkMiddleware(RateLimitMiddleware(inner, 1, whose=address_of), IDS))
    answers = [client.post(path).status_code for path in ("/api/v1/entries/e1", "/b/second/api/v1/entries/e2")]
    assert answers == [200, 429]
    assert looked_up == ["e1"]
