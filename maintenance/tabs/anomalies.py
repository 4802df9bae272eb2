"""Maintain tab for anomaly cases."""

from __future__ import annotations

import gradio as gr

from common.messages import _
from maintenance.actions import anomalies
from maintenance.page import markup
from maintenance.page.action_form import ActionForm, Refresh
from maintenance.page.page_context import QUIETLY, PageContext, html
from maintenance.page.row_actions import RowActions
from maintenance.tabs.action_table import ActionTable

_LEAD = _(
    "Numbers beside limits, seen by maintainers only. None is a proof: temperature 0 gives identical texts, "
    "fine-tunes of one model agree on nearly everything, a breakthrough is far above what was known. To hide, "
    "withdraw or ban is a decision of its own; say here what you did."
)


def build(context: PageContext) -> None:
    """Lay the section out in the current Blocks context and wire it."""
    html(context.hint(_LEAD))
    table = ActionTable(
        context, RowActions.of(context.registry, "suspicions", parameter="suspicion", areas=["suspicions"])
    )
    everything = gr.Checkbox(False, label=context.text(_("Include closed")))
    form = ActionForm(context, "suspicions")
    form.rest(placed=list(table.rows.actions))

    def look(closed: bool, request: gr.Request) -> str:
        return context.run(
            request, "suspicions", action=lambda ctx: markup.suspicions(anomalies.listing(ctx, closed), table.rows)
        )

    context.on_tab_open(look, [table.shown], inputs=[everything])
    everything.input(look, [everything], [table.shown], **QUIETLY)
    refresh = Refresh(lambda request, closed: look(closed, request), [table.shown], inputs=[everything])
    table.wire(refresh)
    form.wire(table.outcome, refresh)
