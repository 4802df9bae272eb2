"""Maintain tab for anomaly cases."""

from __future__ import annotations

import gradio as gr

from maintenance import markup
from maintenance.action_form import ActionForm, Refresh
from maintenance.actions import anomalies
from maintenance.page_context import QUIETLY, PageContext, html

_LEAD = """<p class="vl-hint">Numbers beside limits, seen by maintainers only. None is a proof: temperature 0 gives
identical texts, fine-tunes of one model agree on nearly everything, a breakthrough is far above what was known. To
hide, withdraw or ban is a decision of its own; say here what you did.</p>"""


def build(context: PageContext) -> None:
    """Lay the section out in the current Blocks context and wire it."""
    form = ActionForm(context, "suspicions")
    html(_LEAD)
    with gr.Row():
        everything = gr.Checkbox(False, label="Include closed")
        form.button("suspicions.again")
    said = html(elem_id="suspicions-said")
    shown = html(elem_id="suspicions")
    with gr.Row():
        form.field("suspicion")
        form.field("reason", placeholder="what you saw, and what you did")
        form.button("suspicions.dismiss")
        form.button("suspicions.act", primary=True)
    form.rest()

    def look(closed: bool, request: gr.Request) -> str:
        return context.run(request, "suspicions", lambda ctx: markup.suspicions(anomalies.listing(ctx, closed)))

    context.on_tab_open(look, [shown], [everything])
    everything.input(look, [everything], [shown], **QUIETLY)
    form.wire(said, Refresh(lambda request, closed: look(closed, request), [shown], [everything]))
