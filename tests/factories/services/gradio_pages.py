"""Gradio's pages in a browser: they stand there before they listen, and lose what is done to them until then."""

from __future__ import annotations

from playwright.sync_api import Page, expect


def open_submit(page: Page, address: str) -> None:
    """Open the page for submitting; who submits is what it says when it listens."""
    page.goto(address)
    expect(page.locator("#visitor")).to_contain_text("submit")
