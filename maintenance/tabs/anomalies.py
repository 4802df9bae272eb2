"""Maintain tab for anomaly cases, over the same use cases as REST and the command line."""

from __future__ import annotations

from collections.abc import Callable

import gradio as gr

from auth import Identity
from maintenance import anomaly_text, markup
from maintenance.actions import anomalies
from maintenance.page_context import QUIETLY, PageContext, html
from maintenance.types import ActionResult, whole_number

_LEAD = """<p class="vl-hint">Numbers beside limits, seen by maintainers only. None is a proof: temperature 0 gives
identical texts, fine-tunes of one model agree on nearly everything, a breakthrough is far above what was known. To
hide, withdraw or ban is a decision of its own; say here what you did.</p>"""


def build(context: PageContext) -> None:
    """Lay the section out in the current Blocks context and wire it."""
    html(_LEAD)
    with gr.Row():
        everything = gr.Checkbox(False, label="Those that are closed, too")
        again = gr.Button("Look at every entry again", size="md")
    said = html(elem_id="suspicions-said")
    shown = html(elem_id="suspicions")
    with gr.Row():
        number = gr.Textbox("", label="No.", placeholder="of the suspicion")
        reason = gr.Textbox("", label="Reason", placeholder="what you saw, and what you did")
        dismiss = gr.Button("Dismiss", size="md")
        act = gr.Button("Close as acted on", variant="primary", size="md")

    def look(closed: bool, request: gr.Request) -> str:
        def found(user: Identity) -> str:
            listed = anomalies.listing(context.database, user, context.benchmark, decided=closed)
            return anomaly_text.as_html(listed, anomalies.alarm(context.database, user))

        return context.run(request, "suspicions", found)

    def deciding(what: str, use_case: Callable[..., ActionResult]) -> Callable[..., tuple[str, str]]:
        def run(which: str, why: str, closed: bool, request: gr.Request) -> tuple[str, str]:
            def decide(user: Identity) -> str:
                return markup.outcome(use_case(context.database, user, whole_number(which), why))

            return context.run(request, what, decide), look(closed, request)

        return run

    def looking_again(why: str, closed: bool, request: gr.Request) -> tuple[str, str]:
        def reset(user: Identity) -> str:
            return markup.outcome(anomalies.rescan(context.database, user, why))

        return context.run(request, "look again", reset), look(closed, request)

    context.on_tab_open(look, [shown], [everything])
    everything.input(look, [everything], [shown], **QUIETLY)
    again.click(looking_again, [reason, everything], [said, shown], **QUIETLY)
    for button, what, use_case in ((dismiss, "dismiss", anomalies.dismiss), (act, "act", anomalies.resolve)):
        button.click(deciding(what, use_case), [number, reason, everything], [said, shown], **QUIETLY)
