"""Accessibility findings of axe on a page: on the first rows of each table and the first routes of the reference."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from axe_playwright_python.base import AXE_SCRIPT, AxeResults  # type: ignore[import-untyped]
from playwright.sync_api import Page

from tests.conftest import ALL_ROWS

# Rows of a table, and routes of the reference, are drawn by one template. They leave the document while axe reads it:
# it reads what is hidden too.
_RUN = """async ([options, allRows]) => {
  const rows = [...document.querySelectorAll("table")].flatMap(
    (table) => [...table.querySelectorAll("tbody tr")].slice(3));
  const routes = [...document.querySelectorAll("section.route")].slice(6);
  const takenOut = allRows ? [] : [...rows, ...routes].map((one) => {
    const place = document.createComment("");
    one.replaceWith(place);
    return [place, one];
  });
  const { violations } = await axe.run(options);
  for (const [place, one] of takenOut) place.replaceWith(one);
  return { violations };
}"""


def axe_results(page: Page, rules: Sequence[str] = ()) -> AxeResults:
    """Return the violations on a page; `rules`: of these alone."""
    # Style sheets need not be loaded again: only an experimental rule reads them.
    options: dict[str, Any] = {"resultTypes": ["violations"], "preload": False}
    options |= {"runOnly": list(rules)} if rules else {}
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    return AxeResults(page.evaluate(_RUN, [options, bool(os.environ.get(ALL_ROWS))]))
