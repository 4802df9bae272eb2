"""Maintain tab for tasks and their results, previews included."""

from __future__ import annotations

from typing import Any

import gradio as gr

from maintenance import markup
from maintenance.action_context import ActionContext
from maintenance.actions import account_search, operations, rescoring
from maintenance.page_context import QUIETLY, PageContext, html
from maintenance.types import whole_number

_LEAD = """<p class="vl-hint">What maintainers asked of the workers lately. Choose a task to see what came of it: a
preview is shown as it was when it was made.</p>"""


def build(context: PageContext) -> None:
    """Lay the section out in the current Blocks context and wire it."""
    html(_LEAD)
    with gr.Row():
        choice = gr.Dropdown([], label="Task", allow_custom_value=True)
        again = gr.Button("Refresh", size="md")
    shown, listed = html(elem_id="task"), html(elem_id="tasks")

    def asked(request: gr.Request) -> tuple[str, Any]:
        names: list[tuple[str, str]] = []

        def recent(ctx: ActionContext) -> str:
            recent_tasks = operations.recent_tasks(ctx)
            names.extend(
                (
                    f"{recent_task.id}: {recent_task.kind} {recent_task.subject}, {recent_task.state}",
                    str(recent_task.id),
                )
                for recent_task in recent_tasks
            )
            return markup.tasks(
                recent_tasks, account_search.names(ctx, (recent_task.requested_by for recent_task in recent_tasks))
            )

        shown = context.run(request, "tasks", recent)
        return shown, gr.update(choices=names, value=None)

    def showing(number: str | None, request: gr.Request) -> str:
        return context.run(request, "task", lambda ctx: _result(ctx, whole_number(number or "")))

    again.click(asked, outputs=[listed, choice], **QUIETLY)
    choice.input(showing, [choice], [shown], **QUIETLY)
    context.on_tab_open(asked, [listed, choice])


def _result(ctx: ActionContext, number: int) -> str:
    task = operations.task(ctx, number)
    shown = markup.task(task)
    if task.kind == rescoring.PREVIEW and task.state == "done":
        shown += markup.preview(rescoring.preview(ctx, number), number)
    return shown
