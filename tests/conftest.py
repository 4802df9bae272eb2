"""Which browser the browser tests use, and how long anything may take: as long as it does."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest
from hypothesis import settings
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, expect, sync_playwright

PATIENCE = 60_000  # milliseconds that a page may take on a busy machine; Playwright's own is 5 s in places
settings.register_profile("no-deadline", deadline=None)  # a test that fails on a busy machine says nothing
settings.load_profile("no-deadline")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def chromium() -> str | None:
    """The system's Chromium; Playwright downloads none."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


@pytest.fixture(scope="module")
def playwright() -> Iterator[Playwright]:
    """Closed after each module: while it is open, nothing else in this thread can run an event loop of its own."""
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as engine:
        yield engine


@pytest.fixture(scope="module")
def browser(playwright: Playwright) -> Iterator[Browser]:
    path = chromium()
    if path is None:
        reason = "needs Chromium: apt-get install chromium"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    flags = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
    found = playwright.chromium.launch(executable_path=path, args=flags)
    found.on("context", lambda context: context.set_default_timeout(PATIENCE))
    yield found
    found.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    found = browser.new_context()
    yield found
    found.close()


@pytest.fixture
def page(context: BrowserContext) -> Page:
    return context.new_page()
