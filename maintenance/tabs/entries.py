"""Maintain tab for entries: search, decisions, metadata."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class _Search:
    """Components that search for entries."""

    text: gr.Textbox
    button: gr.Button
    choice: gr.Dropdown
    listed: gr.HTML


@dataclass(frozen=True, slots=True)
class _Decision:
    """Components of a decision about one entry. `inputs` are in the order of the handler's parameters."""

    button: gr.Button
    inputs: list[Any]


def build(context: PageContext) -> None:
    """Lay the section out in the current Blocks context and wire it."""
    form = ActionForm(context, "entries")
    handlers = _Handlers(context, {one.name: one for one in context.registry if _is_decision(one)})
    search = _lay_out_search()
    with gr.Row():
        entry = form.field("entry")
        show = gr.Button("Show", size="md")
    shown = html(elem_id="entry")
    decision, edit = _lay_out_decision(handlers.decisions, entry), _lay_out_edit(entry)
    form.rest(placed=list(handlers.decisions))
    said = html(elem_id="entry-said")

    context.on_tab_open(handlers.find, [search.listed, search.choice], [search.text])
    search.button.click(handlers.find, [search.text], [search.listed, search.choice], **QUIETLY)
    search.text.submit(handlers.find, [search.text], [search.listed, search.choice], **QUIETLY)
    search.choice.input(handlers.choose, [search.choice], [entry, shown], **QUIETLY)
    show.click(handlers.show, [entry], [shown], **QUIETLY)
    form.wire(said, Refresh(lambda request, name: handlers.show(name, request), [shown], [entry]))
    decided = decision.button.click(handlers.decide, decision.inputs, [said, shown], **QUIETLY)
    edited = edit.button.click(handlers.edit, edit.inputs, [said, shown], **QUIETLY)
    for done in (decided, edited):
        done.then(handlers.table, [search.text], [search.listed], **QUIETLY)


def _lay_out_search() -> _Search:
    with gr.Row():
        text = gr.Textbox("", label="Search", placeholder="model, owner or id; empty: the newest")
        button = gr.Button("Search", size="md")
        choice = gr.Dropdown([], label="Found", allow_custom_value=True)
    return _Search(text, button, choice, html(elem_id="entries-found"))


def _lay_out_decision(decisions: Mapping[str, Action[Any, Any]], entry: Any) -> _Decision:
    with gr.Row():
        named = [(one.declared.button, name) for name, one in decisions.items()]
        action = gr.Dropdown(named, value="entries.hide", label="Decision", filterable=False)
        target = gr.Textbox("", label=_TARGET, placeholder="only to merge or transfer")
        reason = gr.Textbox("", label="Reason, or the note")
        button = gr.Button("Decide", variant="primary", size="md")
    return _Decision(button, [entry, action, target, reason])


def _lay_out_edit(entry: Any) -> _Decision:
    fields = [(metadata.label(name), name) for name in metadata.NAMES]
    with gr.Row():
        field = gr.Dropdown(fields, value="notes", label="Field", filterable=False)
        new = gr.Textbox("", label="New value", placeholder="empty clears it")
        button = gr.Button("Change", size="md")
    return _Decision(button, [entry, field, new])


@dataclass(frozen=True, slots=True)
class _Handlers:
    """Handlers of the section's events."""

    context: PageContext
    decisions: Mapping[str, Action[Any, Any]]

    def find(self, wanted: str, request: gr.Request) -> tuple[str, Any]:
        names: list[tuple[str, str]] = []

        def search(ctx: ActionContext) -> str:
            match = entry_search.search(ctx, wanted)
            names.extend(
                (f"{entry.model} {entry.version}".strip() + f" ({entry.id})", entry.id) for entry in match.entries
            )
            return markup.entries_found(match)

        return self.context.run(request, "entries", search), gr.update(choices=names, value=None)

    def table(self, wanted: str, request: gr.Request) -> str:
        return self.find(wanted, request)[0]

    def choose(self, name: str | None, request: gr.Request) -> tuple[str, str]:
        return name or "", self.show(name or "", request)

    def show(self, name: str, request: gr.Request) -> str:
        return self.context.run(request, "entry", lambda ctx: _entry(ctx, name.strip()))

    def decide(self, name: str, what: str, to: str, why: str, request: gr.Request) -> tuple[str, str]:
        chosen = self.decisions[what]
        typed = {"entry": name, _TARGET: to}

        def use(ctx: ActionContext) -> ActionResult:
            values = {
                parameter.name: value(parameter, typed.get(_place(parameter), why)) for parameter in chosen.parameters
            }
            done: ActionResult = chosen.run(ctx, values)
            return done

        return self.context.run_action(request, what, use), self.show(name, request)

    def edit(self, name: str, column: str, text: str, request: gr.Request) -> tuple[str, str]:
        def change(ctx: ActionContext) -> ActionResult:
            return entries.edit(ctx, name.strip(), {column: text})

        return self.context.run_action(request, "edit", change), self.show(name, request)


def _is_decision(action: Action[Any, Any]) -> bool:
    """Return whether an action needs an entry, perhaps another one or an account, and one text."""
    asked = [
        parameter for parameter in action.parameters if parameter.name != "entry" and parameter.info.label != _TARGET
    ]
    return action.area == "entries" and bool(action.declared.button) and [one.type for one in asked] == [str]


def _place(action_parameter: ActionParameter) -> str:
    return _TARGET if action_parameter.info.label == _TARGET else action_parameter.name


def _entry(ctx: ActionContext, name: str) -> str:
    result, described = entries.look(ctx, name)
    standing = entry_search.standing(ctx, result.id)
    history = entries.history(ctx, name)
    names = account_search.names(ctx, (result.owner, *(one.editor for one in history)))
    return markup.entry(result, standing, described, history, names)
