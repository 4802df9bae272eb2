"""What axe finds on a page: accessibility, of the first rows of each table."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from axe_playwright_python.base import AxeResults  # type: ignore[import-untyped]
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Page

from tests.conftest import ALL_ROWS

# Rows of a table are drawn by one template; finding out what lies behind each cell takes most of axe's time.
_HIDE = """() => {
  for (const table of document.querySelectorAll("table")) {
    for (const row of [...table.querySelectorAll("tbody tr")].slice(3)) {
      row.dataset.shown = row.style.display;
      row.style.display = "none";
    }
  }
}"""
_SHOW = """() => {
  for (const row of document.querySelectorAll("[data-shown]")) {
    row.style.display = row.dataset.shown;
    delete row.dataset.shown;
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
