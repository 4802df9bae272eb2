"""The language of a request: the query, the cookie, the browser; and caches that never mix languages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from auth.problem_details import json_answer, problem
from leaderboard.board.pages import BoardFastPathMiddleware
from leaderboard.site.cache import BoardCache
from leaderboard.site.render_context import LANGUAGE
from tests.factories.board_app import board_app
from tests.factories.snapshots import FixedSource, entry, snapshot
from vlrb.common.messages import _
from web.middleware.languages import LanguageMiddleware


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
        return problem(404, "unknown-entry", detail=_("There is no entry with this id."))

    routes = [Route("/api/v1/entries/{id}", refuse)]
    with TestClient(LanguageMiddleware(Starlette(routes=routes))) as client:
        reply = client.get("/api/v1/entries/nobody", headers=headers)
        empty = client.head("/api/v1/entries/nobody", headers=headers)
    assert (reply.status_code, reply.json()["code"], reply.json()["detail"]) == (404, "unknown-entry", said)
    assert int(reply.headers["content-length"]) == len(reply.content)
    assert empty.status_code == 404


def test_a_page_in_place_of_a_file_is_in_the_language_of_who_asks(board: TestClient) -> None:
    assert "此页面不存在" in board.get("/static/no-such-file", headers=CHINESE).text


def test_messages_anywhere_in_an_answer_are_in_the_language_of_who_asks_and_other_texts_stay() -> None:
    listed = {"id": "Sign in first.", "message": _("Sign in first.")}

    def report(request: Request) -> Response:
        return json_answer({"ok": False, "problems": [listed]})

    with TestClient(LanguageMiddleware(Starlette(routes=[Route("/api/v1/check", report)]))) as client:
        reply = client.get("/api/v1/check", headers=CHINESE)
        assert reply.json()["problems"] == [{"id": "Sign in first.", "message": "请先登录。"}]
        assert reply.headers["content-language"] == "zh-CN"
        assert client.get("/api/v1/check").json() == {"ok": False, "problems": [listed]}


@pytest.fixture
def board() -> Iterator[TestClient]:
    cache = BoardCache(FixedSource(snapshot([entry(1, 0.7), entry(2, 0.55)])))
    with TestClient(LanguageMiddleware(BoardFastPathMiddleware(board_app(cache), cache))) as client:
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
