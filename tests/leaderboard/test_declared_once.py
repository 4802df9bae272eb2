"""A protocol, an export format, a chart, a column is declared in one place, and everything else follows from it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from leaderboard.about import pages as about
from leaderboard.share.exports import FORMATS, Format
from scripts import doc_tables
from tests.factories.labels import BEHAVIOUR, random_tally, table
from tests.factories.specs import PROTOCOLS, VL
from tests.leaderboard.test_pages_routes import item_catalog, serve
from tests.test_architecture import PACKAGES, ROOT
from vlrb import readers
from vlrb.benchmarks.spec import Protocol
from vlrb.benchmarks.spec_file import load_spec
from vlrb.readers.inspect_log import INSPECT
from vlrb.scorecard import scorecard


def sources(*suffixes: str) -> Iterator[tuple[str, str]]:
    """Yield path and text of every product file."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*")):
            if path.suffix in suffixes:
                yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")


@pytest.fixture
def invented(monkeypatch: pytest.MonkeyPatch) -> Protocol:
    rule = replace(PROTOCOLS["paper"], key="all-right", title="All right", text="takes every pair for right.")
    monkeypatch.setitem(PROTOCOLS, rule.key, rule)
    return rule


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with TestClient(serve(item_catalog(tmp_path))) as client:
        yield client


def test_a_declared_protocol_is_on_the_board_the_about_page_the_interface_and_the_scorecard(
    invented: Protocol, client: TestClient
) -> None:
    page = client.get("/?protocol=all-right").text
    assert re.search(rf'name="protocol" value="all-right" checked><span>\s*<b>{invented.title}</b>', page)
    assert f"<b>All right</b> {invented.text}" in client.get("/about").text
    same = [client.get(f"/api/v1/leaderboard?protocol={key}").json()["entries"] for key in (invented.key, "paper")]
    assert same[0][0]["macro"] == same[1][0]["macro"]
    card = scorecard(random_tally(table()), BEHAVIOUR, benchmark="invented", label_revision="r1")
    assert card["protocols"]["all-right"] == card["protocols"]["paper"]


def test_no_list_of_protocols_stands_anywhere_else() -> None:
    """Two of them in one file, as text, are a second list."""
    needles = [re.compile(rf"""["'*`>]{re.escape(name)}["'*`<]""") for name in (*PROTOCOLS, "VLMEvalKit")]
    found = {}
    for path, text in sources(".py", ".html", ".md"):
        names = [needle.pattern for needle in needles if needle.search(text)]
        if len(names) > 2:
            found[path] = names
    assert found == {}


@pytest.mark.parametrize("primary", [True, False])
def test_a_declared_export_format_is_offered_served_and_listed(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, *, primary: bool
) -> None:
    form = Format(
        "lines",
        "Lines",
        media_type="text/x-lines",
        write=lambda taken: b"one\n",
        content="a line",
        primary=primary,
        compared=True,
    )
    monkeypatch.setitem(FORMATS, form.suffix, form)
    menu, _, bar = client.get("/").text.partition('<p class="picked"')
    link = re.compile(r'<a href="/export/board\.lines[^"]*" data-export>Lines</a>')
    assert link.search(menu)
    assert bool(link.search(bar)) == primary
    assert "<u>Lines</u>" in client.get("/compare?entries=e00000000001,e00000000002").text
    reply = client.get("/export/board.lines")
    assert (reply.text, reply.headers["content-type"].partition(";")[0]) == ("one\n", "text/x-lines")
    assert "`/export/board.lines`" in doc_tables.TABLES["exports"]()


def test_every_reader_says_what_to_upload_and_stands_on_the_about_page(client: TestClient) -> None:
    page, here = client.get("/about").text, about.guides(VL)
    elsewhere = about.guides(load_spec("multimodal-rewardbench"))
    for guide in readers.READERS:
        assert guide.tool and guide.upload
        assert bool(guide.command) == bool(guide.note)
        assert guide in here or guide in elsewhere
        assert (guide.tool in page) is (guide in here)


def test_every_module_that_reads_a_format_is_asked() -> None:
    folder = ROOT / "vlrb" / "readers"
    able = {path.stem for path in folder.glob("*.py") if "= PredictionFormat(" in path.read_text(encoding="utf-8")}
    functions = (getattr(reader.read, "func", reader.read) for reader in (*readers.READERS, INSPECT))
    assert able == {function.__module__.rpartition(".")[2] for function in functions}
