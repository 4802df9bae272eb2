"""Targets of a page that are too small for a finger."""

from __future__ import annotations

from playwright.sync_api import Page

LEAST = 24
"""Pixels, as WCAG 2.2 AA (2.5.8) asks for."""
_SMALL = """least => {
  const shown = one => one.checkVisibility({ visibilityProperty: true }) && !one.closest(".sr,.skip");
  const block = one => getComputedStyle(one).display.startsWith("inline") ? block(one.parentElement) : one;
  const inSentence = one => one.matches("a") && getComputedStyle(one).display === "inline"
    && block(one).textContent.trim().length > one.textContent.trim().length + 2;
  const found = document.querySelectorAll("a[href],button,input:not([type=hidden]),select,textarea,summary");
  return [...found].filter(shown).map(one => {
    const box = (one.matches("[type=checkbox],[type=radio]") && one.closest("label") || one).getBoundingClientRect();
    return [one, box.width, box.height];
  }).filter(([one, wide, high]) => wide > 1 && (wide < least - 0.5 || high < least - 0.5) && !inSentence(one))
    .map(([one, wide, high]) => `${one.tagName} ${wide}x${high} ${one.textContent || one.ariaLabel || one.value}`);
}"""


def small_targets(page: Page) -> list[str]:
    """Return what can be pressed and is lower or narrower than LEAST, but links within a sentence; folds are opened."""
    page.eval_on_selector_all("details", "all => all.forEach(one => { one.open = true; })")
    found: list[str] = page.evaluate(_SMALL, LEAST)
    return found
