"""Tables of the maintain page with actions at their rows, for ticked rows, and a dialog before each.

The dialogs are laid out once, from the declarations; the rows come with every look. What a browser sends is judged
by `RowRequest`, and every action authorises by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gradio as gr

from maintenance.action_context import ActionContext
from maintenance.page import markup
from maintenance.page.action_form import Refresh
from maintenance.page.page_context import QUIETLY, PageContext, TaskWatch, html, is_refusal
from maintenance.page.row_actions import RowActions, RowRequest
from maintenance.types import ActionResult, NotFound

_DIALOGS = """
element.addEventListener("maintain:act", (event) => trigger("submit", event.detail));
element.addEventListener("maintain:show", (event) => trigger("expand", event.detail));
"""
SCRIPT = (Path(__file__).parents[1] / "page" / "page.js").read_text("utf-8")
"""Opens dialogs, counts ticked rows and keeps the tab in the address."""


class ActionTable:
    """A table with actions in the tab that is laid out now. `rows.table` is the id of its HTML."""

    def __init__(self, context: PageContext, rows: RowActions, *, shows: str = "") -> None:
        """Lay out what an action has done, the table and its dialogs. `shows`: the button that shows more of a row."""
        self._context, self.rows, self.shows = context, rows, shows
        self.outcome = html(elem_id=f"{rows.table}-outcome")
        self.shown = html(elem_id=rows.table)
        with context.speaking():
            words = markup.dialogs(rows, shows)
        self._dialogs = gr.HTML(words, apply_default_css=False, js_on_load=_DIALOGS, elem_id=f"{rows.table}-dialogs")

    def wire(self, refresh: Refresh, watch: TaskWatch | None = None) -> None:
        """Connect the dialogs: what was done is said, and `refresh` follows. `watch`: of the tasks that workers do."""

        def act(request: gr.Request, event: gr.EventData, *typed: Any) -> tuple[Any, ...]:
            done: list[ActionResult] = []
            what = self._name_of(event._data)
            words = self._context.run(request, what, action=lambda ctx: self._act(ctx, event._data, results=done))
            tasks = [result.task_id for result in done if result.task_id is not None]
            changed = any(result.changed for result in done)
            watched = watch.values(tasks[-1] if tasks else None, changed=changed) if watch else ()
            return words, *watched, *refresh.values(request, typed)

        outputs = [self.outcome, *(watch.outputs if watch else ()), *refresh.outputs]
        self._context.with_counts(self._dialogs.submit, act, inputs=list(refresh.inputs), outputs=outputs)

    def wire_show(self, show: Callable[[ActionContext, str], str], target: gr.HTML) -> None:
        """Have the button that shows more of a row do that."""

        def show_row(request: gr.Request, event: gr.EventData) -> str:
            key = event._data.get("key") if isinstance(event._data, dict) else None
            return self._context.run(request, "show", action=lambda ctx: show(ctx, key if isinstance(key, str) else ""))

        self._dialogs.expand(show_row, None, [target], **QUIETLY)

    def _name_of(self, sent: Any) -> str:
        """Return what was asked, as it is noted where somebody is refused."""
        name = sent.get("action") if isinstance(sent, dict) else None
        return str(name) if name in self.rows.actions else "unknown action"

    def _act(self, ctx: ActionContext, sent: Any, *, results: list[ActionResult]) -> str:
        """Do what was asked, row by row: one that cannot be done does not keep the others from it."""
        asked = RowRequest.of(sent, self.rows.actions)
        action = self.rows.actions[asked.action]
        done: list[tuple[str, str]] = []
        for values in asked.values(action, self.rows.parameter):
            try:
                result: ActionResult = action.run(ctx, values)
            except (NotFound, ValueError) as refused:
                if not is_refusal(refused):
                    raise
                done.append((str(refused.args[0]), "bad"))
                continue
            done.append((result.message, "good" if result.changed else "busy"))
            results.append(result)
        return markup.outcomes(done)
