"""Gradio page of the maintainers, over the same use cases as REST and the command line.

`build` lays out and reads nothing. Hiding a button protects nothing: every handler passes the request's identity to the
use case, which decides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import gradio as gr

from maintenance.action_context import ActionContext
from maintenance.actions import audit
from maintenance.decision_log import decisions
from maintenance.page import markup
from maintenance.page.action_form import ActionForm, Refresh
from maintenance.page.page_context import QUIETLY, CountedTab, PageContext, html
from maintenance.tabs import accounts as accounts_tab
from maintenance.tabs import approvals as approvals_tab
from maintenance.tabs import entries as entries_tab
from maintenance.tabs import health as health_tab
from maintenance.tabs import labels as labels_tab
from maintenance.tabs import reported as reported_tab
from maintenance.tabs import tasks as tasks_tab
from maintenance.tabs.action_table import SCRIPT
from maintenance.types import ActionResult
from storage.clock import minute
from vlrb.common.messages import _

CSS_PATH = Path(__file__).with_name("page.css")
TABS_ID = "maintain-tabs"
_TAB_ID = "maintain-{}"  # of the tab with this id in the address; the script knows it, too


class PageTab(NamedTuple):
    """A tab of the page. `areas`: the areas of actions that it lays out; `id`: its name in the address.

    `cases`: what its number counts, of OpenCases.
    """

    title: str
    areas: Sequence[str]
    build: Callable[[PageContext], None]
    id: str
    cases: str = ""


def build(context: PageContext, more: Sequence[PageTab] = ()) -> None:
    """Lay the page out in the current Blocks context and wire it. `more`: tabs of other packages, before the log.

    Actions of an area that no tab names get a tab with their forms.
    """
    with context.speaking():
        lead = markup.lead()
    gr.HTML(lead, elem_classes=["site", "vl-intro"], apply_default_css=False, js_on_load=SCRIPT)
    tabs = (*_TABS, *more, PageTab(_("Log"), ("audit",), build=_log, id="log"))
    known = {area for tab in tabs for area in tab.areas}
    areas = dict.fromkeys(
        action.area for action in context.registry if action.declared.button and action.area not in known
    )
    tabs += tuple(PageTab(area.capitalize(), (area,), build=partial(_forms, area), id=area) for area in areas)
    with gr.Tabs(overflow_behavior="wrap", elem_id=TABS_ID):  # on a phone too all of them are seen
        laid_out = [gr.Tab(context.text(tab.title), id=tab.id, elem_id=_TAB_ID.format(tab.id)) for tab in tabs]
        pairs = list(zip(laid_out, tabs, strict=True))
        counting = replace(
            context, counted=tuple(CountedTab(page_tab, t.title, cases=t.cases) for page_tab, t in pairs if t.cases)
        )
        for page_tab, tab in pairs:
            with page_tab:
                tab.build(counting)


def _forms(area: str, context: PageContext) -> None:
    """Lay out the forms of an area that has no tab of its own."""
    form = ActionForm(context, area)
    form.rest()
    form.wire(html(elem_id=f"{area}-said"), Refresh(lambda request: (), []))


def _log(context: PageContext) -> None:
    with context.speaking():
        html(markup.chain_hint())
    with gr.Row():
        kept = gr.Textbox(
            "",
            label=context.text(_("A head that was kept")),
            placeholder=context.text(_("content of its file; empty: the chain alone")),
        )
        verify = gr.Button(context.text(_("Verify the audit chain")), size="md")
        head = gr.Button(context.text(_("Show its head")), size="md")
    answer, rows = html(elem_id="audit-said"), html(elem_id="log")

    def verifying(text: str, request: gr.Request) -> str:
        def check(ctx: ActionContext) -> str:
            kept = audit.read_head(text) if text.strip() else None
            result = audit.verify(ctx, kept)
            return markup.outcome(ActionResult(True, result.sentence)) if result.ok else markup.refusal(result.sentence)

        return context.run(request, "audit verify", action=check)

    def heading(request: gr.Request) -> str:
        def last(ctx: ActionContext) -> str:
            result = audit.head(ctx)
            return markup.outcome(
                ActionResult(True, f"Event {result['seq']}, {result['hash']}, at {minute(result['at'])}")
            )

        return context.run(request, "audit head", action=last)

    verify.click(verifying, [kept], [answer], **QUIETLY)
    head.click(heading, outputs=[answer], **QUIETLY)
    actions = context.actions

    def listed(request: gr.Request) -> str:
        with context.speaking():
            return markup.decisions(decisions(actions.database, actions.public_events))

    context.on_tab_open(listed, [rows])


_TABS = (
    PageTab(_("Health"), ("service", "jobs"), build=health_tab.build, id="health", cases="failures"),
    PageTab(_("Approvals"), ("approvals",), build=approvals_tab.build, id="approvals", cases="approvals"),
    PageTab(_("Entries"), ("entries",), build=entries_tab.build, id="entries"),
    PageTab(_("Reported"), ("reported",), build=reported_tab.build, id="reported"),
    PageTab(_("Accounts"), ("accounts", "quota"), build=accounts_tab.build, id="accounts"),
    PageTab(_("Labels"), ("labels", "rescore"), build=labels_tab.build, id="labels"),
    PageTab(_("Tasks"), ("tasks",), build=tasks_tab.build, id="tasks"),
)
