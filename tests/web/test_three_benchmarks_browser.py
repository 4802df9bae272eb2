"""Three benchmarks with 300 entries each, in a browser on a phone and on a wide screen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.factories.services.serving import serving
from tests.factories.services.targets import small_targets
from tests.factories.three_benchmarks import SERVED, application, boards

pytestmark = [pytest.mark.slow, pytest.mark.browser]
PHONE, WIDE = {"width": 390, "height": 844}, {"width": 1440, "height": 900}
BOARDS = ("/", *(f"/b/{name}/" for name in SERVED[1:]))
REPORTED = ("r-gpt-4o-2509-16127-mmrb", "r-slime-2509-16127-mm-rlhf")
ENTRIES = tuple(f"/b/{name}/entries/{entry}" for name, entry in zip(SERVED[1:], REPORTED, strict=True))
PAGES = (
    *BOARDS,
    *ENTRIES,
    "/judges",
    "/judges/judge-3",
    "/judges/gpt-4o",
    "/agreement",
)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serving(application(boards(300))) as url:
        yield url


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    """Yield one page for all tests of this file."""
    context = browser.new_context()
    yield context.new_page()
    context.close()


def on_each_screen(page: Page) -> Iterator[Any]:
    """Yield a phone's size and a wide screen's, as soon as the page has it."""
    for screen in (PHONE, WIDE):
        page.set_viewport_size(screen)  # type: ignore[arg-type]
        yield screen


def assert_fits(page: Page) -> None:
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def header_lines(page: Page) -> int:
    tops = page.evaluate(
        """() => [...document.querySelectorAll(".top > *")].map(one => {
          const box = one.getBoundingClientRect();
          return Math.round((box.top + box.bottom) / 2);
        }).sort((one, other) => one - other)"""
    )
    return len([top for place, top in enumerate(tops) if not place or top - tops[place - 1] > 10])


@pytest.mark.parametrize("path", PAGES)
def test_a_page_fits_its_header_is_low_its_first_row_is_on_the_first_screen_and_a_finger_hits_everything(
    page: Page, address: str, path: str
) -> None:
    page.goto(address + path)
    for screen in on_each_screen(page):
        assert_fits(page)
        if path in BOARDS:
            assert header_lines(page) == (2 if screen == PHONE else 1)
        if path in (*BOARDS, "/judges"):
            expect(page.locator("table tbody tr").first).to_be_in_viewport()
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    assert small_targets(page) == []
