"""The page for submitting, without a browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import gradio as gr
import pytest
from gradio.data_classes import FileData
from starlette.requests import Request

from identity import ANONYMOUS
from submissions import page
from submissions.page_service import PageService
from tests.databases import new_database
from tests.submissions.desk import LIMIT, Desk, make_desk, native, person


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    database = new_database(f"sqlite:///{tmp_path}/data/leaderboard.db")
    yield make_desk(database, tmp_path)
    database.close()


@pytest.fixture
def service(desk: Desk, tmp_path: Path) -> PageService:
    (tmp_path / "gradio").mkdir()
    return PageService(desk.intake, lambda *_: None, lambda _: None, tmp_path / "gradio", LIMIT)


@pytest.fixture
def blocks(service: PageService) -> gr.Blocks:
    made: gr.Blocks = gr.Blocks()
    with made:
        page.build(service, benchmark="demo", limit_mb=1)
    return made


@pytest.mark.parametrize("name", ["predictions", "predictions.jsonl.gz"])
def test_a_file_is_taken_whatever_its_name(blocks: gr.Blocks, tmp_path: Path, name: str) -> None:
    (file,) = (block for block in blocks.blocks.values() if isinstance(block, gr.File))
    (tmp_path / name).write_bytes(b"x")
    file.GRADIO_CACHE = str(tmp_path)
    assert file.preprocess(FileData(path=str(tmp_path / name))) == str(tmp_path / name)


def test_a_file_stays_while_it_may_be_submitted_and_not_longer(service: PageService, desk: Desk) -> None:
    good, bad = service.uploads / "good.jsonl", service.uploads / "bad.jsonl"
    good.write_bytes(native(desk.items))
    bad.write_bytes(b"{}\n")
    assert (service.check(good)["ok"], good.exists()) == (True, True)
    assert (service.check(bad)["ok"], bad.exists()) == (False, False)
    assert service.submit(good, {}, person("ana"))["code"] == "metadata-rejected"
    assert good.exists(), "one may correct the form"
    assert service.submit(good, {"model": "Judge"}, ANONYMOUS)["code"] == "sign-in-needed"
    assert service.submit(good, {"model": "Judge"}, person("ana"))["id"]
    assert not good.exists()
    again = service.submit(good, {"model": "Judge"}, person("ana"))
    assert (again["status"], again["code"]) == (410, "file-gone")


def test_a_file_elsewhere_is_never_removed(service: PageService, tmp_path: Path) -> None:
    elsewhere = tmp_path / "labels.jsonl"
    elsewhere.write_bytes(b"{}\n")
    assert not service.check(elsewhere)["ok"]
    assert elsewhere.exists()


def test_an_unknown_submission_has_the_same_code_as_over_rest(blocks: gr.Blocks) -> None:
    (call,) = (one.fn for one in blocks.fns.values() if one.api_name == "status")
    assert call is not None
    somebody = gr.Request(Request({"type": "http", "headers": [], "state": {"identity": ANONYMOUS}}))
    assert call(somebody, "e00000000000")["code"] == "unknown-submission"


def test_a_pause_is_said_in_the_maintainers_words_as_text() -> None:
    assert page.paused_html(None) == ""
    assert "<b>No submissions at the moment.</b> Back &lt;b&gt;at noon." in page.paused_html("Back <b>at noon.")


def test_bytes_that_were_there_before_are_said_to_be() -> None:
    assert page.duplicate_html({"id": "e1", "duplicate": False}) == ""
    told = page.duplicate_html({"id": "e1", "duplicate": True})
    assert "already submitted as <code>e1</code>; nothing changed." in told


def test_the_page_says_how_long_it_keeps_a_file() -> None:
    assert "deleted within the hour" in page._introduction("demo", 64)
