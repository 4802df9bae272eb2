"""Maintain tab for label revisions: import, preview, apply, and the other decisions about one."""

from __future__ import annotations

from typing import Any

import gradio as gr

from maintenance.action_context import ActionContext
from maintenance.actions import account_search, labels, operations, rescoring
from maintenance.page import markup
from maintenance.page.action_form import ActionForm, Refresh
from maintenance.page.page_context import PageContext, TaskWatch, html
from maintenance.page.row_actions import RowActions
from maintenance.tabs.action_table import ActionTable
from storage.labels import label_sets
from vlrb.common.messages import _
from vlrb.disclosure import HIDDEN, LEVELS

_POLL_SECONDS = 2.0  # thirty calls a minute of those that one address may make
_LEAD = _(
    "Preview a revision before you apply it. Retiring reveals the salt of a revision's commitment, so that everybody "
    "who has the labels can check it: python -m workers commitment. That cannot be taken back, and the revision can "
    "never be previewed or applied again. Disclosing makes a revision public for good. Discarding removes a draft that "
    "was never applied; its name is free again."
)


def build(context: PageContext) -> None:
    """Lay the section out in the current Blocks context and wire it."""
    html(context.hint(_LEAD))
    rows = RowActions.of(context.registry, "revisions", parameter="revision", areas=["labels", "rescore"], alone=True)
    rows = rows.without("labels.import")
    table = ActionTable(context, rows)
    progress, preview = html(elem_id="rescore-said"), html(elem_id="preview")
    form = _lay_out_import(context, rows)
    watch = TaskWatch(gr.State(None), gr.Timer(_POLL_SECONDS, active=False), progress=progress, result=preview)

    def look(request: gr.Request) -> str:
        return context.run(request, "labels", action=lambda ctx: _revisions(ctx, rows))

    def tick(number: int | None, request: gr.Request) -> tuple[Any, ...]:
        return _progress(context, number, request=request), *_after(context, number, request=request), look(request)

    refresh = Refresh(look, [table.shown])
    table.wire(refresh, watch)
    form.wire(table.outcome, refresh, watch=watch)
    outputs = [progress, preview, watch.clock, table.shown]
    watch.clock.tick(tick, [watch.task], outputs, api_visibility="private", show_progress="hidden")
    context.on_tab_open(look, [table.shown])


def _lay_out_import(context: PageContext, rows: RowActions) -> ActionForm:
    form = ActionForm(context, "labels", "rescore")
    html(markup.heading(context.text(_("Import a revision"))))
    with gr.Row():
        form.field("revision", label=context.text(_("Name of the new revision")))
        form.field("source")
        form.field("reason")
    with gr.Row():
        levels = [(context.text(level), level) for level in LEVELS]
        form.field("disclosure", choices=levels, value=HIDDEN, label=context.text(_("Shown of scores")))
        form.button("labels.import")
    form.rest(placed=list(rows.actions))
    return form


def _revisions(ctx: ActionContext, rows: RowActions) -> str:
    known = labels.revisions(ctx)
    with ctx.database.read() as session:
        board = label_sets.current(session, ctx.benchmark)
    names = account_search.names(ctx, (row.requested_by for row in known))
    return markup.revisions(known, names, actions=rows, current=board.label_revision if board else "")


def _progress(context: PageContext, number: int | None, *, request: gr.Request) -> str:
    if number is None:
        return ""
    return context.run(request, "task", action=lambda ctx: markup.task(operations.task(ctx, number)))


def _after(context: PageContext, number: int | None, *, request: gr.Request) -> tuple[Any, Any]:
    """Return the preview, where the task was one and is done; and whether to go on looking."""
    ended = [True]

    def ended_preview(ctx: ActionContext) -> str:
        task = operations.task(ctx, number or 0)
        ended[0] = task.ended
        done = task.kind == rescoring.PREVIEW and task.state == "done"
        return markup.preview(rescoring.preview(ctx, task.id), task.id) if done else ""

    preview_html = context.run(request, "preview", action=ended_preview) if number is not None else ""
    return preview_html or gr.skip(), gr.update(active=not ended[0])
