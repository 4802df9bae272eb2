"""Maintain tab for entries, over the same use cases as REST and the command line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradio as gr

from auth import Identity
from maintenance import markup
from maintenance.actions import entries, entry_search
from maintenance.page_context import QUIETLY, PageContext, html
from maintenance.types import ActionResult
from storage import metadata
from storage.database import Database

_SIMPLE: dict[str, Callable[[Database, Identity, str, str], ActionResult]] = {
    "Hide": entries.hide,
    "Restore": entries.restore,
    "Withdraw": entries.withdraw,
    "Verify": entries.verify,
    "Take verification back": entries.unverify,
    "Put a public note": entries.flag,
    "Take the note off": entries.unflag,
}
_MERGE, _TRANSFER = "Merge into", "Transfer to"


def build(context: PageContext) -> None:
    """Lay the section out in the current Blocks context and wire it."""
    with gr.Row():
        text = gr.Textbox("", label="Search", placeholder="model, owner or id; empty: the newest")
        search = gr.Button("Search", size="md")
        choice = gr.Dropdown([], label="Found", allow_custom_value=True)
    listed = html(elem_id="entries-found")
    with gr.Row():
        entry = gr.Textbox("", label="Entry", placeholder="e followed by eleven characters")
        show = gr.Button("Show", size="md")
    shown = html(elem_id="entry")
    with gr.Row():
        action = gr.Dropdown([*_SIMPLE, _MERGE, _TRANSFER], value="Hide", label="Decision", filterable=False)
        target = gr.Textbox("", label="Entry or account", placeholder="only to merge or transfer")
        reason = gr.Textbox("", label="Reason, or the note")
        decide = gr.Button("Decide", variant="primary", size="md")
    with gr.Row():
        field = gr.Dropdown(
            [(metadata.label(name), name) for name in metadata.NAMES], value="notes", label="Field", filterable=False
        )
        value = gr.Textbox("", label="New value", placeholder="empty clears it")
        change = gr.Button("Change", size="md")
    said = html(elem_id="entry-said")

    def finding(wanted: str, request: gr.Request) -> tuple[str, Any]:
        names: list[tuple[str, str]] = []

        def found(user: Identity) -> str:
            some = entry_search.search(context.database, user, context.benchmark, wanted)
            names.extend((f"{one.model} {one.version}".strip() + f" ({one.id})", one.id) for one in some.entries)
            return markup.entries_found(some)

        told = context.run(request, "entries", found)
        return told, gr.update(choices=names, value=None)

    def table(wanted: str, request: gr.Request) -> str:
        return finding(wanted, request)[0]

    def choosing(name: str | None, request: gr.Request) -> tuple[str, str]:
        return name or "", look(name or "", request)

    def look(name: str, request: gr.Request) -> str:
        return context.run(request, "entry", lambda user: _entry(context, user, name.strip()))

    def deciding(name: str, what: str, to: str, why: str, request: gr.Request) -> tuple[str, str]:
        def use(user: Identity) -> str:
            return markup.outcome(_decide(context, user, name.strip(), what, to.strip(), why))

        return context.run(request, what, use), look(name, request)

    def changing(name: str, column: str, new: str, request: gr.Request) -> tuple[str, str]:
        def edit(user: Identity) -> str:
            changes = {column: new}
            done = entries.edit(context.database, user, name.strip(), changes, context.parse, context.shipped())
            return markup.outcome(done)

        return context.run(request, "edit", edit), look(name, request)

    context.on_tab_open(finding, [listed, choice], [text])
    search.click(finding, [text], [listed, choice], **QUIETLY)
    text.submit(finding, [text], [listed, choice], **QUIETLY)
    choice.input(choosing, [choice], [entry, shown], **QUIETLY)
    show.click(look, [entry], [shown], **QUIETLY)
    decided = decide.click(deciding, [entry, action, target, reason], [said, shown], **QUIETLY)
    changed = change.click(changing, [entry, field, value], [said, shown], **QUIETLY)
    for done in (decided, changed):
        done.then(table, [text], [listed], **QUIETLY)


def _entry(context: PageContext, user: Identity, name: str) -> str:
    found, metadata = entries.look(context.database, user, name)
    standing = entry_search.standing(context.database, user, found.id)
    history = entries.history(context.database, user, name)
    names = context.names(user, (found.owner, *(one.editor for one in history)))
    return markup.entry(found, standing, metadata, history, names)


def _decide(context: PageContext, user: Identity, name: str, what: str, to: str, why: str) -> ActionResult:
    if what == _MERGE:
        return entries.merge(context.database, user, name, to, why)
    if what == _TRANSFER:
        return entries.transfer(context.database, user, name, to, why)
    return _SIMPLE[what](context.database, user, name, why)
