"""Maintain tab for tasks and their results, previews included."""

from __future__ import annotations

import gradio as gr

from maintenance.action_context import ActionContext
from maintenance.actions import account_search, operations, rescoring
from maintenance.page import markup
from maintenance.page.action_form import Refresh
from maintenance.page.page_context import QUIETLY, PageContext, html
from maintenance.page.row_actions import RowActions
from maintenance.tabs.action_table import ActionTable
from maintenance.types import whole_number
from vlrb.common.messages import _

_LEAD = _(
    "What maintainers asked of the workers lately. Show a task to see what came of it: a preview is shown as it was "
    "when it was made."
)


def build(context: PageContext) -> None:
    """Lay the section out in the current Blocks context and wire it."""
    html(context.hint(_LEAD))
    again = gr.Button(context.text(_("Refresh")), size="md")
    details = html(elem_id="task")
    table = ActionTable(
        context, RowActions.of(context.registry, "tasks", parameter="task", areas=["tasks"]), shows=_("Show")
    )

    def refreshed(request: gr.Request) -> str:
        return context.run(request, "tasks", action=recent)

    def recent(ctx: ActionContext) -> str:
        tasks = operations.recent_tasks(ctx)
        names = account_search.names(ctx, (task.requested_by for task in tasks))
        return markup.tasks(tasks, names, actions=table.rows, shows=table.shows)

    again.click(refreshed, outputs=[table.shown], **QUIETLY)
    table.wire_show(show_task, details)
    table.wire(Refresh(refreshed, [table.shown]))
    context.on_tab_open(refreshed, [table.shown])


def show_task(ctx: ActionContext, number: str) -> str:
    """Return a task, and the preview that it was."""
    task = operations.task(ctx, whole_number(number))
    result = markup.task(task)
    if task.kind == rescoring.PREVIEW and task.state == "done":
        result += markup.preview(rescoring.preview(ctx, task.id), task.id)
    return result
