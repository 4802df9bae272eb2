"""What axe finds on a page: accessibility, of the first rows of each table."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from axe_playwright_python.base import AxeResults  # type: ignore[import-untyped]
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Page

from tests.conftest import ALL_ROWS

# Rows of a table are drawn by one template. Comparing colours of each cell takes most of axe's time.
_LIKE_THOSE_ABOVE = ["tbody tr:nth-child(n+5)"]


def axe_results(page: Page, rules: Sequence[str] = ()) -> AxeResults:
    """Return the violations on a page; `rules`: of these alone."""
    options: Mapping[str, Any] = {"resultTypes": ["violations"]} | ({"runOnly": list(rules)} if rules else {})
    context = None if os.environ.get(ALL_ROWS) else {"exclude": [_LIKE_THOSE_ABOVE]}
    return Axe().run(page, context=context, options=dict(options))
