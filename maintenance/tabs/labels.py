"""Maintain tab for label revisions: import, preview, apply, and the other decisions about one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gradio as gr

from benchmark.disclosure import BY_CATEGORY, LEVELS
from maintenance import markup
from maintenance.action_context import ActionContext
from maintenance.action_form import ActionForm, Refresh, parts
from maintenance.actions import account_search, labels, operations, rescoring
from maintenance.actions.labels import DisclosureLevel
from maintenance.actions.rescoring import RescoreScope
from maintenance.page_context import QUIETLY, PageContext, html
from maintenance.types import ActionResult, Conflict

_POLL_SECONDS = 2.0  # thirty calls a minute of those that one address may make
_RETIRE = """<p class="vl-hint">Retiring reveals the salt of a revision's commitment, so that everybody who has the
labels can check it: <code>python -m workers commitment</code>. That cannot be taken back, and the revision can never be
previewed or applied again. What a preview has found stays on the tab Tasks. Disclosing makes a revision public:
everything that its scores tell may be shown, which cannot be taken back either. Discarding removes a draft that was
never applied; its name is free again.</p>"""


@dataclass(frozen=True, slots=True)
class _Layout:
    """The components of the tab. `inputs` are in the order of the parameters of `build`'s handlers."""

    known: gr.HTML
    inputs: list[Any]
    buttons: tuple[gr.Button, ...]  # import, preview, apply, undo, retire, disclose, discard
    said: gr.HTML
    result: gr.HTML


def _lay_out(context: PageContext, form: ActionForm) -> _Layout:
    def button(name: str, *, primary: bool = False) -> gr.Button:
        text = context.registry[name].declared.button
        return gr.Button(text, size="md", variant="primary" if primary else "secondary")

    known = html(elem_id="revisions")
    with gr.Row():
        revision = form.field("revision")
        reason = form.field("reason", placeholder="to import, apply, undo, disclose, discard or retire it")
    with gr.Row():
        source = form.field("source")
        level = gr.Dropdown(list(LEVELS), value=BY_CATEGORY, label="Shown of scores", filterable=False)
        meant = gr.Checkbox(False, label="They may be nearly those of a public set")
        add = button("labels.import")
    with gr.Accordion("Only a part, or other rules", open=False, elem_classes=["vl-part"]), gr.Row():
        entry = gr.Textbox("", label="Entries", placeholder="ids, separated by commas; empty: all")
        where = gr.Textbox("", label="Where", placeholder="model=qwen, organisation=lab")
        version = gr.Textbox("", label="Scorer version", placeholder="that of the workers, if not the board's")
    with gr.Row():
        preview = button("rescore.preview")
        typed = gr.Textbox("", label="To apply, undo, disclose, discard or retire, type the revision's name again")
        apply, undo = button("rescore.apply", primary=True), button("rescore.undo")
        retire = button("labels.retire")
        disclose, discard = button("labels.disclose"), button("labels.discard")
    form.rest(placed=list(_ACTIONS))
    html(_RETIRE)
    inputs = [revision, source, reason, level, typed, entry, where, version, meant]
    buttons = (add, preview, apply, undo, retire, disclose, discard)
    return _Layout(known, inputs, buttons, html(elem_id="rescore-said"), html(elem_id="preview"))


def build(context: PageContext) -> None:
    """Lay the section out in the current Blocks context and wire it."""
    form = ActionForm(context, "labels", "rescore")
    layout = _lay_out(context, form)
    task, clock = gr.State(None), gr.Timer(_POLL_SECONDS, active=False)

    def asking(
        what: str, use_case: Callable[[ActionContext, _RevisionForm], ActionResult]
    ) -> Callable[..., tuple[Any, ...]]:
        def run(request: gr.Request, *typed: Any) -> tuple[Any, ...]:
            *texts, accepted = typed  # in the order of the layout's inputs
            revision, source, reason, level, again, *part = texts
            started: list[int | None] = [None]
            left: list[Any] = [gr.skip()]  # an earlier preview, until something else happens or is asked for

            def action(ctx: ActionContext) -> ActionResult:
                done = use_case(ctx, _RevisionForm.of(revision, source, reason, (level, accepted), again, *part))
                started[0] = done.task_id
                if done.changed or done.task_id is not None:
                    left[0] = ""
                return done

            words = context.run_action(request, what, action)
            return words, started[0], gr.update(active=started[0] is not None), look(request), left[0]

        return run

    def look(request: gr.Request) -> str:
        def revisions(ctx: ActionContext) -> str:
            known = labels.revisions(ctx)
            return markup.revisions(known, account_search.names(ctx, (one.requested_by for one in known)))

        return context.run(request, "labels", revisions)

    def watch(number: int | None, request: gr.Request) -> tuple[Any, ...]:
        return _watch(context, number, request), *_after(context, number, request), look(request)

    outputs = [layout.said, task, clock, layout.known, layout.result]
    for (name, use_case), button in zip(_ACTIONS.items(), layout.buttons, strict=True):
        button.click(asking(name, use_case), layout.inputs, outputs, **QUIETLY)
    shown = [layout.said, layout.result, clock, layout.known]
    clock.tick(watch, [task], shown, api_visibility="private", show_progress="hidden")
    form.wire(layout.said, Refresh(look, [layout.known]))
    context.on_tab_open(look, [layout.known])


