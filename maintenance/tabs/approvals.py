"""Maintain tab for first submissions."""

from __future__ import annotations

import gradio as gr

from maintenance.actions import approvals
from maintenance.page import markup
from maintenance.page.action_form import Refresh
from maintenance.page.page_context import PageContext, html
from maintenance.page.row_actions import RowActions
from maintenance.tabs.action_table import ActionTable
from vlrb.common.messages import _

_LEAD = _(
    "The first submission of every account waits here where APPROVE_FIRST_UPLOAD is set, and every file with votes "
    "that need no judge. Until it is approved no label is touched. Its owner reads the reason of a rejection. "
    "An entry with votes that need no judge has no rank until you mark it as verified."
)


def build(context: PageContext) -> None:
    """Lay the section out in the current Blocks context and wire it."""
    html(context.hint(_LEAD))
    table = ActionTable(context, RowActions.of(context.registry, "approvals", parameter="entry", areas=["approvals"]))

    def look(request: gr.Request) -> str:
        return context.run(
            request, "approvals", action=lambda ctx: markup.approvals(approvals.waiting(ctx), table.rows)
        )

    context.on_tab_open(look, [table.shown])
    table.wire(Refresh(look, [table.shown]))
