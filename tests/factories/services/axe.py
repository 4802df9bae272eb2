"""Accessibility findings of axe on a page: on the first rows of each table and routes of the reference, and one text of
each look."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from axe_playwright_python.base import AXE_SCRIPT, AxeResults  # type: ignore[import-untyped]
from playwright.sync_api import Page

# Rows of a table, and routes of the reference, are drawn by one template. They leave the document while axe reads it:
# it reads what is hidden too. Contrast takes most of axe's time, and is looked at once for each look of a text: its
# colours, fonts and positions, and those of all that it stands in.
_RUN = """async (options) => {
  const rows = [...document.querySelectorAll("table")].flatMap(
    (table) => [...table.querySelectorAll("tbody tr")].slice(3));
  const routes = [...document.querySelectorAll("section.route")].slice(6);
  const takenOut = [...rows, ...routes].map((one) => {
    const place = document.createComment("");
    one.replaceWith(place);
    return [place, one];
  });
  const looks = new Map();
  const look = (one) => {
    if (!one) return "";
    if (!looks.has(one)) {
      const { color, backgroundColor, backgroundImage, opacity, fontSize, fontWeight, position, textShadow, filter,
        clipPath, mixBlendMode } = getComputedStyle(one);
      looks.set(one, [look(one.parentElement), color, backgroundColor, backgroundImage, opacity, fontSize, fontWeight,
        position, textShadow, filter, clipPath, mixBlendMode, one.matches(":disabled, [aria-disabled=true]")].join());
    }
    return looks.get(one);
  };
  const seen = new Set();
  const again = [...document.querySelectorAll("body *")].filter((one) => {
    const says = [...one.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
    if (!says || one.matches("label, label *") || !one.checkVisibility()) return false;
    const box = one.getBoundingClientRect();
    if (box.width <= 1 || box.right <= 0 || box.left >= innerWidth) return false;  // not to be seen: no example
    const known = seen.has(look(one));
    seen.add(look(one));
    return known;
  });
  again.forEach((one) => one.setAttribute("data-looks-alike", ""));
  axe.configure({ rules: [{ id: "color-contrast", selector: ":not([data-looks-alike])" }] });
  const { violations } = await axe.run(options);
  again.forEach((one) => one.removeAttribute("data-looks-alike"));
  for (const [place, one] of takenOut) place.replaceWith(one);
  return { violations };
}"""


def expect_accessible(page: Page) -> None:
    """Raise AssertionError where axe finds anything, or the page is wider than the screen.

    The structure is the same in the dark: there, colours alone are looked at.
    """
    dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    found = axe_results(page, ("color-contrast",) if dark else ())
    assert found.violations_count == 0, f"{page.url}\n{found.generate_report()}"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), page.url


def expect_accessible_light_and_dark(page: Page) -> None:
    """Raise AssertionError where axe finds anything on an open page: on a wide screen, and on a phone in the dark."""
    for width, scheme in ((1440, "light"), (390, "dark")):
        page.set_viewport_size({"width": width, "height": 844})
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        expect_accessible(page)


def axe_results(page: Page, rules: Sequence[str] = ()) -> AxeResults:
    """Return the violations on a page; `rules`: of these alone."""
    # Style sheets need not be loaded again: only an experimental rule reads them.
    options: dict[str, Any] = {"resultTypes": ["violations"], "preload": False}
    options |= {"runOnly": list(rules)} if rules else {}
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    return AxeResults(page.evaluate(_RUN, options))
