"""Maintain tab for first submissions."""

from __future__ import annotations

import gradio as gr

from maintenance import markup
from maintenance.action_form import ActionForm, Refresh
from maintenance.actions import approvals
from maintenance.page_context import PageContext, html

_LEAD = """<p class="vl-hint">The first submission of every account waits here where APPROVE_FIRST_UPLOAD is set, and
under labels that are not public every file with more than NULL_VOTES_APPROVAL percent of votes for neither response.
Until it is approved no label is touched. Its owner reads the reason of a rejection.</p>"""


def build(context: PageContext) -> None:
    """Lay the section out in the current Blocks context and wire it."""
    form = ActionForm(context, "approvals")
    html(_LEAD)
    said = html(elem_id="approvals-said")
    shown = html(elem_id="approvals")
    with gr.Row():
        form.fields("entry", "reason")
        form.button("approvals.approve", primary=True)
        form.button("approvals.reject")
    form.rest()

    def look(request: gr.Request) -> str:
        return context.run(request, "approvals", lambda ctx: markup.approvals(approvals.waiting(ctx)))

    context.on_tab_open(look, [shown])
    form.wire(said, Refresh(look, [shown]))
