"""What the sections of the maintain page share: what they work with, and how a handler says what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.context import Context

from benchmark.items import ItemTable
from identity import Identity, Refused
from identity.settings import IdentitySettings
from maintenance import markup
from maintenance.accounts import directory
from maintenance.entries import ParseMetadata
from maintenance.reported import Shipped
from maintenance.values import Done, NotFound, NotPossible
from storage.database import Database
from storage.pace import TooOften
from storage.tables import UnfitText

QUIETLY: dict[str, Any] = {"api_visibility": "private", "show_progress": "minimal"}


@dataclass(frozen=True, slots=True)
class Desk:
    """What the page works with. `identify`: who sent a request; `note_refusal` is told who was refused, trying what."""

    database: Database
    benchmark: str
    parse: ParseMetadata
    identify: Callable[[gr.Request], Identity]
    paths: Sequence[Path] = ()
    note_refusal: Callable[[Refused, str, str], None] = lambda refused, where, address: None
    table: Callable[[], ItemTable] = ItemTable.load
    shipped: Callable[[], Shipped] = tuple  # the reported results that come with the project
    identity: IdentitySettings | None = None  # who has which role; None: nobody is told apart here

    def on_open(self, handler: Callable[..., Any], outputs: list[Any], inputs: Sequence[Any] = ()) -> None:
        """Have a handler run whenever somebody opens the tab that is laid out now. Those of all tabs at once would be
        more calls than one address may have waiting."""
        tab = Context.block
        while tab is not None and not isinstance(tab, gr.Tab):
            tab = tab.parent
        assert tab is not None, "sections are laid out inside gr.Tab"
        tab.select(handler, list(inputs), outputs, **QUIETLY)

    def names(self, who: Identity, accounts: Iterable[str | None]) -> Mapping[str, str]:
        """Id -> user name of accounts."""
        return directory.names(self.database, who, accounts)

    def attempt(self, request: gr.Request, what: str, action: Callable[[Identity], str]) -> str:
        """What an action says, or why it could not be done."""
        try:
            return action(self.identify(request))
        except Refused as refused:
            self.note_refusal(refused, f"page: {what}", request.client.host if request.client else "")
            return markup.refusal(refused.detail)
        except NotFound as missing:
            return markup.refusal(str(missing.args[0]))
        except ValueError as impossible:
            if not _is_refusal(impossible):
                raise  # a fault of ours, for the log
            return markup.refusal(str(impossible))

    def outcome(self, request: gr.Request, what: str, use_case: Callable[[Identity], Done]) -> str:
        """What a use case has done, or why it could not."""
        return self.attempt(request, what, lambda who: markup.outcome(use_case(who)))


def _is_refusal(error: ValueError) -> bool:
    """Whether it says what was wrong with what somebody sent; `problems`: of files and descriptions."""
    return isinstance(error, NotPossible | TooOften | UnfitText) or hasattr(error, "problems")


def html(value: str = "", **options: Any) -> gr.HTML:
    """Markup without Gradio's own frame and prose rules."""
    return gr.HTML(value, apply_default_css=False, js_on_load=None, **options)