@dataclass(frozen=True, slots=True)
class _RevisionForm:
    """Values of the tab's fields."""

    revision: str
    source: str
    reason: str
    level: str  # of disclosure
    accepted: bool  # labels that nearly say the same as public ones
    typed: str
    scope: RescoreScope

    @classmethod
    def of(
        cls, revision: str, source: str, reason: str, shown: tuple[str, bool], typed: str, *part: str
    ) -> _RevisionForm:
        """Raise Conflict where a filter is none."""
        ids, where, version = (text.strip() for text in part)
        filters = [tuple(map(str.strip, one.partition("="))) for one in where.split(",") if one.strip()]
        if any(not sign or not name for name, sign, _ in filters):
            raise Conflict("bad-filter", "Write filters as field=text, separated by commas.")
        scope = RescoreScope(parts(ids), {name: text for name, _, text in filters}, version)
        return cls(revision.strip(), source, reason, *shown, typed.strip(), scope)


def _import(ctx: ActionContext, it: _RevisionForm) -> ActionResult:
    level = DisclosureLevel(it.level or "", accept_weak_hiding=it.accepted)
    return labels.request_import(ctx, it.revision, it.source, it.reason, level)


def _preview(ctx: ActionContext, it: _RevisionForm) -> ActionResult:
    return rescoring.request_preview(ctx, it.revision, it.scope)


def _apply(ctx: ActionContext, it: _RevisionForm) -> ActionResult:
    return rescoring.request_apply(ctx, it.revision, it.reason, it.typed, it.scope)


def _undo(ctx: ActionContext, it: _RevisionForm) -> ActionResult:
    """Return the field that names the revision is that of a preview too, so here it is typed again, as for an apply."""
    if it.typed != it.revision:
        raise Conflict("not-confirmed", f"To confirm, type {it.revision}.")
    return rescoring.undo(ctx, it.revision, it.reason)


def _disclose(ctx: ActionContext, it: _RevisionForm) -> ActionResult:
    """Return one field names the revision for all buttons, so here it is typed again."""
    return labels.disclose(ctx, it.revision, it.reason, it.typed or " ")


def _discard(ctx: ActionContext, it: _RevisionForm) -> ActionResult:
    """As for disclosing."""
    if it.typed != it.revision:
        raise Conflict("not-confirmed", f"To confirm, type {it.revision}.")
    return labels.request_discard(ctx, it.revision, it.reason)


def _retire(ctx: ActionContext, it: _RevisionForm) -> ActionResult:
    return labels.request_retire(ctx, it.revision, it.reason, it.typed)


def _watch(context: PageContext, number: int | None, request: gr.Request) -> str:
    if number is None:
        return ""
    return context.run(request, "task", lambda ctx: markup.task(operations.task(ctx, number)))


def _after(context: PageContext, number: int | None, request: gr.Request) -> tuple[Any, Any]:
    """Return the preview, where the task was one and is done; and whether to go on looking."""
    ended = [True]

    def found(ctx: ActionContext) -> str:
        task = operations.task(ctx, number or 0)
        ended[0] = task.ended
        done = task.kind == rescoring.PREVIEW and task.state == "done"
        return markup.preview(rescoring.preview(ctx, task.id), task.id) if done else ""

    shown = context.run(request, "preview", found) if number is not None else ""
    return shown or gr.skip(), gr.update(active=not ended[0])


_ACTIONS: dict[str, Callable[[ActionContext, _RevisionForm], ActionResult]] = {
    "labels.import": _import,
    "rescore.preview": _preview,
    "rescore.apply": _apply,
    "rescore.undo": _undo,
    "labels.retire": _retire,
    "labels.disclose": _disclose,
    "labels.discard": _discard,
}
"""In the order of the buttons."""
