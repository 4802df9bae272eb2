"""Maintain tab for reported results, over the same use cases as REST and the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import gradio as gr

from auth import Identity
from maintenance import markup
from maintenance.actions import reported
from maintenance.page_context import QUIETLY, PageContext, html
from maintenance.reported_file import FIELDS, ReportedFileRejected
from maintenance.types import ActionResult, Conflict

_LEAD = """<p class="vl-hint">A CSV or JSON file, one row a result: <code>name</code>, <code>url</code> of the source
and percentages (<code>overall</code> or <code>macro</code> at least). All rows are taken or none. They stand beside
those that come with the service; what is there already, with the same numbers, is left alone.</p>"""


def build(context: PageContext) -> None:
    """Lay the section out in the current Blocks context and wire it."""
    html(_LEAD)
    file = gr.File(label="CSV or JSON", type="filepath", elem_id="reported-file", height=110)
    with gr.Row():
        why = gr.Textbox("", label="Reason", placeholder="where these results come from")
        check, add = gr.Button("Check the file", size="md"), gr.Button("Import", variant="primary", size="md")
    said, shown = html(elem_id="reported-said"), html(elem_id="reported")
    with gr.Row():
        result = gr.Textbox("", label="Result", placeholder="its id: r-...")
        reason = gr.Textbox("", label="Reason for the change", placeholder="a slip in the table")
        remove, restore = gr.Button("Remove", size="md"), gr.Button("Restore", size="md")
    with gr.Row():
        field = gr.Dropdown(list(FIELDS), value="macro", label="Field of the result", filterable=False)
        value = gr.Textbox("", label="Its new value", placeholder="empty clears it")
        change = gr.Button("Correct", size="md")

    def results(request: gr.Request) -> str:
        def found(user: Identity) -> str:
            return markup.reported_results(reported.results(context.database, user, context.benchmark))

        return context.run(request, "reported", found)

    def importing(dry_run: bool) -> Callable[..., tuple[str, str]]:
        def run(path: str | None, text: str, request: gr.Request) -> tuple[str, str]:
            return context.run(
                request, "import reported", lambda user: _import(context, user, path, text, dry_run)
            ), results(request)

        return run

    def deciding(use_case: Callable[..., ActionResult]) -> Callable[..., tuple[str, str]]:
        def run(name: str, text: str, request: gr.Request) -> tuple[str, str]:
            def decide(user: Identity) -> str:
                return markup.outcome(use_case(context.database, user, context.benchmark, name.strip(), text))

            return context.run(request, "reported", decide), results(request)

        return run

    def correcting(name: str, text: str, column: str, new: str, request: gr.Request) -> tuple[str, str]:
        def edit(user: Identity) -> str:
            changes = {column: new}
            return markup.outcome(reported.edit(context.database, user, context.benchmark, name.strip(), changes, text))

        return context.run(request, "correct reported", edit), results(request)

    check.click(importing(dry_run=True), [file, why], [said, shown], **QUIETLY)
    add.click(importing(dry_run=False), [file, why], [said, shown], **QUIETLY)
    remove.click(deciding(reported.remove), [result, reason], [said, shown], **QUIETLY)
    restore.click(deciding(reported.restore), [result, reason], [said, shown], **QUIETLY)
    change.click(correcting, [result, reason, field, value], [said, shown], **QUIETLY)
    context.on_tab_open(results, [shown])


def _import(context: PageContext, user: Identity, path: str | None, why: str, dry_run: bool) -> str:
    if path is None:
        raise Conflict("no-file", "Choose a file first.")
    try:
        told = (context.database, user, context.benchmark, Path(path).read_bytes(), why)
        found = reported.import_file(*told, context.shipped(), dry_run=dry_run)
    except ReportedFileRejected as rejected:
        return markup.file_problems(rejected)
    return markup.reported_import(found)
