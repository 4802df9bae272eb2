"""A researcher's way from a real file to a ranked entry: in a browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.factories.services.gradio_pages import open_submit
from tests.factories.services.service import Service, running, until
from tests.real_data import real_file

pytestmark = [pytest.mark.browser, pytest.mark.slow]

JUDGE = "data/predictions/vl-reward-model_qwen2vl7b_judge.json"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    labels = f"v2={real_file('data/labels_v2.jsonl')}"
    with running(tmp_path_factory.mktemp("journey") / "data", gradio=True, LABELS=labels, LEASE_SECONDS="2") as started:
        yield started


@dataclass
class WatchedContext:
    """A context that keeps Gradio's scripts from one test to the next, and what went wrong in it."""

    context: BrowserContext
    url: str
    wrong: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        note, own = self.wrong.append, (self.url, "data:", "blob:")
        self.context.on("dialog", lambda dialog: (note(f"dialog {dialog.message}"), dialog.dismiss()))  # type: ignore[func-returns-value]
        self.context.on("console", lambda message: note(message.text) if message.type == "error" else None)
        self.context.on("weberror", lambda failed: note(str(failed.error)))
        self.context.on("request", lambda request: None if request.url.startswith(own) else note(request.url))


@pytest.fixture(scope="module")
def watched(browser: Browser, service: Service) -> Iterator[WatchedContext]:
    context = browser.new_context()
    yield WatchedContext(context, service.url)
    context.close()


@pytest.fixture
def visit(watched: WatchedContext) -> Iterator[Page]:
    """Yield a page that fails the test when it runs somebody's script, logs an error or asks another host."""
    watched.wrong.clear()
    page = watched.context.new_page()
    yield page
    for opened in watched.context.pages:
        opened.close()
    assert not watched.wrong


def variant(path: Path, folder: Path, *, number: int) -> Path:
    """Return the same predictions in other bytes: a file of its own as far as the service is concerned."""
    copy = folder / f"variant-{number}.json"
    copy.write_bytes(path.read_bytes() + b"\n" * number)
    return copy


def choose(page: Page, service: Service, *, file: Path) -> None:
    open_submit(page, f"{service.url}/app/submit")
    page.locator("#predictions input[type=file]").set_input_files(file)


def test_a_real_file_dropped_on_the_page_is_on_the_board_by_itself(visit: Page, service: Service) -> None:
    choose(visit, service, file=real_file(JUDGE))
    expect(visit.get_by_text("Local mode:")).to_have_count(1)
    report = visit.locator("#report")
    expect(report).to_contain_text("1,247 pairs, one vote each")
    expect(report).to_contain_text("VL-Reward-Model")
    expect(report).to_contain_text("All 1,247 (revision v2)")
    visit.get_by_label("Model (required)").fill("Qwen2-VL-7B judge")
    visit.get_by_label("Version").fill("browser")
    visit.locator("#submit").click()
    until(lambda: "Qwen2-VL-7B judge" in service.http.get("/").text, 60, what="the entry is on the board")
    outcome = visit.locator("#outcome [data-state=scored]")
    expect(outcome).to_contain_text("Macro")  # the page followed by itself
    expect(outcome).to_contain_text("43.1")  # 538 of 1,247, as the file's authors state
    link = outcome.get_by_role("link", name="Open the entry").get_attribute("href") or ""
    # In a page of its own: who leaves Gradio's in the middle of an answer makes it complain, and load itself again.
    board = visit.context.new_page()
    board.goto(service.url + link)
    expect(board).to_have_url(re.compile(r"/entries/e[a-z2-7]{11}$"))
    expect(board.get_by_role("heading", level=1)).to_contain_text("Qwen2-VL-7B judge")


def test_fields_that_cannot_be_taken_are_named_in_place(visit: Page, service: Service, tmp_path: Path) -> None:
    choose(visit, service, file=variant(real_file(JUDGE), tmp_path, number=1))
    visit.get_by_text("Model details (optional)").click()
    # Gradio makes the fields now, and takes no value in their first 40 ms: only a program is as fast as that.
    expect(visit.locator("#submit")).to_be_enabled()
    visit.get_by_label("Link", exact=True).fill("javascript:alert(1)")
    visit.get_by_label("Parameters, in billions").fill("many")
    visit.locator("#submit").click()
    outcome = visit.locator("#outcome")
    expect(outcome).to_contain_text("Not submitted")
    expect(visit.get_by_label("Model (required)")).to_be_focused()
    for label in ("Model (required)", "Link", "Parameters, in billions"):
        expect(visit.get_by_label(label, exact=True)).to_have_attribute("aria-invalid", "true")
    for words in ("Model: enter a model name", "Link: expected a web address", "Parameters: expected a number"):
        expect(outcome).to_contain_text(words)
