"""The guard against request floods: whom it counts, what it lets through, and that nobody chooses who they are."""

from __future__ import annotations

import asyncio

import httpx
import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

from auth import ANONYMOUS, Identity
from auth.limits.rate_limit import (
    MOST_COMPUTED,
    MOST_OPEN,
    RateLimitMiddleware,
    account_of,
    address_of,
)
from auth.limits.request_classes import is_upload, rate_limit_class
from tests.factories.services.serving import serving


@pytest.mark.parametrize(
    ("method", "path", "what"),
    [
        ("POST", "/api/v1/check", "check"),
        ("POST", "/api/v1/submissions", "submit"),
        ("POST", "/app/gradio_api/upload", "upload"),
        ("GET", "/auth/sign-in", "sign-in"),
        ("POST", "/account/tokens", "account"),
        ("GET", "/", ""),
        ("GET", "/api/v1/submissions/e0", ""),
        ("POST", "/app/gradio_api/queue/join", "page"),
        ("GET", "/app/gradio_api/queue/data", "listen"),
        ("GET", "/app/submit/gradio_api/call/check/abc", "listen"),
        ("POST", "/app/gradio_api/stream/a/gradio_api/upload", "page"),
        ("POST", "/api/v1/submissions/e0/publish", "change"),
        ("POST", "/api/v1/checked", "change"),
        ("PATCH", "/api/v1/entries/e0", "change"),
        ("PUT", "/api/v1/verification/1/7", "answer"),
        ("GET", "/?sort=model", "compute"),
        ("HEAD", "/compare?entries=a,b", "compute"),
        ("GET", "/api/v1/leaderboard?as_of=2026-11-01", "compute"),
        ("GET", "/export/board.parquet", "compute"),
        ("GET", "/entries/e0/og.png", "compute"),
        ("GET", "/entries/e0", ""),
        ("GET", "/static/site.css?v=1", ""),
    ],
)
def test_what_is_counted(method: str, path: str, what: str) -> None:
    path, _, query = path.partition("?")
    scope = {"type": "http", "method": method, "path": path, "query_string": query.encode()}
    assert rate_limit_class(scope) == what
    assert is_upload(scope) is (what in ("check", "submit", "upload"))


async def _answer(scope: Scope, receive: Receive, send: Send) -> None:
    await PlainTextResponse("fine")(scope, receive, send)


def ask(url: str, forwarded: str) -> httpx.Response:
    return httpx.post(f"{url}/api/v1/check", headers={"X-Forwarded-For": forwarded}, timeout=30)


def is_limited_to_two(codes: list[int]) -> bool:
    """Return whether two of four requests pass; a third may where a minute of the clock ends meanwhile."""
    return codes[:2] == [200, 200] and codes.count(429) >= 1


def test_behind_a_trusted_proxy_each_client_has_its_own_and_invents_no_other() -> None:
    guarded = RateLimitMiddleware(_answer, 2, whose=address_of)
    with serving(guarded, lifespan="off", proxy_headers=True, forwarded_allow_ips=["127.0.0.1"]) as url:
        codes = [ask(url, f"6.6.6.{number}, 203.0.113.7").status_code for number in range(4)]
        assert is_limited_to_two(codes)  # what the client put in front is not believed
        assert ask(url, "203.0.113.8").status_code == 200
        refused = ask(url, "203.0.113.7")
        assert refused.json()["code"] == "too-many-requests"
        assert refused.headers["content-type"] == "application/problem+json"
        assert 1 <= int(refused.headers["retry-after"]) <= 61


@pytest.mark.parametrize(
    ("path", "query", "most"),
    [("/app/gradio_api/heartbeat/x", b"", MOST_OPEN), ("/compare", b"entries=a,b", MOST_COMPUTED)],
)
def test_only_so_many_answers_are_waited_for_at_a_time_from_one_address(path: str, query: bytes, most: int) -> None:
    async def run() -> list[int]:
        guard, end, codes = RateLimitMiddleware(_held, 10_000, whose=address_of), asyncio.Event(), []

        async def send(message: Message) -> None:
            codes.append(message.get("status", 0))

        async def listen(address: str) -> None:
            about = {"client": (address, 1), "headers": [], "end": end}
            scope = {"type": "http", "method": "GET", "path": path, "query_string": query, **about}
            await guard(scope, _nothing, send)

        waiting = [asyncio.create_task(listen("203.0.113.7")) for _ in range(most)]
        await asyncio.sleep(0)
        await listen("203.0.113.7")
        refused, other = list(codes), asyncio.create_task(listen("203.0.113.8"))
        await asyncio.sleep(0)
        end.set()
        await asyncio.gather(*waiting, other)
        await listen("203.0.113.7")
        return [*refused[:1], *codes[-1:], len(guard._open)]

    assert asyncio.run(run()) == [429, 200, 0]


async def _held(scope: Scope, receive: Receive, send: Send) -> None:
    await scope["end"].wait()
    await send({"type": "http.response.start", "status": 200, "headers": []})


async def _nothing() -> Message:
    raise AssertionError


def test_an_account_is_counted_wherever_it_comes_from() -> None:
    def scope(user: Identity) -> Scope:
        return {"type": "http", "method": "POST", "path": "/api/v1/submissions", "state": {"identity": user}}

    assert account_of(scope(Identity("ann", auth_method="token"))) == "ann"
    assert account_of(scope(ANONYMOUS)) == ""
