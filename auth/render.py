"""HTML of the account page and of messages, in the layout of the public pages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

_PLACED = ("/", "/account")  # addresses that each benchmark of a service has, below its prefix


@dataclass(frozen=True, slots=True)
class AccountPages:
    """What makes pages of a benchmark: `render` takes the name of a template, and its values by name.

    `prefix`: what stands before the addresses of the benchmark. `language`: returns that of the request at hand.
    """

    prefix: str
    language: Callable[[], str]
    render: Callable[..., str]

    def message(self, title: str, lead: str, *, links: tuple[tuple[str, str], ...], own_tab: bool = False) -> str:
        """Return a sentence and where to go from here."""
        placed = tuple((text, self.prefix + url if url in _PLACED else url) for text, url in links)
        return self.render("message.html", title=title, lead=lead, links=placed, own_tab=own_tab, current="/account")
