"""Maintain tab for reported results."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import gradio as gr

from maintenance import markup
from maintenance.action_context import ActionContext
from maintenance.action_form import ActionForm, Refresh
from maintenance.actions import reported
from maintenance.page_context import QUIETLY, PageContext, html
from maintenance.reported_file import ReportedFileRejected, fields
from maintenance.types import ActionResult, Conflict

_LEAD = """<p class="vl-hint">A CSV or JSON file, one row a result: <code>name</code>, <code>url</code> of the source
and percentages ({overall} at least). All rows are taken or none. They stand beside
those that come with the service; what is there already, with the same numbers, is left alone.</p>"""


def build(context: PageContext) -> None:
    """Lay the section out in the current Blocks context and wire it."""
    form = ActionForm(context, "reported")
    spec = context.actions.items.table.spec
    html(_LEAD.format(overall=" or ".join(f"<code>{key}</code>" for key in spec.overall_keys)))
    file = gr.File(label="CSV or JSON", type="filepath", elem_id="reported-file", height=110)
    with gr.Row():
        why = gr.Textbox("", label="Reason", placeholder="where these results come from")
        check, add = gr.Button("Check the file", size="md"), gr.Button("Import", variant="primary", size="md")
    said, shown = html(elem_id="reported-said"), html(elem_id="reported")
    with gr.Row():
        result = form.field("result")
        reason = form.field("reason")
        form.button("reported.remove")
        form.button("reported.restore")
    with gr.Row():
        field = gr.Dropdown(list(fields(spec)), value=spec.headline, label="Field of the result", filterable=False)
        value = gr.Textbox("", label="Its new value", placeholder="empty clears it")
        change = gr.Button("Correct", size="md")
    form.rest()

    def results(request: gr.Request) -> str:
        return context.run(request, "reported", lambda ctx: markup.reported_results(reported.results(ctx)))

    def importing(dry_run: bool) -> Callable[..., tuple[str, str]]:
        def run(path: str | None, text: str, request: gr.Request) -> tuple[str, str]:
            done = context.run(request, "import reported", lambda ctx: _import(ctx, path, text, dry_run))
            return done, results(request)

        return run

    def correcting(name: str, text: str, column: str, new: str, request: gr.Request) -> tuple[str, str]:
        def edit(ctx: ActionContext) -> ActionResult:
            return reported.edit(ctx, name.strip(), {column: new}, text)

        return context.run_action(request, "correct reported", edit), results(request)

    check.click(importing(dry_run=True), [file, why], [said, shown], **QUIETLY)
    add.click(importing(dry_run=False), [file, why], [said, shown], **QUIETLY)
    form.wire(said, Refresh(results, [shown]))
    change.click(correcting, [result, reason, field, value], [said, shown], **QUIETLY)
    context.on_tab_open(results, [shown])


def _import(ctx: ActionContext, path: str | None, why: str, dry_run: bool) -> str:
    if path is None:
        raise Conflict("no-file", "Choose a file first.")
    try:
        result = reported.import_file(ctx, Path(path).read_bytes(), why, dry_run=dry_run)
    except ReportedFileRejected as rejected:
        return markup.file_problems(rejected)
    return markup.reported_import(result)
