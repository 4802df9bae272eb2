"""The routes of what can be taken along: views, names, ETags, frames, addresses, and the description of the API."""

import asyncio
import re
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

import submissions.api
from leaderboard.share.exports import FORMATS
from leaderboard.site.cache import BoardCache, CachedResponse
from leaderboard.site.responses import SECURITY
from tests.factories.board_app import serve
from tests.factories.services.service import PATIENCE
from tests.factories.snapshots import FixedSource, entry, snapshot

ENTRY = "e00000000001"
PATHS = (
    *(f"/export/board.{suffix}" for suffix in FORMATS),
    "/export/cite.bib",
    *(f"/entries/{ENTRY}/{name}" for name in ("badge.svg", "og.png", "cite.bib")),
    *("/og.png", "/feed.xml", "/docs"),
)


@pytest.fixture
def source() -> FixedSource:
    return _source()


def _source() -> FixedSource:
    return FixedSource(snapshot([entry(1, 0.7, organisation="Lab"), entry(2, 0.55, k=1, judge_type="scalar")]))


@pytest.fixture(scope="module")
def shared_client() -> Iterator[TestClient]:
    """Yield the client of a board that no test changes."""
    with TestClient(serve(_source())) as client:
        yield client


@pytest.fixture
def client(request: pytest.FixtureRequest) -> Iterator[TestClient]:
    """Yield the shared client; to a test that changes the board, the one of its own source."""
    if "source" not in request.fixturenames:
        yield request.getfixturevalue("shared_client")
        return
    with TestClient(serve(request.getfixturevalue("source"))) as client:
        yield client


