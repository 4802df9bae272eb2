"""Context shared by the tabs of the maintain page: services, the current user, and results as HTML."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr
from gradio.context import Context

from auth import AuthError, Identity
from maintenance import markup
from maintenance.action_context import ActionContext
from maintenance.registry import ActionRegistry
from maintenance.types import ActionResult, Conflict, NotFound
from storage.limits.sliding_window import RateLimited
from storage.models.core import UnfitText

QUIETLY: dict[str, Any] = {"api_visibility": "private", "show_progress": "minimal"}


@dataclass(frozen=True, slots=True)
class PageContext:
    """Context of the page. `identify`: who sent a request; `note_refusal` records who was refused, trying what.

    `actions_of`: the context of the benchmark that a request is about; None: always `actions`.
    """

    registry: ActionRegistry
    actions: ActionContext
    identify: Callable[[gr.Request], Identity]
    note_refusal: Callable[[AuthError, str, str], None] = lambda refused, where, address: None

    actions_of: Callable[[gr.Request], ActionContext] | None = None

    def on_tab_open(self, handler: Callable[..., Any], outputs: list[Any], inputs: Sequence[Any] = ()) -> None:
        """Have a handler run whenever somebody opens the tab that is laid out now. Those of all tabs at once would be
        more calls than one address may have waiting."""
        tab = Context.block
        while tab is not None and not isinstance(tab, gr.Tab):
            tab = tab.parent
        assert tab is not None, "sections are laid out inside gr.Tab"
        tab.select(handler, list(inputs), outputs, **QUIETLY)

    def run(self, request: gr.Request, what: str, action: Callable[[ActionContext], str]) -> str:
        """Return what an action says, or why it could not be done."""
        try:
            context = self.actions if self.actions_of is None else self.actions_of(request)
            return action(context.acting_as(self.identify(request)))
        except AuthError as refused:
            self.note_refusal(refused, f"page: {what}", request.client.host if request.client else "")
            return markup.refusal(refused.detail)
        except NotFound as missing:
            return markup.refusal(str(missing.args[0]))
        except ValueError as impossible:
            if not _is_refusal(impossible):
                raise  # a fault of ours, for the log
            return markup.refusal(str(impossible))

    def run_action(self, request: gr.Request, what: str, use_case: Callable[[ActionContext], ActionResult]) -> str:
        """Return what a use case has done, or why it could not."""
        return self.run(request, what, lambda ctx: markup.outcome(use_case(ctx)))


def _is_refusal(error: ValueError) -> bool:
    """Return whether it says what was wrong with what somebody sent; `problems`: of files and descriptions."""
    return isinstance(error, Conflict | RateLimited | UnfitText) or hasattr(error, "problems")


def html(value: str = "", **options: Any) -> gr.HTML:
    """Return markup without Gradio's own frame and prose rules."""
    return gr.HTML(value, apply_default_css=False, js_on_load=None, **options)
