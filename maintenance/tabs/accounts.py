"""Maintain tab for accounts: search, bans, quota grants."""

from __future__ import annotations

import gradio as gr

from maintenance import markup
from maintenance.action_context import ActionContext
from maintenance.action_form import ActionForm, Refresh
from maintenance.actions import account_search, quota_grants
from maintenance.page_context import QUIETLY, PageContext, html

_LEAD = """<p class="vl-hint">A banned account cannot sign in, and its tokens stop working; its entries stay.
Granted submissions take from nobody's quota, and are used when it is used up.</p>"""


def build(context: PageContext) -> None:
    """Lay the section out in the current Blocks context and wire it."""
    form = ActionForm(context, "accounts", "quota")
    with gr.Row():
        text = gr.Textbox("", label="Search", placeholder="part of a name or id")
        search = gr.Button("Search", size="md")
    people_shown = html(elem_id="accounts")
    html(_LEAD)
    with gr.Row():
        form.field("account")
        form.field("reason", label="Why", placeholder="goes on record")
        form.button("accounts.ban")
        form.button("accounts.unban")
    with gr.Row():
        form.field("extra", maximum=quota_grants.MOST)
        form.button("quota.grant", primary=True)
        form.field("number")
        form.button("quota.revoke")
    form.rest()
    said, shown = html(elem_id="accounts-said"), html(elem_id="grants")

    def listed(wanted: str, request: gr.Request) -> str:
        return context.run(request, "accounts", lambda ctx: markup.accounts(account_search.listing(ctx, wanted)))

    def everything(request: gr.Request, wanted: str) -> tuple[str, str]:
        return listed(wanted, request), context.run(request, "grants", _grants)

    def opening(wanted: str, request: gr.Request) -> tuple[str, str]:
        return everything(request, wanted)

    search.click(listed, [text], [people_shown], **QUIETLY)
    text.submit(listed, [text], [people_shown], **QUIETLY)
    form.wire(said, Refresh(everything, [people_shown, shown], [text]))
    context.on_tab_open(opening, [people_shown, shown], [text])


def _grants(ctx: ActionContext) -> str:
    result = quota_grants.listing(ctx)
    accounts = (name for one in result for name in (one.account, one.granted_by))
    return markup.grants(result, account_search.names(ctx, accounts))
