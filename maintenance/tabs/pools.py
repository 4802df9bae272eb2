"""Maintain tab for pools: import a folder of candidates, read its filter report, start a verification project."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gradio as gr

from maintenance import curation_text
from maintenance.action_context import ActionContext
from maintenance.actions import account_search, pools
from maintenance.page import markup
from maintenance.page.action_form import ActionForm, Refresh
from maintenance.page.page_context import PageContext, html
from maintenance.page.row_actions import RowActions, RowKey
from maintenance.tabs.action_table import ActionTable
from maintenance.types import whole_number
from storage.annotation.pools import PoolView
from storage.clock import minute
from vlrb.common.messages import _

_LEAD = _(
    "A pool is a folder that vlrb edition wrote on this machine: candidates for a next edition. A worker "
    "imports their texts, draft labels and gold pairs. Preferences stay in the folder. People who verify a pool answer "
    "at /annotate. They see a draft label after their first answer. Where annotators differ, an adjudicator decides "
    "who has not annotated the pair. The tab Verification shows how far a project is, and closes it."
)


def build(context: PageContext) -> None:
    """Lay the section out in the current Blocks context and wire it."""
    html(context.hint(_LEAD))
    rows = RowActions.of(context.registry, "pools", parameter="pool", areas=["pools"], single=("pools.verify",))
    table = ActionTable(context, rows, shows=_("Filter report"))
    report = html(elem_id="filter-report")
    form = ActionForm(context, "pools")
    form.rest(placed=list(rows.actions))

    def look(request: gr.Request) -> str:
        return context.run(request, "pools", action=lambda ctx: _listed(ctx, rows, shows=table.shows))

    def reporting(ctx: ActionContext, pool: str) -> str:
        return _report(pools.filter_report(ctx, whole_number(pool)))

    table.wire_show(reporting, report)
    table.wire(Refresh(look, [table.shown]))
    form.wire(table.outcome, Refresh(look, [table.shown]))
    context.on_tab_open(look, [table.shown])


def _listed(ctx: ActionContext, actions: RowActions, *, shows: str) -> str:
    imported_pools = pools.imported_pools(ctx)
    names = account_search.names(ctx, (imported_pool.imported_by for imported_pool in imported_pools))
    head = (_("No."), _("Pool"), _("Pairs"), _("Sources"), _("Drafts and gold"), _("Filter"), _("By"), _("At"))
    rows = [_row(imported_pool, names) for imported_pool in imported_pools]
    return markup.table(_("Pools"), head, rows=rows, nothing=_("No pool is imported."), actions=actions, shows=shows)


def _row(pool: PoolView, names: Mapping[str, str]) -> Sequence[Any]:
    filtered = curation_text.filtered(pool.report) if pool.report else _("not filtered")
    by, at = markup.person(pool.imported_by, names), minute(pool.imported_at)
    drafts = curation_text.drafts(pool.facts) or markup.NOTHING
    key = RowKey(str(pool.id), pool.name)
    return key, pool.id, pool.name, pool.pairs, curation_text.sources(pool.facts), drafts, filtered, by, at


def _report(report: Mapping[str, Any]) -> str:
    percent = curation_text.percent
    judges = [
        (
            judge["judge"],
            judge["runs"],
            percent(judge["accuracy"]),
            judge["removes_alone"],
            judge["stay_without_it"],
        )
        for judge in report["judges"]
    ]
    combinations = [
        (" + ".join(combination["judges"]), combination["kept"], combination["removed"])
        for combination in report["combinations"]
    ]
    sources = [(row["source"], row["considered"], row["kept"]) for row in report["by_source"]]
    words = (curation_text.filtered(report), curation_text.BELOW_CHANCE, *curation_text.wrong_labels(report))
    return "".join(
        (
            *map(markup.paragraph, words),
            markup.table(
                _("Judges"),
                (_("Judge"), _("Runs"), _("Right"), _("Removes alone"), _("Stay without it")),
                rows=judges,
                nothing="",
            ),
            markup.table(
                _("Combinations of judges"), (_("Judges"), _("Stay"), _("Removed")), rows=combinations, nothing=""
            ),
            markup.table(_("Sources"), (_("Source"), _("Considered"), _("Stay")), rows=sources, nothing=""),
        )
    )
