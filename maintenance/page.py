"""The Gradio page of the maintainers, over the same use cases as REST and the command line.

`build` lays out and reads nothing. Hiding a button protects nothing: every handler passes the request's identity to the
use case, which decides.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gradio as gr

from identity import Identity
from maintenance import chain, markup, operations
from maintenance.accounts import page as accounts_page
from maintenance.approvals import page as approvals_page
from maintenance.decisions import decisions
from maintenance.desk import QUIETLY, Desk, html
from maintenance.moderation import page as moderation_page
from maintenance.results import page as results_page
from maintenance.review import page as review_page
from maintenance.revisions import page as revisions_page
from maintenance.suspicions import page as suspicions_page
from maintenance.tasks import page as tasks_page
from maintenance.tasks.again import ask_again
from maintenance.values import Done, whole_number
from storage.clock import minute

CSS_PATH = Path(__file__).with_name("page.css")
_LEAD = """<h1>Maintain</h1><p class="lead">Everything here goes on record, with its reason. What is public of it stands
in the <a href="/decisions">log of decisions</a>.</p>"""
_HEAD = """<p class="vl-hint">A chain alone does not show that its end was cut off:
<a href="/api/v1/maintenance/audit/head" download="head.json">download its head</a>, keep it elsewhere, and later check
the chain against it. The <a href="/api/v1/chain" download="chain.jsonl">public chain</a>, number and hashes of each
event, is what receipts and heads are checked with elsewhere.</p>"""
_ALL = "All failed jobs"


def build(desk: Desk) -> None:
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
                section(desk)


def _health(desk: Desk) -> None:
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

        def found(who: Identity) -> str:
            health = operations.health(desk.database, who, desk.benchmark, desk.paths)
            jobs = ((f"Job {one.job_id}: {one.model}, {one.label_revision}", one.job_id) for one in health.failures)
            tasks = ((f"Task {one.id}: {one.kind} {one.subject}", one.id) for one in health.failed_tasks)
            names.extend((words, f"job {number}") for words, number in jobs)
            names.extend((words, f"task {number}") for words, number in tasks)
            return markup.health(health)

        return desk.attempt(request, "health", found), gr.update(choices=names, value=_ALL)

    def act(what: str, use_case: Callable[..., Done]) -> Callable[..., tuple[Any, ...]]:
        def run(request: gr.Request) -> tuple[Any, ...]:
            return desk.outcome(request, what, lambda who: use_case(desk.database, who)), *look(request)

        return run

    def pausing(text: str, request: gr.Request) -> tuple[Any, ...]:
        done = desk.outcome(request, "pause", lambda who: operations.pause(desk.database, who, text))
        return done, *look(request)

    def retrying(which: str, request: gr.Request) -> tuple[Any, ...]:
        def again(who: Identity) -> Done:
            if which == _ALL:
                return operations.requeue_all(desk.database, who, desk.benchmark)
            kind, number = which.split()
            if kind == "task":
                return ask_again(desk.database, who, desk.benchmark, whole_number(number))
            return operations.requeue(desk.database, who, whole_number(number))

        return desk.outcome(request, "retry", again), *look(request)

    after = [said, shown, failed]
    again.click(look, outputs=[shown, failed], **QUIETLY)
    copy.click(act("backup", operations.request_backup), outputs=after, **QUIETLY)
    retry.click(retrying, [failed], after, **QUIETLY)
    pause.click(pausing, [message], after, **QUIETLY)
    resume.click(act("resume", operations.resume), outputs=after, **QUIETLY)
    desk.on_open(look, [shown, failed])


def _log(desk: Desk) -> None:
    html(_HEAD)
    with gr.Row():
        kept = gr.Textbox("", label="A head that was kept", placeholder="content of its file; empty: the chain alone")
        verify, head = gr.Button("Verify the audit chain", size="md"), gr.Button("Show its head", size="md")
    said, shown = html(elem_id="audit-said"), html(elem_id="log")

    def verifying(text: str, request: gr.Request) -> str:
        def check(who: Identity) -> str:
            kept = chain.read_head(text) if text.strip() else None
            found = chain.verify(desk.database, who, kept)
            return markup.outcome(Done(True, found.sentence)) if found.ok else markup.refusal(found.sentence)

        return desk.attempt(request, "audit verify", check)

    def heading(request: gr.Request) -> str:
        def last(who: Identity) -> str:
            found = chain.head(desk.database, who)
            return markup.outcome(Done(True, f"Event {found['seq']}, {found['hash']}, at {minute(found['at'])}"))

        return desk.attempt(request, "audit head", last)

    verify.click(verifying, [kept], [said], **QUIETLY)
    head.click(heading, outputs=[said], **QUIETLY)
    desk.on_open(lambda: markup.decisions(decisions(desk.database)), [shown])
