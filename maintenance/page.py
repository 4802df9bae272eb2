"""Gradio page of the maintainers, over the same use cases as REST and the command line.

`build` lays out and reads nothing. Hiding a button protects nothing: every handler passes the request's identity to the
use case, which decides.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gradio as gr

from auth import Identity
from maintenance import markup
from maintenance.actions import audit, operations
from maintenance.actions.task_retry import retry_task
from maintenance.decision_log import decisions
from maintenance.page_context import QUIETLY, PageContext, html
from maintenance.tabs import accounts as accounts_page
from maintenance.tabs import anomalies as suspicions_page
from maintenance.tabs import approvals as approvals_page
from maintenance.tabs import entries as moderation_page
from maintenance.tabs import labels as revisions_page
from maintenance.tabs import reported as results_page
from maintenance.tabs import tasks as tasks_page
from maintenance.types import ActionResult, whole_number
from review import tab as review_page
from storage.clock import minute

CSS_PATH = Path(__file__).with_name("page.css")
_LEAD = """<h1>Maintain</h1><p class="lead">Everything here goes on record, with its reason. What is public of it stands
in the <a href="/decisions">log of decisions</a>.</p>"""
_HEAD = """<p class="vl-hint">A chain alone does not show that its end was cut off:
<a href="/api/v1/maintenance/audit/head" download="head.json">download its head</a>, keep it elsewhere, and later check
the chain against it. The <a href="/api/v1/chain" download="chain.jsonl">public chain</a>, number and hashes of each
event, is what receipts and heads are checked with elsewhere.</p>"""
_ALL = "All failed jobs"


def build(context: PageContext) -> None:
    """Lay the page out in the current Blocks context and wire it."""
    html(_LEAD, elem_classes=["site", "vl-intro"])
    sections = {
        "Health": _health,
        "Entries": moderation_page.build,
        "Approvals": approvals_page.build,
        "Labels": revisions_page.build,
        "Tasks": tasks_page.build,
        "Reported": results_page.build,
        "Accounts": accounts_page.build,
        "Suspicions": suspicions_page.build,
        "Review": review_page.build,
        "Log": _log,
    }
    with gr.Tabs(overflow_behavior="wrap"):  # on a phone too all of them are seen
        for name, section in sections.items():
            with gr.Tab(name):
                section(context)


def _health(context: PageContext) -> None:
    with gr.Row():
        again, copy = gr.Button("Look again", size="md"), gr.Button("Back up now", size="md")
        failed = gr.Dropdown([_ALL], value=_ALL, label="Failed job or task", filterable=False)
        retry = gr.Button("Try again", size="md")
    said, shown = html(elem_id="health-said"), html(elem_id="health")
    with gr.Row():
        message = gr.Textbox("", label="Message while submissions are paused", placeholder="Back at noon.")
        pause, resume = gr.Button("Pause submissions", size="md"), gr.Button("Resume", size="md")

    def look(request: gr.Request) -> tuple[str, Any]:
        names = [(_ALL, _ALL)]

        def found(user: Identity) -> str:
            health = operations.health(context.database, user, context.benchmark, context.paths)
            jobs = ((f"Job {one.job_id}: {one.model}, {one.label_revision}", one.job_id) for one in health.failures)
            tasks = ((f"Task {one.id}: {one.kind} {one.subject}", one.id) for one in health.failed_tasks)
            names.extend((words, f"job {number}") for words, number in jobs)
            names.extend((words, f"task {number}") for words, number in tasks)
            return markup.health(health)

        return context.run(request, "health", found), gr.update(choices=names, value=_ALL)

    def act(what: str, use_case: Callable[..., ActionResult]) -> Callable[..., tuple[Any, ...]]:
        def run(request: gr.Request) -> tuple[Any, ...]:
            return context.run_action(request, what, lambda user: use_case(context.database, user)), *look(request)

        return run

    def pausing(text: str, request: gr.Request) -> tuple[Any, ...]:
        done = context.run_action(request, "pause", lambda user: operations.pause(context.database, user, text))
        return done, *look(request)

    def retrying(which: str, request: gr.Request) -> tuple[Any, ...]:
        def again(user: Identity) -> ActionResult:
            if which == _ALL:
                return operations.requeue_all(context.database, user, context.benchmark)
            kind, number = which.split()
            if kind == "task":
                return retry_task(context.database, user, context.benchmark, whole_number(number))
            return operations.requeue(context.database, user, whole_number(number))

        return context.run_action(request, "retry", again), *look(request)

    after = [said, shown, failed]
    again.click(look, outputs=[shown, failed], **QUIETLY)
    copy.click(act("backup", operations.request_backup), outputs=after, **QUIETLY)
    retry.click(retrying, [failed], after, **QUIETLY)
    pause.click(pausing, [message], after, **QUIETLY)
    resume.click(act("resume", operations.resume), outputs=after, **QUIETLY)
    context.on_tab_open(look, [shown, failed])


def _log(context: PageContext) -> None:
    html(_HEAD)
    with gr.Row():
        kept = gr.Textbox("", label="A head that was kept", placeholder="content of its file; empty: the chain alone")
        verify, head = gr.Button("Verify the audit chain", size="md"), gr.Button("Show its head", size="md")
    said, shown = html(elem_id="audit-said"), html(elem_id="log")

    def verifying(text: str, request: gr.Request) -> str:
        def check(user: Identity) -> str:
            kept = audit.read_head(text) if text.strip() else None
            found = audit.verify(context.database, user, kept)
            return markup.outcome(ActionResult(True, found.sentence)) if found.ok else markup.refusal(found.sentence)

        return context.run(request, "audit verify", check)

    def heading(request: gr.Request) -> str:
        def last(user: Identity) -> str:
            found = audit.head(context.database, user)
            return markup.outcome(
                ActionResult(True, f"Event {found['seq']}, {found['hash']}, at {minute(found['at'])}")
            )

        return context.run(request, "audit head", last)

    verify.click(verifying, [kept], [said], **QUIETLY)
    head.click(heading, outputs=[said], **QUIETLY)
    context.on_tab_open(lambda: markup.decisions(decisions(context.database)), [shown])
