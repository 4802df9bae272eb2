"""HTML of the account page and of messages, in the layout of the public pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import BaseLoader, ChoiceLoader, Environment, FileSystemLoader

_HERE = Path(__file__).parent
_PLACED = ("/", "/account")  # addresses that each benchmark of a service has, below its prefix


@lru_cache(maxsize=32)
def use_layout(templates: tuple[Path, ...], site: Environment) -> Environment:
    """Return an environment for a package's own templates, in the layout of `site`.

    One for all who ask for the same: it holds the compiled templates, which are part of the program.
    """
    loaders: list[BaseLoader] = [loader for loader in (site.loader, FileSystemLoader(templates)) if loader is not None]
    layout = site.overlay(loader=ChoiceLoader(loaders), autoescape=True, cache_size=50)
    layout.filters = dict(site.filters)  # overlays share them
    return layout


class AccountPages:
    """Templates. `site` returns an environment in the language of the request that has base.html with the blocks title,
    head and main; `folders`: where more templates lie."""

    def __init__(self, site: Callable[[], Environment], folders: Sequence[Path] = ()) -> None:
        self._site, self._folders = site, (_HERE / "templates", *folders)

    @property
    def _environment(self) -> Environment:
        return use_layout(self._folders, self._site())

    @property
    def prefix(self) -> str:
        """What stands before the addresses of the benchmark."""
        return str(self._environment.globals["prefix"])

    @property
    def language(self) -> str:
        """The language that the pages are written in."""
        return str(self._environment.globals["language"])

    def message(self, title: str, lead: str, *, links: tuple[tuple[str, str], ...], own_tab: bool = False) -> str:
        """Return a sentence and where to go from here."""
        placed = tuple((text, self.prefix + url if url in _PLACED else url) for text, url in links)
        context = {"title": title, "lead": lead, "links": placed, "own_tab": own_tab, "current": "/account"}
        return self.render("identity_message.html", context)

    def render(self, name: str, context: Mapping[str, Any]) -> str:
        """Return a page by the name of its template."""
        return self._environment.get_template(name).render(**context)
