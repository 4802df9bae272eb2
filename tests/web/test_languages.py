"""The language of a request: the query, the cookie, the browser; and caches that never mix languages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from auth.problem_details import problem
from leaderboard.board.pages import BoardFastPathMiddleware, build
from leaderboard.site.cache import BoardCache
from leaderboard.site.render_context import LANGUAGE, RenderContext
from tests.factories.snapshots import FixedSource, entry, snapshot
from vlrb.common.translations import translations
from web.middleware.languages import LanguageMiddleware
from web.middleware.problems import ProblemsMiddleware, translated_problem


def _echo(request: Request) -> JSONResponse:
    return JSONResponse({"language": LANGUAGE.get(), "query": request.url.query})


@pytest.fixture
def client() -> Iterator[TestClient]:
    with TestClient(LanguageMiddleware(Starlette(routes=[Route("/{path:path}", _echo)]))) as client:
        yield client


def _language(client: TestClient, address: str, **headers: str) -> str:
    return str(client.get(address, headers=headers).json()["language"])


CHINESE = {"Accept-Language": "zh-CN,zh;q=0.9"}
VARY = {"Accept-Encoding", "Accept-Language", "Cookie"}


def test_the_address_is_stronger_than_the_cookie_and_the_cookie_than_the_browser(client: TestClient) -> None:
    assert _language(client, "/about", Cookie="lang=en", **CHINESE) == "en"
    assert _language(client, "/about?lang=zh-CN", Cookie="lang=en") == "zh-CN"


def test_what_the_address_asked_for_is_kept_in_a_cookie_and_hidden_from_the_page(client: TestClient) -> None:
    reply = client.get("/about?sort=macro&lang=zh-CN&q=a%20b")
    assert reply.json() == {"language": "zh-CN", "query": "sort=macro&q=a%20b"}
    assert "lang=zh-CN" in reply.headers["set-cookie"]
    assert _language(client, "/") == "zh-CN"
    assert _language(client, "/?lang=en", **CHINESE) == "en"
    assert _language(client, "/", **CHINESE) == "en"


@pytest.mark.parametrize("asked", ["zh", "zh-TW", "ZH_hans"])
def test_an_address_may_name_a_language_without_its_region_or_with_another(client: TestClient, asked: str) -> None:
    reply = client.get(f"/about?lang={asked}")
    assert reply.json()["language"] == "zh-CN"
    assert "lang=zh-CN" in reply.headers["set-cookie"]


@pytest.mark.parametrize("asked", ["xx", "", "../en", "zh-CN%0d%0aSet-Cookie:x"])
def test_an_unknown_language_changes_nothing(client: TestClient, asked: str) -> None:
    reply = client.get(f"/about?lang={asked}")
    assert reply.json()["language"] == "en"
    assert "set-cookie" not in reply.headers


def test_a_call_of_a_gradio_page_is_answered_in_the_language_of_the_page(client: TestClient) -> None:
    page = "https://board.example/app/submit?lang=zh-CN"
    assert _language(client, "/app/gradio_api/queue/join", Referer=page) == "zh-CN"
    assert _language(client, "/about", Referer=page) == "en"


@pytest.mark.parametrize("prefix", ["", "/b/other"])
@pytest.mark.parametrize("path", ["/api/v1/leaderboard", "/export/board.csv"])
def test_the_api_and_files_stay_english_for_every_benchmark(client: TestClient, prefix: str, path: str) -> None:
    reply = client.get(f"{prefix}{path}?lang=zh-CN", headers=CHINESE)
    assert reply.json()["language"] == "en"
    assert "set-cookie" not in reply.headers


@pytest.mark.parametrize(
    ("headers", "said"),
    [
        ({}, "There is no entry with this id."),
        (CHINESE, "没有这个编号的条目。"),
        ({**CHINESE, "Cookie": "lang=en"}, "There is no entry with this id."),
    ],
)
def test_an_error_of_the_api_is_said_in_the_language_of_who_asks_and_its_code_stays(
    headers: dict[str, str], said: str
) -> None:
    async def refuse(request: Request) -> Response:
        return problem(404, "unknown-entry", detail="There is no entry with this id.")

    routes = [Route("/api/v1/entries/{id}", refuse)]
    app = LanguageMiddleware(ProblemsMiddleware(Starlette(routes=routes), [RenderContext()]))
    with TestClient(app) as client:
        reply = client.get("/api/v1/entries/nobody", headers=headers)
        empty = client.head("/api/v1/entries/nobody", headers=headers)
    assert (reply.status_code, reply.json()["code"], reply.json()["detail"]) == (404, "unknown-entry", said)
    assert int(reply.headers["content-length"]) == len(reply.content)
    assert empty.status_code == 404


def test_sentences_and_values_of_a_listed_problem_are_translated() -> None:
    listed = [{"code": "no-such-id", "message": "has 2 votes where most pairs have 3; give every pair the same number"}]
    body = json.dumps({"detail": "Sign in first.", "problems": listed}).encode()
    told = json.loads(translated_problem(body, translations("zh-CN")))
    assert told["detail"] == "请先登录。"
    assert "2" in told["problems"][0]["message"] and "votes" not in told["problems"][0]["message"]


@pytest.mark.parametrize(
    "message",
    [
        "98% or more of the votes are the same. Where people sign in, such a file waits for a maintainer. "
        "Its entry has a remark and no rank.",
        "not valid JSON at column 8: Extra data. Write each record on a line of its own, with nothing after it.",
        "not valid JSON at line 3, column 8: Expecting value. It ends in the middle: write or upload the file again.",
    ],
)
def test_each_of_several_sentences_is_read_back_from_the_english_of_a_report(message: str) -> None:
    told = json.loads(
        translated_problem(json.dumps({"warnings": [{"message": message}]}).encode(), translations("zh-CN"))
    )
    assert not re.search("same|people|remark|column|middle", told["warnings"][0]["message"])


def test_a_check_report_is_said_in_the_language_of_who_asks_as_a_refused_submission_is() -> None:
    listed = [{"code": "bad-vote", "message": "has 2 votes where most pairs have 3; give every pair the same number"}]

    async def report(request: Request) -> Response:
        return JSONResponse({"ok": False, "problems": listed, "warnings": listed})

    paths = ("/api/v1/check", "/b/other/api/v1/check", "/api/v1/checked")
    routes = [Route(path, report, methods=["POST"]) for path in paths]
    app = LanguageMiddleware(ProblemsMiddleware(Starlette(routes=routes), [RenderContext()]))
    with TestClient(app) as client:
        told, other, unlike = (client.post(path, headers=CHINESE).json() for path in paths)
        english = client.post("/api/v1/check").json()
    assert (
        told == other == json.loads(translated_problem(json.dumps(english).encode(), translations("zh-CN"))) != english
    )
    assert unlike == english
    assert "detail" not in told


@pytest.fixture
def board() -> Iterator[TestClient]:
    cache = BoardCache(FixedSource(snapshot([entry(1, 0.7), entry(2, 0.55)])))
    app = FastAPI()
    app.include_router(build(cache))
    with TestClient(LanguageMiddleware(BoardFastPathMiddleware(app, cache))) as client:
        yield client


@pytest.mark.parametrize("address", ["/", "/about", "/compare", "/?q=a"])
def test_a_cache_never_mixes_languages(board: TestClient, address: str) -> None:
    replies = [board.get(address, headers=headers) for headers in ({}, CHINESE, {}, CHINESE)]
    assert all(set(reply.headers["vary"].split(", ")) == VARY for reply in replies)
    (english, tag), (chinese, other), *again = [(reply.text, reply.headers["etag"]) for reply in replies]
    assert again == [(english, tag), (chinese, other)]
    assert tag != other
    assert english.startswith('<!doctype html>\n<html lang="en">')
    assert chinese.startswith('<!doctype html>\n<html lang="zh-CN">')
    assert board.get(address, headers={**CHINESE, "If-None-Match": tag}).status_code == 200
    assert board.get(address, headers={**CHINESE, "If-None-Match": other}).status_code == 304
