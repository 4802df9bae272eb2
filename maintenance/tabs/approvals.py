"""Maintain tab for first submissions, over the same use cases as REST and the command line."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import gradio as gr

from auth import Identity
from maintenance import markup
from maintenance.actions import approvals
from maintenance.actions.approvals import PendingApproval
from maintenance.page_context import QUIETLY, PageContext, html
from maintenance.types import ActionResult
from storage.clock import minute

_LEAD = """<p class="vl-hint">The first submission of every account waits here where APPROVE_FIRST_UPLOAD is set, and
under labels that are not public every file with more than NULL_VOTES_APPROVAL percent of votes for neither response.
Until it is let through no label is touched. Its owner reads the reason of a rejection.</p>"""
_HEAD = ("Submission", "Judge", "Account", "Organisations", "Days old", "Submitted", "File", "No vote")


def build(context: PageContext) -> None:
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
        def found(user: Identity) -> str:
            return as_html(approvals.waiting(context.database, user, context.benchmark))

        return context.run(request, "approvals", found)

    def deciding(what: str, use_case: Callable[..., ActionResult]) -> Callable[..., tuple[str, str]]:
        def run(name: str, why: str, request: gr.Request) -> tuple[str, str]:
            def decide(user: Identity) -> str:
                return markup.outcome(use_case(context.database, user, name.strip(), why))

            return context.run(request, what, decide), look(request)

        return run

    context.on_tab_open(look, [shown])
    for button, what, use_case in ((approve, "approve", approvals.approve), (reject, "reject", approvals.reject)):
        button.click(deciding(what, use_case), [submission, reason], [said, shown], **QUIETLY)


def as_html(found: Sequence[PendingApproval]) -> str:
    """Return what waits, as a table."""
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
