"""Maintain tab for reported results."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import gradio as gr

from maintenance.action_context import ActionContext
from maintenance.actions import reported
from maintenance.page import markup
from maintenance.page.action_form import Refresh
from maintenance.page.page_context import QUIETLY, PageContext, html
from maintenance.page.row_actions import RowActions
from maintenance.reported_file import ReportedFileRejected, fields
from maintenance.tabs.action_table import ActionTable
from maintenance.types import Conflict
from vlrb.common.messages import _

_LEAD = _(
    "A CSV or JSON file, one row a result: name, url of the source and percentages ({overall} at least). All rows are "
    "taken or none. They are listed beside those that come with the service; what is there already, with the same "
    "numbers, is left alone."
)


def build(context: PageContext) -> None:
    """Lay the section out in the current Blocks context and wire it."""
    spec = context.actions.items.table.spec
    rows = RowActions.of(
        context.registry,
        "reported",
        parameter="result",
        areas=["reported"],
        single=("reported.edit",),
        choices={"changes": fields(spec)},
    )
    table = ActionTable(context, rows)
    html(markup.heading(context.text(_("Import results"))))
    html(context.hint(_(_LEAD.msgid, overall=" or ".join(spec.overall_keys))))
    file = gr.File(label=context.text(_("CSV or JSON")), type="filepath", elem_id="reported-file", height=110)
    with gr.Row():
        why = gr.Textbox(
            "", label=context.text(_("Reason")), placeholder=context.text(_("where these results come from"))
        )
        check = gr.Button(context.text(_("Check the file")), size="md", interactive=False)
        add = gr.Button(context.text(_("Import")), size="md", interactive=False)
    done = html(elem_id="reported-said")

    def results(request: gr.Request) -> str:
        return context.run(request, "reported", action=lambda ctx: markup.reported_results(reported.results(ctx), rows))

    def importing(dry_run: bool) -> Callable[..., tuple[str, str]]:
        def run(path: str | None, text: str, request: gr.Request) -> tuple[str, str]:
            words = context.run(
                request, "import reported", action=lambda ctx: _import(ctx, path, why=text, dry_run=dry_run)
            )
            return words, results(request)

        return run

    check.click(importing(dry_run=True), [file, why], [done, table.shown], **QUIETLY)
    add.click(importing(dry_run=False), [file, why], [done, table.shown], **QUIETLY)
    file.change(_buttons, [file], [check, add], **QUIETLY)
    table.wire(Refresh(results, [table.shown]))
    context.on_tab_open(results, [table.shown])


def _buttons(path: str | None) -> tuple[gr.Button, gr.Button]:
    """Return the buttons: they do nothing, and are not blue, while no file is chosen."""
    chosen = path is not None
    return gr.Button(interactive=chosen), gr.Button(interactive=chosen, variant="primary" if chosen else "secondary")


def _import(ctx: ActionContext, path: str | None, *, why: str, dry_run: bool) -> str:
    if path is None:
        raise Conflict("no-file", "Choose a file first.")
    try:
        result = reported.import_file(ctx, Path(path).read_bytes(), reason=why, dry_run=dry_run)
    except ReportedFileRejected as rejected:
        return markup.file_problems(rejected)
    return markup.reported_import(result)