@pytest.mark.parametrize("path", PATHS)
def test_everything_has_a_strong_etag_and_is_not_sent_twice(client: TestClient, path: str) -> None:
    first = client.get(path)
    assert first.status_code == 200
    assert re.fullmatch(r'"[0-9a-f]{20}(-\w+)?"', first.headers["etag"])
    again = client.get(path, headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert client.head(path).headers["etag"] == first.headers["etag"]
    assert first.headers["x-content-type-options"] == "nosniff"


def test_the_board_is_looked_at_while_every_thread_for_pages_is_taken(source: FixedSource) -> None:
    cache, free = BoardCache(source, check_every=0), threading.Event()

    async def ask() -> str:
        taken = [asyncio.ensure_future(asyncio.to_thread(free.wait, PATIENCE)) for _ in range(100)]
        await asyncio.sleep(0)
        try:
            return (await asyncio.wait_for(cache.current(), PATIENCE / 2)).snapshot_id
        finally:
            free.set()
            await asyncio.gather(*taken)

    assert asyncio.run(ask()) == "snapshot-1"


def test_what_is_kept_of_a_board_version_is_bounded_in_bytes(source: FixedSource) -> None:
    board_version = BoardCache(source).refresh()
    for number in range(40):
        board_version.get_or_render(
            str(number), lambda: CachedResponse("text/plain", {"identity": bytes(4 * 2**20)}, etags={"identity": "x"})
        )
    kept = [number for number in range(40) if board_version.get_cached(str(number))]
    assert kept == list(range(24, 40))


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_file_holds_the_view_of_its_address_under_a_plain_name(client: TestClient, suffix: str) -> None:
    reply = client.get(f"/export/board.{suffix}?tier=scored&q=type:scalar&protocol=paper&revision=v0")
    assert re.fullmatch(
        rf'attachment; filename="vl-rewardbench-paper-official-v0-2026-11-21\.{suffix}"',
        reply.headers["content-disposition"],
    )
    if suffix != "parquet":
        assert "Judge 2" in reply.text
        assert "Judge 1" not in reply.text


def test_the_board_links_to_the_files_of_its_view(client: TestClient) -> None:
    page = client.get("/?tier=scored&sort=general&dir=asc&page=1").text
    links = re.findall(r'href="(/export/[^"]+)" data-export', page)
    assert len(set(links)) == len(FORMATS) + 1
    for link in links:
        assert link.endswith("?tier=scored&amp;sort=general&amp;dir=asc")
        assert client.get(link.replace("&amp;", "&")).status_code == 200


def test_with_ticked_rows_the_links_are_to_files_of_these(client: TestClient) -> None:
    ticked = [row["id"] for row in client.get("/api/v1/leaderboard").json()["entries"][:2]]
    page = client.get(f"/?tier=scored&q=nothing&compare={','.join(ticked)}").text
    links = re.findall(r'href="(/export/board.json[^"]+)" data-export', page)
    assert links
    said = client.get(links[0].replace("&amp;", "&")).json()
    assert {one["id"] for one in said["entries"]} == set(ticked)


def test_a_file_leads_back_to_the_same_view_of_the_same_snapshot(client: TestClient) -> None:
    said = client.get("/export/board.json?tier=scored&sort=general&embed=1&page=3").json()
    assert said["address"].startswith("http://testserver/?")
    assert set(said["address"].partition("?")[2].split("&")) >= {"tier=scored", "sort=general", "as_of=snapshot-1"}
    assert "embed" not in said["address"]
    assert "as_of=snapshot-1" in client.get("/export/cite.bib").text


def test_without_a_score_under_the_labels_an_entry_has_no_file_as_it_has_no_scorecard(
    source: FixedSource, client: TestClient
) -> None:
    scored = entry(1, 0.7)
    source.turn(snapshot([{**scored, "tallies": {"v0": scored["tallies"]["v0"]}}]))
    for query, status in (("", 404), ("?revision=v2", 404), ("?revision=v9", 404), ("?revision=v0", 200)):
        told = [
            client.get(f"{path}{query}").status_code
            for path in (f"/entries/{ENTRY}/badge.svg", f"/api/v1/entries/{ENTRY}")
        ]
        assert told == [status] * 2, query


@pytest.mark.parametrize(
    "path",
    [
        "/export/board.exe",
        "/export/board.csv?as_of=nonsense",
        "/entries/e99999999999/badge.svg",
        "/entries/baseline-random/badge.svg",
    ],
)
def test_what_there_is_not_is_not_found(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404


def test_only_the_embedded_board_may_be_framed_by_everybody(client: TestClient) -> None:
    embedded = client.get("/?embed=1&tier=scored")
    policy = embedded.headers["content-security-policy"]
    assert policy.endswith("frame-ancestors *")
    assert policy.partition("frame-ancestors")[0] == SECURITY["Content-Security-Policy"].partition("frame-ancestors")[0]
    assert "<header" not in embedded.text
    assert "<footer" not in embedded.text
    assert '<base target="_blank">' in embedded.text
    assert 'name="embed" value="1"' in embedded.text
    again = client.get("/?embed=1&tier=scored", headers={"If-None-Match": embedded.headers["etag"]})
    assert (again.status_code, again.headers["content-security-policy"]) == (304, policy)
    for path in ("/", "/?embed=0", "/?embed=", "/?embed=2", f"/entries/{ENTRY}?embed=1", "/about?embed=1"):
        reply = client.get(path)
        assert "frame-ancestors 'self'" in reply.headers["content-security-policy"]
        assert "<header" in reply.text


@pytest.mark.parametrize("host", ["board.example", "board.example:8080", "[::1]:7860"])
def test_addresses_are_those_under_which_the_service_was_found(client: TestClient, host: str) -> None:
    assert f"http://{host}/entries/{ENTRY}" in client.get("/feed.xml", headers={"Host": host}).text


def test_an_entry_page_describes_itself_and_says_how_to_cite_it(client: TestClient) -> None:
    for path in (f"/entries/{ENTRY}", "/entries/r-r1-reward-2505-02835"):
        page = client.get(path).text
        assert '<meta name="description" content="' in page
        assert f'property="og:image" content="http://testserver{path}/og.png"' in page
        assert "How to cite" in page
        assert "@misc{vlrewardbench-" in page
        assert f"{path}/badge.svg" in page
    assert 'name="description"' in client.get("/").text


def test_the_reference_is_a_page_of_ours_alone_that_names_every_route(client: TestClient) -> None:
    page = client.get("/docs").text
    assert not re.search(r'<script(?! src="/static/nav\.)', page)
    assert not re.search(r'(?:src|href)="(?:https?:)?//(?!vl-rewardbench\.github\.io)', page)
    for path in client.get("/openapi.json").json()["paths"]:
        assert f"GET {path}" in page
    anchors = re.findall(r'href="#([^"]+)"><code>', page)
    assert len(anchors) == len(set(anchors))
    assert all(f'id="{anchor}"' in page for anchor in anchors)


def described() -> dict[str, Any]:
    """Of the board's and the submitters' routes; nothing is called, so nothing has to work."""
    app: FastAPI = serve(FixedSource(None))
    nothing = SimpleNamespace(benchmark="")
    app.include_router(submissions.api.build(nothing, nothing, track=nothing, database=nothing, rules=nothing))  # type: ignore[arg-type]
    return app.openapi()


def test_every_route_says_what_it_answers_with_an_example() -> None:
    found = [(path, one) for path, routes in described()["paths"].items() for one in routes.values()]
    assert len(found) >= 10
    for path, one in found:
        successes = [answer for status, answer in one["responses"].items() if status.startswith("2")]
        assert successes and one["summary"], path
        for answer in successes:
            assert answer["description"] not in ("", "Successful Response"), path
            assert all(content["example"] for content in answer["content"].values()), path


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/leaderboard",
        "/api/v1/entries/{entry_id}",
        "/api/v1/check-numbers",
        "/api/v1/compare",
    ],
)
def test_examples_have_the_names_of_real_answers(client: TestClient, path: str) -> None:
    queries = {
        "/api/v1/check-numbers": "?general=63.84&hallucination=85.71&reasoning=64.78&overall=71.92",
        "/api/v1/compare": f"?entries={ENTRY},e00000000002",
    }
    real = client.get(path.replace("{entry_id}", ENTRY) + queries.get(path, "")).json()
    example = client.get("/openapi.json").json()["paths"][path]["get"]["responses"]["200"]
    shown = example["content"]["application/json"]["example"]
    stated = {name for name, value in real.items() if value is not None}
    assert stated <= set(shown) <= set(real), "OpenAPI leaves out null"
    if "entries" in shown:
        assert set(shown["entries"][0]) <= set(real["entries"][0])
