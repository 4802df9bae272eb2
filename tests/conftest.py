"""Which browser the browser tests use, and how long anything may take: as long as it does."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, expect, sync_playwright

PATIENCE = 60_000  # milliseconds that a page may take on a busy machine; Playwright's own is 5 s in places
settings.register_profile("no-deadline", deadline=None)  # a test that fails on a busy machine says nothing
settings.load_profile("no-deadline")
# Files whose tests start processes or services, or work through whole files: not for the inner loop (`make unit`).
INTEGRATION = frozenset(
    [
        "judge/test_batch.py",
        "judge/test_kill.py",
        "judge/test_run.py",
        "judge/test_scores.py",
        "operation/test_vanishing_disk.py",
        "redteam/test_year.py",
        "leaderboard/share/test_routes.py",
        "leaderboard/test_secrets.py",
        "maintenance/test_commands.py",
        "maintenance/test_scorer_version.py",
        "submissions/test_api.py",
        "submissions/test_client.py",
        "web/test_request_limits.py",
        "predictions/test_readers_real.py",
        "test_docs.py",
        "test_files_to_scores.py",
        "web/test_gradio_allowlist.py",
        "test_real_files.py",
        "test_routes.py",
        "workers/test_hub_labels.py",
        "workers/test_kill.py",
        "workers/test_main.py",
        "workers/test_runner.py",
    ]
)
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of `INTEGRATION`."""
    root = Path(__file__).parent
    for item in items:
        if item.path.relative_to(root).as_posix() in INTEGRATION:
            item.add_marker(pytest.mark.integration)


def chromium() -> str | None:
    """Return the system's Chromium; Playwright downloads none."""
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
