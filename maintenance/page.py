"""Gradio page of the maintainers, over the same use cases as REST and the command line.

`build` lays out and reads nothing. Hiding a button protects nothing: every handler passes the request's identity to the
use case, which decides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import gradio as gr

from maintenance import markup
from maintenance.action_context import ActionContext
from maintenance.action_form import ActionForm, Refresh
from maintenance.actions import audit, operations
from maintenance.actions.task_retry import retry_task
from maintenance.decision_log import decisions
from maintenance.page_context import QUIETLY, PageContext, html
from maintenance.tabs import accounts as accounts_tab
from maintenance.tabs import anomalies as anomalies_tab
from maintenance.tabs import approvals as approvals_tab
from maintenance.tabs import editions as editions_tab
from maintenance.tabs import entries as entries_tab
from maintenance.tabs import labels as labels_tab
from maintenance.tabs import pools as pools_tab
from maintenance.tabs import reported as reported_tab
from maintenance.tabs import tasks as tasks_tab
from maintenance.types import ActionResult, whole_number
from storage.clock import minute

CSS_PATH = Path(__file__).with_name("page.css")
_LEAD = """<h1>Maintain</h1><p class="lead">Everything here goes on record, with its reason. What is public of it is
in the <a href="/decisions">log of decisions</a>.</p>"""
_HEAD = """<p class="vl-hint">A chain alone does not show that its end was cut off:
<a href="/api/v1/maintenance/audit/head" download="head.json">download its head</a>, keep it elsewhere, and later check
the chain against it. The <a href="/api/v1/chain" download="chain.jsonl">public chain</a>, number and hashes of each
event, is what receipts and heads are checked with elsewhere.</p>"""
_ALL = "All failed jobs"


class PageTab(NamedTuple):
    """A tab of the page. `areas`: the areas of actions that it lays out."""

    title: str
    areas: Sequence[str]
    build: Callable[[PageContext], None]


def build(context: PageContext, more: Sequence[PageTab] = ()) -> None:
    """Lay the page out in the current Blocks context and wire it. `more`: tabs of other packages, before the log.

    Actions of an area that no tab names get a tab with their forms.
    """
    html(_LEAD, elem_classes=["site", "vl-intro"])
    tabs = (*_TABS, *more, PageTab("Log", ("audit",), _log))
    known = {area for tab in tabs for area in tab.areas}
    areas = dict.fromkeys(one.area for one in context.registry if one.declared.button and one.area not in known)
    others = [PageTab(area.capitalize(), (area,), partial(_forms, area)) for area in areas]
    with gr.Tabs(overflow_behavior="wrap"):  # on a phone too all of them are seen
        for tab in (*tabs, *others):
            with gr.Tab(tab.title):
                tab.build(context)


def _forms(area: str, context: PageContext) -> None:
    """Lay out the forms of an area that has no tab of its own."""
    form = ActionForm(context, area)
    form.rest()
    form.wire(html(elem_id=f"{area}-said"), Refresh(lambda request: (), []))


def _health(context: PageContext) -> None:
    form = ActionForm(context, "service")
    with gr.Row():
        again = gr.Button("Refresh", size="md")
        form.button("service.backup")
        failed = gr.Dropdown([_ALL], value=_ALL, label="Failed job or task", filterable=False)
        retry = gr.Button("Retry failed jobs", size="md")
    said, shown = html(elem_id="health-said"), html(elem_id="health")
    with gr.Row():
        form.fields("message")
        form.button("service.pause")
        form.button("service.resume")
    form.rest()

    def look(request: gr.Request) -> tuple[str, Any]:
        names = [(_ALL, _ALL)]

        def found(ctx: ActionContext) -> str:
            health = operations.health(ctx)
            jobs = (
                (f"Job {failure.job_id}: {failure.model}, {failure.label_revision}", failure.job_id)
                for failure in health.failures
            )
            tasks = (
                (f"Task {failed_task.id}: {failed_task.kind} {failed_task.subject}", failed_task.id)
                for failed_task in health.failed_tasks
            )
            names.extend((words, f"job {number}") for words, number in jobs)
            names.extend((words, f"task {number}") for words, number in tasks)
            return markup.health(health)

        return context.run(request, "health", found), gr.update(choices=names, value=_ALL)

    def retrying(which: str, request: gr.Request) -> tuple[Any, ...]:
        return context.run_action(request, "retry", lambda ctx: _retry(ctx, which)), *look(request)

    again.click(look, outputs=[shown, failed], **QUIETLY)
    retry.click(retrying, [failed], [said, shown, failed], **QUIETLY)
    form.wire(said, Refresh(look, [shown, failed]))
    context.on_tab_open(look, [shown, failed])


def _retry(ctx: ActionContext, which: str) -> ActionResult:
    if which == _ALL:
        return operations.requeue_all(ctx)
    kind, number = which.split()
    return retry_task(ctx, whole_number(number)) if kind == "task" else operations.requeue(ctx, whole_number(number))


def _log(context: PageContext) -> None:
    html(_HEAD)
    with gr.Row():
        kept = gr.Textbox("", label="A head that was kept", placeholder="content of its file; empty: the chain alone")
        verify, head = gr.Button("Verify the audit chain", size="md"), gr.Button("Show its head", size="md")
    said, shown = html(elem_id="audit-said"), html(elem_id="log")

    def verifying(text: str, request: gr.Request) -> str:
        def check(ctx: ActionContext) -> str:
            kept = audit.read_head(text) if text.strip() else None
            result = audit.verify(ctx, kept)
            return markup.outcome(ActionResult(True, result.sentence)) if result.ok else markup.refusal(result.sentence)

        return context.run(request, "audit verify", check)

    def heading(request: gr.Request) -> str:
        def last(ctx: ActionContext) -> str:
            result = audit.head(ctx)
            return markup.outcome(
                ActionResult(True, f"Event {result['seq']}, {result['hash']}, at {minute(result['at'])}")
            )

        return context.run(request, "audit head", last)

    verify.click(verifying, [kept], [said], **QUIETLY)
    head.click(heading, outputs=[said], **QUIETLY)
    actions = context.actions
    context.on_tab_open(lambda: markup.decisions(decisions(actions.database, actions.public_events)), [shown])


_TABS = (
    PageTab("Health", ("service", "jobs"), _health),
    PageTab("Entries", ("entries",), entries_tab.build),
    PageTab("Approvals", ("approvals",), approvals_tab.build),
    PageTab("Labels", ("labels", "rescore"), labels_tab.build),
    PageTab("Pools", ("pools",), pools_tab.build),
    PageTab("Editions", ("editions",), editions_tab.build),
    PageTab("Tasks", ("tasks",), tasks_tab.build),
    PageTab("Reported", ("reported",), reported_tab.build),
    PageTab("Accounts", ("accounts", "quota"), accounts_tab.build),
    PageTab("Suspicions", ("suspicions",), anomalies_tab.build),
)
