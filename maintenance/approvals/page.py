"""The section of the maintain page about first submissions, over the same use cases as REST and the command line."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import gradio as gr

from identity import Identity
from maintenance import markup
from maintenance.approvals import actions
from maintenance.approvals.actions import Waiting
from maintenance.desk import QUIETLY, Desk, html
from maintenance.values import Done
from storage.clock import minute

_LEAD = """<p class="vl-hint">The first submission of every account waits here where APPROVE_FIRST_UPLOAD is set, and
under labels that are not public every file with more than NULL_VOTES_APPROVAL percent of votes for neither response.
Until it is let through no label is touched. Its owner reads the reason of a rejection.</p>"""
_HEAD = ("Submission", "Judge", "Account", "Organisations", "Days old", "Submitted", "File", "No vote")


def build(desk: Desk) -> None:
    """Lay the section out in the current Blocks context and wire it."""
    html(_LEAD)
    said = html(elem_id="approvals-said")
    shown = html(elem_id="approvals")
    with gr.Row():
        submission = gr.Textbox("", label="Submission", placeholder="e followed by eleven characters")
        reason = gr.Textbox("", label="Reason")
        approve = gr.Button("Let through", variant="primary", size="md")
        reject = gr.Button("Reject", size="md")

    def look(request: gr.Request) -> str:
        def found(who: Identity) -> str:
            return as_html(actions.waiting(desk.database, who, desk.benchmark))

        return desk.attempt(request, "approvals", found)

    def deciding(what: str, use_case: Callable[..., Done]) -> Callable[..., tuple[str, str]]:
        def run(name: str, why: str, request: gr.Request) -> tuple[str, str]:
            def decide(who: Identity) -> str:
                return markup.outcome(use_case(desk.database, who, name.strip(), why))

            return desk.attempt(request, what, decide), look(request)

        return run

    desk.on_open(look, [shown])
    for button, what, use_case in ((approve, "approve", actions.approve), (reject, "reject", actions.reject)):
        button.click(deciding(what, use_case), [submission, reason], [said, shown], **QUIETLY)


def as_html(found: Sequence[Waiting]) -> str:
    """What waits, as a table."""
    rows = [
        (
            one.submission,
            f"{one.model} {one.version}".strip(),
            f"{one.name} ({one.account})",
            ", ".join(one.organisations) or markup.NOTHING,
            one.account_age_days,
            minute(one.submitted_at),
            one.file,
            markup.NOTHING if one.abstaining is None else f"{100 * one.abstaining:.1f}%",
        )
        for one in found
    ]
    return markup.table("Waiting", _HEAD, rows, "Nothing waits.")
