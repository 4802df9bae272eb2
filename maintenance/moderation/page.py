"""The section of the maintain page about entries, over the same use cases as REST and the command line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradio as gr

from identity import Identity
from maintenance import entries, markup
from maintenance.desk import QUIETLY, Desk, html
from maintenance.moderation import listing
from maintenance.queries import METADATA
from maintenance.values import Done
from storage.database import Database

_SIMPLE: dict[str, Callable[[Database, Identity, str, str], Done]] = {
    "Hide": entries.hide,
    "Restore": entries.restore,
    "Withdraw": entries.withdraw,
    "Verify": entries.verify,
    "Take verification back": entries.unverify,
    "Put a public note": entries.flag,
    "Take the note off": entries.unflag,
}
_MERGE, _TRANSFER = "Merge into", "Transfer to"


def build(desk: Desk) -> None:
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
            [(markup.field(name), name) for name in METADATA], value="notes", label="Field", filterable=False
        )
        value = gr.Textbox("", label="New value", placeholder="empty clears it")
        change = gr.Button("Change", size="md")
    said = html(elem_id="entry-said")

    def finding(wanted: str, request: gr.Request) -> tuple[str, Any]:
        names: list[tuple[str, str]] = []

        def found(who: Identity) -> str:
            some = listing.search(desk.database, who, desk.benchmark, wanted)
            names.extend((f"{one.model} {one.version}".strip() + f" ({one.id})", one.id) for one in some.entries)
            return markup.entries_found(some)

        told = desk.attempt(request, "entries", found)
        return told, gr.update(choices=names, value=None)

    def table(wanted: str, request: gr.Request) -> str:
        return finding(wanted, request)[0]

    def choosing(name: str | None, request: gr.Request) -> tuple[str, str]:
        return name or "", look(name or "", request)

    def look(name: str, request: gr.Request) -> str:
        return desk.attempt(request, "entry", lambda who: _entry(desk, who, name.strip()))

    def deciding(name: str, what: str, to: str, why: str, request: gr.Request) -> tuple[str, str]:
        def use(who: Identity) -> str:
            return markup.outcome(_decide(desk, who, name.strip(), what, to.strip(), why))

        return desk.attempt(request, what, use), look(name, request)

    def changing(name: str, column: str, new: str, request: gr.Request) -> tuple[str, str]:
        def edit(who: Identity) -> str:
            changes = {column: new}
            done = entries.edit(desk.database, who, name.strip(), changes, desk.parse, desk.shipped())
            return markup.outcome(done)

        return desk.attempt(request, "edit", edit), look(name, request)

    desk.on_open(finding, [listed, choice], [text])
    search.click(finding, [text], [listed, choice], **QUIETLY)
    text.submit(finding, [text], [listed, choice], **QUIETLY)
    choice.input(choosing, [choice], [entry, shown], **QUIETLY)
    show.click(look, [entry], [shown], **QUIETLY)
    decided = decide.click(deciding, [entry, action, target, reason], [said, shown], **QUIETLY)
    changed = change.click(changing, [entry, field, value], [said, shown], **QUIETLY)
    for done in (decided, changed):
        done.then(table, [text], [listed], **QUIETLY)


def _entry(desk: Desk, who: Identity, name: str) -> str:
    found, metadata = entries.look(desk.database, who, name)
    standing = listing.standing(desk.database, who, found.id)
    history = entries.history(desk.database, who, name)
    names = desk.names(who, (found.owner, *(one.editor for one in history)))
    return markup.entry(found, standing, metadata, history, names)


def _decide(desk: Desk, who: Identity, name: str, what: str, to: str, why: str) -> Done:
    if what == _MERGE:
        return entries.merge(desk.database, who, name, to, why)
    if what == _TRANSFER:
        return entries.transfer(desk.database, who, name, to, why)
    return _SIMPLE[what](desk.database, who, name, why)
