"""Accessibility findings of axe on a page: on the first rows of each table and the first routes of the reference."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from axe_playwright_python.base import AxeResults  # type: ignore[import-untyped]
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Page

from tests.conftest import ALL_ROWS

# Rows of a table, and routes of the reference, are drawn by one template; finding out what lies behind each cell takes
# most of axe's time.
_HIDE = """() => {
  const rows = [...document.querySelectorAll("table")].flatMap(
    (table) => [...table.querySelectorAll("tbody tr")].slice(3));
  for (const one of [...rows, ...[...document.querySelectorAll("section.route")].slice(6)]) {
    one.dataset.shown = one.style.display;
    one.style.display = "none";
  }
}"""
_SHOW = """() => {
  for (const one of document.querySelectorAll("[data-shown]")) {
    one.style.display = one.dataset.shown;
    delete one.dataset.shown;
  }
}"""


def axe_results(page: Page, rules: Sequence[str] = ()) -> AxeResults:
    """Return the violations on a page; `rules`: of these alone."""
    options: dict[str, Any] = {"resultTypes": ["violations"]} | ({"runOnly": list(rules)} if rules else {})
    if os.environ.get(ALL_ROWS):
        return Axe().run(page, options=options)
    page.evaluate(_HIDE)
    found = Axe().run(page, options=options)
    page.evaluate(_SHOW)
    return found
