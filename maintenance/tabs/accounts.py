"""Maintain tab for accounts: search, bans, quota grants."""

from __future__ import annotations

import gradio as gr

from maintenance.action_context import ActionContext
from maintenance.actions import account_search, quota_grants
from maintenance.page import markup
from maintenance.page.action_form import ActionForm, Refresh
from maintenance.page.page_context import QUIETLY, PageContext, html
from maintenance.page.row_actions import RowActions
from maintenance.tabs.action_table import ActionTable
from vlrb.common.messages import _

_LEAD = _(
    "A banned account cannot sign in, and its tokens stop working; its entries stay. Granted submissions take from "
    "nobody's quota, and are used when it is used up."
)


def build(context: PageContext) -> None:
    """Lay the section out in the current Blocks context and wire it."""
    areas = ("accounts", "quota")
    with gr.Row():
        text = gr.Textbox("", label=context.text(_("Search")), placeholder=context.text(_("part of a name or id")))
        search = gr.Button(context.text(_("Search")), size="md")
    html(context.hint(_LEAD))
    people = ActionTable(context, RowActions.of(context.registry, "accounts", parameter="account", areas=areas))
    granted = ActionTable(context, RowActions.of(context.registry, "grants", parameter="number", areas=areas))
    form = ActionForm(context, *areas)
    form.rest(placed=[*people.rows.actions, *granted.rows.actions])

    def listed(wanted: str, request: gr.Request) -> str:
        return context.run(
            request, "accounts", action=lambda ctx: markup.accounts(account_search.listing(ctx, wanted), people.rows)
        )

    def everything(request: gr.Request, wanted: str) -> tuple[str, str]:
        return listed(wanted, request), context.run(request, "grants", action=lambda ctx: _grants(ctx, granted.rows))

    def opening(wanted: str, request: gr.Request) -> tuple[str, str]:
        return everything(request, wanted)

    search.click(listed, [text], [people.shown], **QUIETLY)
    text.submit(listed, [text], [people.shown], **QUIETLY)
    refresh = Refresh(everything, [people.shown, granted.shown], inputs=[text])
    for table in (people, granted):
        table.wire(refresh)
    form.wire(people.outcome, refresh)
    context.on_tab_open(opening, [people.shown, granted.shown], inputs=[text])


def _grants(ctx: ActionContext, rows: RowActions) -> str:
    result = quota_grants.listing(ctx)
    accounts = (name for grant in result for name in (grant.account, grant.granted_by))
    return markup.grants(result, account_search.names(ctx, accounts), actions=rows)
