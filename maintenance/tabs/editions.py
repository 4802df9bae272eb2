"""Maintain tab for editions: make one of a closed project about candidates, and see which were made."""

from __future__ import annotations

import gradio as gr

from maintenance import curation_text
from maintenance.action_context import ActionContext
from maintenance.actions import editions
from maintenance.page import markup
from maintenance.page.page_context import QUIETLY, PageContext, html
from vlrb.common.messages import _

_LEAD = _(
    "A worker makes an edition of a closed verification project about candidates: a public folder with definition, "
    "manifest, data card and questions, and a private one with the labels. An edition never changes. To serve it, name "
    "its folder in BENCHMARK_DEFINITIONS and its labels in LABELS. Start it at the project, on the tab Verification."
)


def build(context: PageContext) -> None:
    """Lay the section out in the current Blocks context and wire it."""
    html(context.hint(_LEAD))
    again = gr.Button(context.text(_("Refresh")), size="md")
    listed = html(elem_id="editions")

    def look(request: gr.Request) -> str:
        return context.run(request, "editions", action=_listed)

    again.click(look, outputs=[listed], **QUIETLY)
    context.on_tab_open(look, [listed])


def _listed(ctx: ActionContext) -> str:
    head = (_("Edition"), _("Title"), _("Version"), _("Pairs"), _("Filtered by"), _("Public folder"), _("Labels"))
    rows = [
        (
            item["edition"],
            item["title"],
            item["version"],
            curation_text.edition_size(item),
            ", ".join(item["filtered_by"]) or markup.NOTHING,
            item["public_folder"],
            item["private_folder"],
        )
        for item in editions.exported(ctx)
    ]
    return markup.table(_("Editions"), head, rows=rows, nothing=_("No edition was made here."))
