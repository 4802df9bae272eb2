"""Maintain tab for entries: search, decisions, metadata."""

from __future__ import annotations

from typing import Any

import gradio as gr

from maintenance import markup
from maintenance.action_context import ActionContext
from maintenance.action_form import ActionForm, Refresh, value
from maintenance.actions import account_search, entries, entry_search
from maintenance.page_context import QUIETLY, PageContext, html
from maintenance.registry import Action, ActionParameter
from maintenance.types import ActionResult
from storage import metadata

_TARGET = "Entry or account"  # label of the field for the parameters that name another one


def build(context: PageContext) -> None:
    """Lay the section out in the current Blocks context and wire it."""
    form = ActionForm(context, "entries")
    decisions = {one.name: one for one in context.registry if _is_decision(one)}
    with gr.Row():
        text = gr.Textbox("", label="Search", placeholder="model, owner or id; empty: the newest")
        search = gr.Button("Search", size="md")
        choice = gr.Dropdown([], label="Found", allow_custom_value=True)
    listed = html(elem_id="entries-found")
    with gr.Row():
        entry = form.field("entry")
        show = gr.Button("Show", size="md")
    shown = html(elem_id="entry")
    with gr.Row():
        named = [(one.declared.button, name) for name, one in decisions.items()]
        action = gr.Dropdown(named, value="entries.hide", label="Decision", filterable=False)
        target = gr.Textbox("", label=_TARGET, placeholder="only to merge or transfer")
        reason = gr.Textbox("", label="Reason, or the note")
        decide = gr.Button("Decide", variant="primary", size="md")
    with gr.Row():
        field = gr.Dropdown(
            [(metadata.label(name), name) for name in metadata.NAMES], value="notes", label="Field", filterable=False
        )
        new = gr.Textbox("", label="New value", placeholder="empty clears it")
        change = gr.Button("Change", size="md")
    form.rest(placed=list(decisions))
    said = html(elem_id="entry-said")

    def finding(wanted: str, request: gr.Request) -> tuple[str, Any]:
        names: list[tuple[str, str]] = []

        def found(ctx: ActionContext) -> str:
            some = entry_search.search(ctx, wanted)
            names.extend((f"{one.model} {one.version}".strip() + f" ({one.id})", one.id) for one in some.entries)
            return markup.entries_found(some)

        return context.run(request, "entries", found), gr.update(choices=names, value=None)

    def table(wanted: str, request: gr.Request) -> str:
        return finding(wanted, request)[0]

    def choosing(name: str | None, request: gr.Request) -> tuple[str, str]:
        return name or "", look(name or "", request)

    def look(name: str, request: gr.Request) -> str:
        return context.run(request, "entry", lambda ctx: _entry(ctx, name.strip()))

    def deciding(name: str, what: str, to: str, why: str, request: gr.Request) -> tuple[str, str]:
        chosen = decisions[what]
        typed = {"entry": name, _TARGET: to}

        def use(ctx: ActionContext) -> ActionResult:
            values = {one.name: value(one, typed.get(_place(one), why)) for one in chosen.parameters}
            done: ActionResult = chosen.run(ctx, values)
            return done

        return context.run_action(request, what, use), look(name, request)

    def changing(name: str, column: str, text: str, request: gr.Request) -> tuple[str, str]:
        def edit(ctx: ActionContext) -> ActionResult:
            return entries.edit(ctx, name.strip(), {column: text})

        return context.run_action(request, "edit", edit), look(name, request)

    context.on_tab_open(finding, [listed, choice], [text])
    search.click(finding, [text], [listed, choice], **QUIETLY)
    text.submit(finding, [text], [listed, choice], **QUIETLY)
    choice.input(choosing, [choice], [entry, shown], **QUIETLY)
    show.click(look, [entry], [shown], **QUIETLY)
    form.wire(said, Refresh(lambda request, name: look(name, request), [shown], [entry]))
    decided = decide.click(deciding, [entry, action, target, reason], [said, shown], **QUIETLY)
    changed = change.click(changing, [entry, field, new], [said, shown], **QUIETLY)
    for done in (decided, changed):
        done.then(table, [text], [listed], **QUIETLY)


def _is_decision(action: Action[Any, Any]) -> bool:
    """Return whether an action needs an entry, perhaps another one or an account, and one text."""
    asked = [one for one in action.parameters if one.name != "entry" and one.info.label != _TARGET]
    return action.area == "entries" and bool(action.declared.button) and [one.type for one in asked] == [str]


def _place(one: ActionParameter) -> str:
    return _TARGET if one.info.label == _TARGET else one.name


def _entry(ctx: ActionContext, name: str) -> str:
    found, described = entries.look(ctx, name)
    standing = entry_search.standing(ctx, found.id)
    history = entries.history(ctx, name)
    names = account_search.names(ctx, (found.owner, *(one.editor for one in history)))
    return markup.entry(found, standing, described, history, names)
