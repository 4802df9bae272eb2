"""Maintain tab for pools: import a folder of candidates, read its filter report, start a verification project."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gradio as gr

from maintenance import curation_text, markup
from maintenance.action_context import ActionContext
from maintenance.action_form import ActionForm, Refresh
from maintenance.actions import account_search, pools
from maintenance.page_context import QUIETLY, PageContext, html
from maintenance.types import whole_number
from storage.annotation.pools import PoolView
from storage.clock import minute

_LEAD = """<p class="vl-hint">A pool is a folder that <code>python -m curate</code> wrote on this machine: candidates
for a next edition. A worker imports their texts, draft labels and gold pairs. Preferences stay in the folder.</p>"""
_VERIFY = """<p class="vl-hint">People answer at <a href="/annotate">/annotate</a>. They see a draft label after their
first answer. Where annotators differ, an adjudicator decides who has not annotated the pair. The tab Review shows how
far a project is, and closes it.</p>"""


def build(context: PageContext) -> None:
    """Lay the section out in the current Blocks context and wire it."""
    importing, verifying = ActionForm(context, "pools"), ActionForm(context, "pools")
    html(_LEAD)
    with gr.Row():
        importing.fields("name", "folder")
        verifying.use("reason", importing.field("reason", placeholder="to import a pool, or to verify it"))
        importing.button("pools.import", primary=True)
    imported = html(elem_id="pools-said")  # beside its button: on a phone the other one is a page away
    listed = html(elem_id="pools")
    with gr.Row():
        number = verifying.field("pool", placeholder="1")
        show = gr.Button("Show the filter report", size="md")
        again = gr.Button("Show pools", size="md")
    report = html(elem_id="filter-report")
    html(_VERIFY)
    with gr.Row():
        verifying.fields("project", "annotators", "adjudicators", "answers")
        verifying.button("pools.verify", primary=True)
    verifying.rest(placed=("pools.import",))
    started = html(elem_id="verification-said")

    def look(request: gr.Request) -> str:
        return context.run(request, "pools", _listed)

    def reporting(pool: str, request: gr.Request) -> str:
        def found(ctx: ActionContext) -> str:
            return _report(pools.filter_report(ctx, whole_number((pool or "").strip())))

        return context.run(request, "pool report", found)

    importing.wire(imported, Refresh(look, [listed]))
    verifying.wire(started, Refresh(look, [listed]))
    show.click(reporting, [number], [report], **QUIETLY)
    again.click(look, outputs=[listed], **QUIETLY)
    context.on_tab_open(look, [listed])


def _listed(ctx: ActionContext) -> str:
    imported_pools = pools.imported_pools(ctx)
    names = account_search.names(ctx, (imported_pool.imported_by for imported_pool in imported_pools))
    head = ("No.", "Pool", "Pairs", "Sources", "Drafts and gold", "Filter", "By", "At")
    rows = [_row(imported_pool, names) for imported_pool in imported_pools]
    return markup.table("Pools", head, rows, "No pool is imported.")


def _row(pool: PoolView, names: Mapping[str, str]) -> Sequence[Any]:
    filtered = curation_text.filtered(pool.report) if pool.report else "not filtered"
    by, at = markup.person(pool.imported_by, names), minute(pool.imported_at)
    drafts = curation_text.drafts(pool.facts) or markup.NOTHING
    return pool.id, pool.name, pool.pairs, curation_text.sources(pool.facts), drafts, filtered, by, at


def _report(report: Mapping[str, Any]) -> str:
    percent = curation_text.percent
    judges = [
        (
            one["judge"],
            one["runs"],
            percent(one["accuracy"]),
            one["removes_alone"],
            one["stay_without_it"],
        )
        for one in report["judges"]
    ]
    combinations = [(" + ".join(one["judges"]), one["kept"], one["removed"]) for one in report["combinations"]]
    sources = [(one["source"], one["considered"], one["kept"]) for one in report["by_source"]]
    words = (curation_text.filtered(report), curation_text.BELOW_CHANCE, *curation_text.wrong_labels(report))
    return "".join(
        (
            *map(markup.paragraph, words),
            markup.table("Judges", ("Judge", "Runs", "Right", "Removes alone", "Stay without it"), judges, ""),
            markup.table("Combinations of judges", ("Judges", "Stay", "Removed"), combinations, ""),
            markup.table("Sources", ("Source", "Considered", "Stay"), sources, ""),
        )
    )
