"""Refusals around the routes as a browser shows them: pages, in the language of the reader."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient

from auth.limits.rate_limit import TooManyRequests
from auth.problem_details import MEDIA_TYPE, problem
from leaderboard.site.render_context import RenderContext
from vlrb.common.messages import _
from web.middleware.languages import LanguageMiddleware
from web.middleware.problems import ProblemsMiddleware

BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
REASON = TooManyRequests(7.0).detail


def _answer(request: Request) -> Response:
    status = int(request.query_params.get("status", "429"))
    later = {"retry_after": 7} if status in (429, 503) else {}
    return problem(status, "some-code", detail=_("Too many requests. Try again in a moment."), **later)


@pytest.fixture(scope="module")
def client() -> TestClient:
    routes = [Route("/{path:path}", _answer, methods=["GET", "POST"])]
    return TestClient(LanguageMiddleware(ProblemsMiddleware(Starlette(routes=routes), [RenderContext()])))


@pytest.mark.parametrize(
    ("status", "title", "reason", "again"),
    [
        (403, "That is not possible", REASON, False),
        (405, "That is not possible", "This address only takes", False),
        (429, "Too many requests", REASON, True),
        (500, "That went wrong", REASON, True),
        (503, "Not available", REASON, True),
    ],
)
def test_a_browser_is_shown_a_page_that_says_why_and_when(
    client: TestClient, status: int, title: str, reason: str, again: bool
) -> None:
    answer = client.get(f"/account?status={status}", headers=BROWSER)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "text/html; charset=utf-8")
    assert f"<h1>{title}" in answer.text
    assert reason in answer.text
    assert ("Try again</a>" in answer.text) is again
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers.get("retry-after") == ("7" if status in (429, 503) else None)
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_the_page_of_a_form_that_was_refused_is_whole(client: TestClient) -> None:
    answer = client.post("/account/tokens", headers=BROWSER)
    assert answer.status_code == 429
    assert answer.text.rstrip().endswith("</html>")


def test_the_page_is_in_the_language_of_the_reader(client: TestClient) -> None:
    answer = client.get("/account?lang=zh-CN", headers=BROWSER)
    assert '<html lang="zh-CN">' in answer.text
    assert "Too many" not in answer.text


@pytest.mark.parametrize("path", ["/api/v1/leaderboard", "/b/second/api/v1/leaderboard"])
def test_programs_are_answered_with_a_problem(client: TestClient, path: str) -> None:
    for headers in ({}, BROWSER):
        answer = client.get(path, headers=headers)
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["code"] == "some-code"


def test_who_does_not_ask_for_a_page_is_answered_with_a_problem(client: TestClient) -> None:
    assert client.get("/account").json()["code"] == "some-code"


def test_a_problem_whose_body_is_encoded_stays_as_it_is() -> None:
    encoded = Response(b"\x8b", 429, {"content-type": MEDIA_TYPE, "content-encoding": "br"})
    client = TestClient(ProblemsMiddleware(encoded, [RenderContext()]))
    with client.stream("GET", "/account", headers=BROWSER) as answer:
        assert (answer.headers["content-type"], answer.status_code) == (MEDIA_TYPE, 429)
        assert b"".join(answer.iter_raw()) == b"\x8b"
