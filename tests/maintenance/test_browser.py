"""The maintain page in a real browser: a maintainer without script imports labels, applies them, and hides an entry."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.factories.services.service import Service, running, until
from tests.real_data import real_file

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(600)]
JUDGE = "data/predictions/vl-reward-model_qwen2vl7b_judge.json"


def _send(page: Page, button: str, **typed: str) -> None:
    form = page.locator("form.act").filter(has=page.get_by_role("button", name=button, exact=True))
    for name, text in typed.items():
        form.locator(f'[name="{name}"]').fill(text)
    form.get_by_role("button", name=button, exact=True).click()


def _ended(page: Page) -> None:
    expect(page.locator(".notice").first).to_contain_text(": done.", timeout=60_000)  # the page comes again by itself


def test_labels_are_applied_and_an_entry_is_hidden_on_a_page_without_script(browser: Browser, tmp_path: Path) -> None:
    labels = f"v1={real_file('data/items_v1.json')}"
    with running(tmp_path / "data", gradio=True, LABELS=labels) as service:
        shutil.copy(real_file("data/labels_v2.jsonl"), tmp_path / "data" / "imports")
        files = {"file": ("x.json", real_file(JUDGE).read_bytes())}
        entry = str(service.http.post("/api/v1/submissions", files=files, data={"model": "Judge"}).json()["id"])
        until(lambda: entry in _board(service), 60, what="it is on the board")
        page = browser.new_context(java_script_enabled=False).new_page()
        page.goto(f"{service.url}/maintain?tab=labels")
        page.get_by_text("Import as a draft").first.click()
        _send(
            page,
            "Import as a draft",
            revision="v2",
            source="labels_v2.jsonl",
            reason="the authors changed sixteen labels",
        )
        _ended(page)
        page.goto(f"{service.url}/maintain?do=rescore.apply&on=v2")
        _send(page, "Apply", reason="corrected", confirmation="v1")
        expect(page.locator(".notice").first).to_contain_text("To confirm, type v2")
        _send(page, "Apply", confirmation="v2")
        _ended(page)
        for width in (390, 1440):
            page.set_viewport_size({"width": width, "height": 900})
            page.goto(f"{service.url}/maintain?tab=entries")
            assert page.evaluate("document.documentElement.scrollWidth") == width
        page.get_by_text("Actions", exact=True).last.click()
        page.get_by_role("link", name="Hide").click()
        _send(page, "Hide", reason="<img src=x onerror=alert(1)>")
        expect(page.locator(".notice")).to_contain_text("is hidden")
        until(lambda: entry not in _board(service), 60, what="it is off the board")
        page.context.close()


def _board(service: Service) -> set[str]:
    return {one["id"] for one in service.http.get("/api/v1/leaderboard").json()["entries"]}
