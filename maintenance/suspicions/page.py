"""The section of the maintain page about suspicions, over the same use cases as REST and the command line."""

from __future__ import annotations

from collections.abc import Callable

import gradio as gr

from identity import Identity
from maintenance import markup
from maintenance.desk import QUIETLY, Desk, html
from maintenance.suspicions import actions, words
from maintenance.values import Done, whole_number

_LEAD = """<p class="vl-hint">Numbers beside limits, seen by maintainers only. None is a proof: temperature 0 gives
identical texts, fine-tunes of one model agree on nearly everything, a breakthrough is far above what was known. To
hide, withdraw or ban is a decision of its own; say here what you did.</p>"""


def build(desk: Desk) -> None:
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
        def found(who: Identity) -> str:
            listed = actions.listing(desk.database, who, desk.benchmark, decided=closed)
            return words.as_html(listed, actions.alarm(desk.database, who))

        return desk.attempt(request, "suspicions", found)

    def deciding(what: str, use_case: Callable[..., Done]) -> Callable[..., tuple[str, str]]:
        def run(which: str, why: str, closed: bool, request: gr.Request) -> tuple[str, str]:
            def decide(who: Identity) -> str:
                return markup.outcome(use_case(desk.database, who, whole_number(which), why))

            return desk.attempt(request, what, decide), look(closed, request)

        return run

    def looking_again(why: str, closed: bool, request: gr.Request) -> tuple[str, str]:
        def reset(who: Identity) -> str:
            return markup.outcome(actions.look_again(desk.database, who, why))

        return desk.attempt(request, "look again", reset), look(closed, request)

    desk.on_open(look, [shown], [everything])
    everything.input(look, [everything], [shown], **QUIETLY)
    again.click(looking_again, [reason, everything], [said, shown], **QUIETLY)
    for button, what, use_case in ((dismiss, "dismiss", actions.dismiss), (act, "act", actions.act)):
        button.click(deciding(what, use_case), [number, reason, everything], [said, shown], **QUIETLY)
