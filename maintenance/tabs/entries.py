"""Maintain tab for entries: search, decisions, metadata."""

from __future__ import annotations

import gradio as gr

from maintenance.action_context import ActionContext
from maintenance.actions import account_search, entries, entry_search
from maintenance.page import markup
from maintenance.page.action_form import ActionForm, Refresh
from maintenance.page.page_context import QUIETLY, PageContext, html
from maintenance.page.row_actions import RowActions
from maintenance.tabs.action_table import ActionTable
from storage import metadata
from vlrb.common.messages import _

_SINGLE = ("entries.edit", "entries.merge")  # for one entry at a time


def build(context: PageContext) -> None:
    """Lay the section out in the current Blocks context and wire it."""
    with gr.Row():
        text = gr.Textbox(
            "", label=context.text(_("Search")), placeholder=context.text(_("model, owner or id; empty: the newest"))
        )
        search = gr.Button(context.text(_("Search")), size="md")
    rows = RowActions.of(
        context.registry,
        "entries-found",
        parameter="entry",
        areas=["entries"],
        single=_SINGLE,
        choices={"changes": metadata.NAMES},
        suggestions=("into", "to"),
    )
    table = ActionTable(context, rows, shows=_("Show"))
    details = html(elem_id="entry")
    form = ActionForm(context, "entries")
    form.rest(placed=list(rows.actions))

    def find(wanted: str, request: gr.Request) -> str:
        return context.run(
            request,
            "entries",
            action=lambda ctx: markup.entries_found(entry_search.search(ctx, wanted), rows, shows=table.shows),
        )

    context.on_tab_open(find, [table.shown], inputs=[text])
    search.click(find, [text], [table.shown], **QUIETLY)
    text.submit(find, [text], [table.shown], **QUIETLY)
    table.wire_show(_entry, details)
    refresh = Refresh(lambda request, wanted: (find(wanted, request), ""), [table.shown, details], inputs=[text])
    table.wire(refresh)
    form.wire(table.outcome, refresh)


def _entry(ctx: ActionContext, name: str) -> str:
    result, described = entries.look(ctx, name)
    standing = entry_search.standing(ctx, result.id)
    history = entries.history(ctx, name)
    names = account_search.names(ctx, (result.owner, *(change.editor for change in history)))
    return markup.entry(result, standing, metadata=described, history=history, names=names)
