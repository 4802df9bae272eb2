"""The section of the maintain page about what workers were asked, and what they found: previews, too."""

from __future__ import annotations

from typing import Any

import gradio as gr

from identity import Identity
from maintenance import markup, operations, rescoring
from maintenance.desk import QUIETLY, Desk, html
from maintenance.values import whole_number

_LEAD = """<p class="vl-hint">What maintainers asked of the workers lately. Choose a task to see what came of it: a
preview is shown as it was when it was made.</p>"""


def build(desk: Desk) -> None:
    """Lay the section out in the current Blocks context and wire it."""
    html(_LEAD)
    with gr.Row():
        choice = gr.Dropdown([], label="Task", allow_custom_value=True)
        again = gr.Button("Look again", size="md")
    shown, listed = html(elem_id="task"), html(elem_id="tasks")

    def asked(request: gr.Request) -> tuple[str, Any]:
        names: list[tuple[str, str]] = []

        def recent(who: Identity) -> str:
            found = operations.recent_tasks(desk.database, who)
            names.extend((f"{one.id}: {one.kind} {one.subject}, {one.state}", str(one.id)) for one in found)
            return markup.tasks(found, desk.names(who, (one.requested_by for one in found)))

        told = desk.attempt(request, "tasks", recent)
        return told, gr.update(choices=names, value=None)

    def showing(number: str | None, request: gr.Request) -> str:
        return desk.attempt(request, "task", lambda who: _result(desk, who, whole_number(number or "")))

    again.click(asked, outputs=[listed, choice], **QUIETLY)
    choice.input(showing, [choice], [shown], **QUIETLY)
    desk.on_open(asked, [listed, choice])


def _result(desk: Desk, who: Identity, number: int) -> str:
    task = operations.task(desk.database, who, number)
    told = markup.task(task)
    if task.kind == rescoring.PREVIEW and task.state == "done":
        told += markup.preview(rescoring.preview(desk.database, who, number), number)
    return told
