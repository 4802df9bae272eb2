"""Hidden, withdrawn and undisclosed data on no public route: every route is requested in every way it offers."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from itertools import cycle
from typing import Any

import pyarrow.parquet
import pytest
from starlette.testclient import TestClient

from leaderboard.analyse.pages import FILES
from leaderboard.charts.catalog import CHARTS
from leaderboard.site.cache import BoardCache
from leaderboard.site.queries import DatabaseSnapshots
from storage.models.core import Submission
from tests.databases import new_database
from tests.factories.board_app import board_app
from tests.factories.services.layers import flat
from tests.factories.snapshots import FixedSource, baselines, entry, items, snapshot
from tests.factories.specs import spec_of
from tests.leaderboard.site.test_queries import publish

SHOWN, HIDDEN, WITHDRAWN = (f"e{number:011d}" for number in (1, 2, 3))
ROUTES: dict[str, tuple[str, ...]] = {
    "/": (
        *("/", "/?tier=scored&sort=general", "/?protocol=paper", "/?protocol=lmms-eval", "/?grouping=povid-in-general"),
        *("/?embed=1", "/?compare={id}", "/?q={name}"),
    ),
    "/entries/{entry_id}": ("/entries/{id}", "/entries/{id}?revision=v2", "/entries/{id}?revision=v0"),
    "/entries/{entry_id}/badge.svg": ("/entries/{id}/badge.svg",),
    "/entries/{entry_id}/og.png": ("/entries/{id}/og.png",),
    "/entries/{entry_id}/cite.bib": ("/entries/{id}/cite.bib", "/entries/{id}/cite.bib?revision=v0"),
    "/reported": ("/reported", "/reported?verdict=adds-up&sort=date"),
    "/compare": ("/compare", "/compare?q={name}", "/compare?entries={id},{shown}"),
    "/analyse": (
        *(f"/analyse?chart={chart}&entries={{id}},{{shown}}" for chart in CHARTS),
        "/analyse?add={name}",
        "/analyse?add={id}",
    ),
    "/analyse.{kind}": tuple(
        f"/analyse.{kind}?chart={chart}&entries={{id}},{{shown}}"
        for chart, kind in zip(CHARTS, cycle(FILES), strict=False)
    ),
    "/explore": ("/explore", "/explore?right=few", "/explore?q={id}", "/explore?only={id}&not={shown}"),
    "/explore/{name}": ("/explore/{pair}",),
    "/explore/{name}/image": ("/explore/{pair}/image",),
    "/export/board.{suffix}": (
        *(f"/export/board.{suffix}" for suffix in ("csv", "json", "md", "tex", "parquet")),
        "/export/board.csv?protocol=paper&sort=overall",
    ),
    "/export/cite.bib": ("/export/cite.bib",),
    "/og.png": ("/og.png",),
    "/feed.xml": ("/feed.xml",),
    "/docs": ("/docs",),
    "/about": ("/about",),
    "/decisions": ("/decisions",),
    "/decisions/{number}": ("/decisions/1",),
    "/sample-predictions.jsonl": ("/sample-predictions.jsonl",),
    "/check-numbers": ("/check-numbers",),
    "/api/v1/check-numbers": ("/api/v1/check-numbers?overall=70",),
    "/api/v1/leaderboard": tuple(f"/api/v1/leaderboard{query}" for query in ("", "?protocol=paper", "?revision=v0")),
    "/api/v1/entries/{entry_id}": ("/api/v1/entries/{id}", "/api/v1/entries/{id}?revision=v0"),
    "/api/v1/compare": ("/api/v1/compare?entries={id},{shown}",),
}
NOT_ABOUT_ENTRIES = {"/static/{name}", "/openapi.json", "/redoc", "/red-team", "/policy"}
"""Made of files that ship with the project, or of settings."""


def asked(**named: str) -> list[str]:
    pair = items().items[0].key[:16]
    return [
        address.format(**{"shown": SHOWN, "pair": pair, "name": "judge", **named})
        for addresses in ROUTES.values()
        for address in addresses
    ]


def content(client: TestClient, address: str) -> tuple[int, str]:
    reply = client.get(address, follow_redirects=False)
    if "parquet" in reply.headers.get("content-type", ""):
        table = pyarrow.parquet.read_table(io.BytesIO(reply.content))
        return reply.status_code, f"{table.to_pylist()} {table.schema.metadata}"
    return reply.status_code, reply.content.decode("latin-1") + reply.headers.get("location", "")


def judge(number: int, name: str) -> dict[str, Any]:
    return entry(number, 0.5 + number / 20, model=name, version="9", organisation=f"{name} lab")


@pytest.fixture(scope="module")
def past(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[TestClient, str]]:
    """Yield a board with an entry that was hidden and one that was withdrawn since; and the id of the board before."""
    database = new_database(f"sqlite:///{tmp_path_factory.mktemp('secrets') / 'board.db'}")
    everyone = [judge(1, "Plain"), judge(2, "Unseen"), judge(3, "Left")]
    gone = {"model": "Left", "version": "9", "at": "2026-11-20T10:00:00Z", "withdrawn": True, "reason": "a mistake"}
    unseen = {**gone, "id": HIDDEN, "model": "Unseen"}
    old = publish(database, snapshot(everyone) | {"baselines": baselines()})
    stubs = [{**gone, "id": WITHDRAWN}, unseen]
    publish(database, snapshot(everyone[:1]) | {"baselines": baselines(), "stubs": stubs}, at=time.time())
    with database.write() as session:
        facts = {"owner": "o", "content_sha256": "0" * 64, "format": "native", "revision": "v2"}
        more = {"votes_per_item": 1, "votes": b"1", "parse_rate": 1.0, "report": {}, "model": "m"}
        session.add(Submission(id=HIDDEN, benchmark="vl-rewardbench", hidden_at=1.0, **facts, **more))
    with TestClient(board_app(BoardCache(DatabaseSnapshots(database, spec_of("demo")), check_every=0.0))) as client:
        yield client, old
    database.close()


def test_every_public_route_of_the_leaderboard_is_asked() -> None:
    app = board_app(BoardCache(FixedSource(snapshot([judge(1, "Plain")]))))
    known = {*ROUTES, *NOT_ABOUT_ENTRIES}
    found = {path if path in known else "/api/v1" + path for path in (route.path for route in flat(app.routes))}
    assert found <= known, "say what a new route is asked, so that it is known to keep what is not public"


def tells(said: str, id_asked: str, address: str, *names: str) -> bool:
    """Return whether an answer holds a name, or an id that was not in the question (which pages repeat)."""
    return any(name in said for name in names) or (id_asked in said and id_asked not in address)


def test_a_hidden_entry_is_nowhere_on_an_old_board(past: tuple[TestClient, str]) -> None:
    client, old = past
    for address in asked(id=HIDDEN):
        address += ("&" if "?" in address else "?") + f"as_of={old}"
        status, said = content(client, address)
        assert status < 500, address
        assert not tells(said, HIDDEN, address, "Unseen"), address
        if f"/{HIDDEN}" in address:
            assert status == 404, address


def test_a_withdrawn_entry_is_on_no_current_route_but_its_own_which_tell_no_score(past: tuple[TestClient, str]) -> None:
    client, old = past
    for address in asked(id=WITHDRAWN):
        status, said = content(client, address)
        if address.partition("?")[0].removeprefix("/api/v1").startswith(f"/entries/{WITHDRAWN}"):
            assert status == 410 and ("a mistake" in said or "withdrawn" in said), address
            assert not any(figure in said for figure in ("Macro", "macro", "%"))
        else:
            assert not tells(said, WITHDRAWN, address, "Left"), address
    there = client.get(f"/entries/{WITHDRAWN}?as_of={old}")
    assert there.status_code == 200 and "withdrawn" in there.text, "a board that was cited stays, and says so"
