"""Choice of tests, their order and process, and the browser that they use."""

from __future__ import annotations

import gc
import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests.databases import database, database_url, fill_once, postgres_cluster
from tests.factories.suite.fork_server import open_fork_server

if TYPE_CHECKING:  # a browser's library is imported by the tests that use one
    from playwright.sync_api import Browser, BrowserContext, Page

    from storage.database import Database
    from workers.scorer import Scorer

__all__ = ["database", "database_url", "postgres_cluster"]  # fixtures of all folders: one server is for all
ROOT = Path(__file__).parent
PATIENCE = 60_000  # milliseconds that a page may take on a busy machine; Playwright's own is 5 s in places
# Pages are read, not looked at: fewer processes and threads that draw take a fifth of the processor's time away.
_LIGHT = (
    "--disable-software-rasterizer",
    "--in-process-gpu",
    "--num-raster-threads=1",
    "--disable-site-isolation-trials",
    "--disable-threaded-animation",
    "--js-flags=--no-sparkplug --no-maglev --no-turbofan",  # a page lives for a moment: to compile takes longer
)
# A test that fails on a busy machine says nothing, so there is no deadline. EXAMPLES=1000 makes property tests longer.
settings.register_profile("tests", deadline=None, max_examples=int(os.environ.get("EXAMPLES", "25")))
settings.load_profile("tests")
# Folders whose tests are quick: `make unit` runs these, or those that are named, without what is marked NOT_UNIT.
UNIT = ("common/", "receipts/", "storage/", "vlrb/", "submissions/")
NOT_UNIT = ("slow", "browser", "postgres")
# Where both databases have to hold a rule: the contract of storage, and races. In other tests SQLite states it.
# With `--long`, as in `make fault`, their twins run too; test_hostile_service.py runs the whole service on PostgreSQL.
ON_BOTH_DATABASES = (
    "auth/",
    "maintenance/test_accounts.py",
    "maintenance/test_concurrency.py",
    "maintenance/test_entries.py",
    "maintenance/test_integrity.py",
    "maintenance/test_interfaces_agree.py",
    "maintenance/test_rescoring.py",
    "operation/test_first_start.py",
    "receipts/",
    "storage/",
    "submissions/test_confusables.py::test_of_look_alikes",
    "submissions/test_quota.py::test_uploads_in_two_processes",
    "submissions/test_service.py::test_copies",
    "workers/test_rescore.py",
    "workers/test_score.py",
)
_TWIN = re.compile(r"[\[-]postgresql[-\]]")
# The first is Chromium without windows and menus: to open a page takes it half of the processor's time.
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of this suite."""
    parser.addoption("--unit", action="store_true", help="only quick tests, without browser and PostgreSQL")
    parser.addoption("--long", action="store_true", help="tests marked long, and each that can on PostgreSQL, too")


def pytest_configure(config: pytest.Config) -> None:
    """Choose the tests of `--unit` by their marks, unless others are asked for; start what all processes share."""
    if config.getoption("--unit") and not config.option.markexpr:
        config.option.markexpr = f"not ({' or '.join(NOT_UNIT)})"
    if config.getoption("numprocesses", None) and not config.getoption("--unit"):
        open_fork_server()


def pytest_sessionstart(session: pytest.Session) -> None:
    """Import a part of the tests, in each process of xdist another: what one has compiled, the others only load."""
    config, worker = session.config, getattr(session.config, "workerinput", None)
    if worker is None or config.getoption("--unit") or config.args_source is config.ArgsSource.ARGS:
        return
    files, number, count = sorted(ROOT.rglob("test_*.py")), int(worker["workerid"][2:]), worker["workercount"]
    for path in files[number * len(files) // count : (number + 1) * len(files) // count]:
        with suppress(Exception):  # collection says what is wrong with it
            import_module(".".join(path.relative_to(ROOT.parent).with_suffix("").parts))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Under `--unit`, do not even import what other test files need (Gradio, a browser's library), unless named."""
    named = config.args_source is config.ArgsSource.ARGS
    if named or not config.getoption("--unit") or not collection_path.name.startswith("test_"):
        return None
    return not _path(collection_path).startswith(UNIT) or None


def pytest_collection_finish(session: pytest.Session) -> None:
    """Search rarely for garbage, and never in what is imported and collected; compress pages quickly."""
    gc.freeze()
    gc.set_threshold(100_000, 20, 100)
    if "leaderboard.site.cache" in sys.modules:
        sys.modules["leaderboard.site.cache"].BROTLI_QUALITY = 5  # type: ignore[attr-defined]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out twins and long tests; begin with files that take long, then those that share a browser.

    So no process of xdist is left alone with a long file at the end.
    """
    left_out = [item for item in items if _is_left_out(config, item)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if not _is_left_out(config, item)]
    slow, browsing = (
        {item.path for item in items if item.get_closest_marker(mark) is not None} for mark in ("slow", "browser")
    )
    items.sort(key=lambda item: (item.path not in slow, item.path not in browsing))


def _is_left_out(config: pytest.Config, item: pytest.Item) -> bool:
    return not config.getoption("--long") and (item.get_closest_marker("long") is not None or _is_spare_twin(item))


def _is_spare_twin(item: pytest.Item) -> bool:
    """Return whether a test runs on SQLite too, which is enough for its rule."""
    return _TWIN.search(item.name) is not None and not f"{_path(item.path)}::{item.name}".startswith(ON_BOTH_DATABASES)


def _path(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@dataclass
class _BrowserProcess:
    """The browser of this process: consecutive files use the same one."""

    running: ExitStack = field(default_factory=ExitStack)
    browser: Browser | None = None
    used_by: Path | None = None

    def get(self) -> Browser:
        """Return it, started if it does not run."""
        if self.browser is None:
            self.browser = self.running.enter_context(_chromium_process())
        return self.browser

    def close(self) -> None:
        """Stop it, if it runs."""
        self.browser = None
        self.running.close()


_BROWSER = pytest.StashKey[_BrowserProcess]()


@contextmanager
def _chromium_process() -> Iterator[Browser]:
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
    flags = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", *_LIGHT]
    with sync_playwright() as engine:
        started = engine.chromium.launch(executable_path=chromium(), args=flags)
        started.on("context", lambda context: context.set_default_timeout(PATIENCE))
        yield started
        started.close()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Close the browser before a file that needs none: while it runs, no test can run an event loop of its own."""
    process = item.config.stash.setdefault(_BROWSER, _BrowserProcess())
    if "browser" in getattr(item, "fixturenames", ()):
        process.used_by = item.path
    elif item.path != process.used_by:
        process.close()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Close the browser of this process."""
    config.stash.get(_BROWSER, _BrowserProcess()).close()


def chromium() -> str | None:
    """Return the system's Chromium; Playwright downloads none."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


@pytest.fixture(scope="module")
def browser(request: pytest.FixtureRequest) -> Browser:
    """Return a browser; contexts of it are a test's own."""
    if chromium() is None:
        reason = "needs Chromium: apt-get install chromium"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return request.config.stash[_BROWSER].get()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    found = browser.new_context()
    yield found
    found.close()


@pytest.fixture
def page(context: BrowserContext) -> Page:
    return context.new_page()


@pytest.fixture(scope="session")
def scorer() -> Scorer:
    """Return a scorer of the invented benchmark."""
    from tests.factories import small_benchmark  # which loads what only workers need

    return small_benchmark.scorer()


@pytest.fixture
def ready(database: Database) -> Database:
    """Return a database whose board shows the first revision of that scorer."""
    from tests.factories import small_benchmark

    fill_once(database, small_benchmark.prepare_board)
    return database
