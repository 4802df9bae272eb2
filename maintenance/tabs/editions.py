"""Maintain tab for editions: make one of a closed project about candidates, and see which were made."""

from __future__ import annotations

import gradio as gr

from maintenance import curation_text, markup
from maintenance.action_context import ActionContext
from maintenance.action_form import ActionForm, Refresh
from maintenance.actions import editions
from maintenance.page_context import QUIETLY, PageContext, html

_LEAD = """<p class="vl-hint">A worker makes an edition of a closed verification project about candidates: a public
folder with definition, manifest, data card and questions, and a private one with the labels. An edition never changes.
To serve it, name its folder in <code>BENCHMARK_DEFINITIONS</code> and its labels in <code>LABELS</code>.</p>"""


def build(context: PageContext) -> None:
    """Lay the section out in the current Blocks context and wire it."""
    form = ActionForm(context, "editions")
    html(_LEAD)
    with gr.Row():
        form.fields("project", "id", "title", "reason")
    with gr.Row():
        form.field("version")
        form.field("hidden", minimum=0, maximum=100)
        form.fields("retire", "citation", "partial")
        form.button("editions.export", primary=True)
    form.rest()
    said = html(elem_id="editions-said")
    again = gr.Button("Show editions", size="md")
    listed = html(elem_id="editions")

    def look(request: gr.Request) -> str:
        return context.run(request, "editions", _listed)

    form.wire(said, Refresh(look, [listed]))
    again.click(look, outputs=[listed], **QUIETLY)
    context.on_tab_open(look, [listed])


def _listed(ctx: ActionContext) -> str:
    head = ("Edition", "Title", "Version", "Pairs", "Filtered by", "Public folder", "Labels")
    rows = [
        (
            one["edition"],
            one["title"],
            one["version"],
            curation_text.edition_size(one),
            ", ".join(one["filtered_by"]) or markup.NOTHING,
            one["public_folder"],
            one["private_folder"],
        )
        for one in editions.exported(ctx)
    ]
    return markup.table("Editions", head, rows, "No edition was made here.")
