"""HTML of the account page and of messages, in the layout of the public pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from jinja2 import Environment

_PLACED = ("/", "/account")  # addresses that each benchmark of a service has, below its prefix


class AccountPages:
    """Templates. `site` returns an environment in the language of the request, with the templates of all packages."""

    def __init__(self, site: Callable[[], Environment]) -> None:
        self._site = site

    @property
    def prefix(self) -> str:
        """What stands before the addresses of the benchmark."""
        return str(self._site().globals["prefix"])

    @property
    def language(self) -> str:
        """The language that the pages are written in."""
        return str(self._site().globals["language"])

    def message(self, title: str, lead: str, *, links: tuple[tuple[str, str], ...], own_tab: bool = False) -> str:
        """Return a sentence and where to go from here."""
        placed = tuple((text, self.prefix + url if url in _PLACED else url) for text, url in links)
        context = {"title": title, "lead": lead, "links": placed, "own_tab": own_tab, "current": "/account"}
        return self.render("identity_message.html", context)

    def render(self, name: str, context: Mapping[str, Any]) -> str:
        """Return a page by the name of its template."""
        return self._site().get_template(name).render(**context)
