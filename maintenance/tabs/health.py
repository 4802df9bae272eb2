"""Maintain tab for the health of the service: queue, workers, failures, pause, backup."""

from __future__ import annotations

import gradio as gr

from maintenance.action_context import ActionContext
from maintenance.actions import operations
from maintenance.page import markup
from maintenance.page.action_form import ActionForm, Refresh
from maintenance.page.page_context import QUIETLY, PageContext, html
from maintenance.page.row_actions import RowActions
from maintenance.tabs.action_table import ActionTable
from vlrb.common.messages import _


def build(context: PageContext) -> None:
    """Lay the section out in the current Blocks context and wire it."""
    form = ActionForm(context, "service", "jobs")
    jobs_rows = RowActions.of(context.registry, "failed-jobs", parameter="job", areas=["jobs"])
    tasks_rows = RowActions.of(context.registry, "failed-tasks", parameter="task", areas=["tasks"])
    with gr.Row():
        again = gr.Button(context.text(_("Refresh")), size="md")
        form.button("service.backup")
        form.button("jobs.retry_all")
    answer, report = html(elem_id="health-said"), html(elem_id="health")
    jobs, tasks = ActionTable(context, jobs_rows), ActionTable(context, tasks_rows)
    with gr.Row():
        form.fields("message")
        form.button("service.pause")
        form.button("service.resume")
    form.rest(placed=list(jobs_rows.actions))

    def look(request: gr.Request) -> tuple[str, str, str]:
        parts: list[str] = []

        def health(ctx: ActionContext) -> str:
            parts.extend(markup.health(operations.health(ctx), jobs_rows, tasks_rows=tasks_rows))
            return parts[0]

        state = context.run(request, "health", action=health)
        return (state, parts[1], parts[2]) if parts else (state, "", "")

    outputs = [report, jobs.shown, tasks.shown]
    again.click(look, outputs=outputs, **QUIETLY)
    refresh = Refresh(look, outputs)
    form.wire(answer, refresh)
    for table in (jobs, tasks):
        table.wire(refresh)
    context.on_tab_open(look, outputs)
