"""Maintain tab for accounts, over the same use cases as REST and the command line."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite

import gradio as gr

from auth import Identity
from maintenance import markup
from maintenance.actions import account_search, bans, quota_grants
from maintenance.page_context import QUIETLY, PageContext, html
from maintenance.types import ActionResult, whole_number

_LEAD = """<p class="vl-hint">Whoever is shut out cannot sign in, and their tokens stop working; their entries stay.
Granted submissions take from nobody's quota, and are used when it is used up.</p>"""


def build(context: PageContext) -> None:
    """Lay the section out in the current Blocks context and wire it."""
    with gr.Row():
        text = gr.Textbox("", label="Search", placeholder="part of a name or id")
        search = gr.Button("Search", size="md")
    people_shown = html(elem_id="accounts")
    html(_LEAD)
    with gr.Row():
        account = gr.Textbox("", label="Account", placeholder="user name or id")
        reason = gr.Textbox("", label="Why", placeholder="goes on record")
        ban, unban = gr.Button("Shut out", size="md"), gr.Button("Let in again", size="md")
    with gr.Row():
        extra = gr.Number(1, label="More submissions", precision=0, minimum=1, maximum=quota_grants.MOST)
        grant = gr.Button("Grant", variant="primary", size="md")
        number = gr.Textbox("", label="Grant", placeholder="its number")
        revoke = gr.Button("End the grant", size="md")
    said, shown = html(elem_id="accounts-said"), html(elem_id="grants")

    def listed(wanted: str, request: gr.Request) -> str:
        def found(user: Identity) -> str:
            return markup.accounts(
                account_search.listing(context.database, user, context.benchmark, context.identity, wanted)
            )

        return context.run(request, "accounts", found)

    def granted(request: gr.Request) -> str:
        def found(user: Identity) -> str:
            known = quota_grants.listing(context.database, user)
            return markup.grants(
                known, context.names(user, (name for one in known for name in (one.account, one.granted_by)))
            )

        return context.run(request, "grants", found)

    def everything(wanted: str, request: gr.Request) -> tuple[str, str]:
        return listed(wanted, request), granted(request)

    def on_account(what: str, use_case: Callable[..., ActionResult]) -> Callable[..., tuple[str, str]]:
        def run(name: str, why: str, wanted: str, request: gr.Request) -> tuple[str, str]:
            def decide(user: Identity) -> str:
                return markup.outcome(use_case(context.database, user, context.identity, name, why))

            return context.run(request, what, decide), listed(wanted, request)

        return run

    def granting(name: str, why: str, many: float | None, request: gr.Request) -> tuple[str, str]:
        def decide(user: Identity) -> str:
            extra = int(many) if many and isfinite(many) else 0  # which nobody can grant
            return markup.outcome(quota_grants.grant(context.database, user, name, extra, why))

        return context.run(request, "grant", decide), granted(request)

    def revoking(which: str, why: str, request: gr.Request) -> tuple[str, str]:
        def decide(user: Identity) -> str:
            return markup.outcome(quota_grants.revoke(context.database, user, whole_number(which), why))

        return context.run(request, "revoke", decide), granted(request)

    search.click(listed, [text], [people_shown], **QUIETLY)
    text.submit(listed, [text], [people_shown], **QUIETLY)
    ban.click(on_account("ban", bans.ban), [account, reason, text], [said, people_shown], **QUIETLY)
    unban.click(on_account("unban", bans.unban), [account, reason, text], [said, people_shown], **QUIETLY)
    grant.click(granting, [account, reason, extra], [said, shown], **QUIETLY)
    revoke.click(revoking, [number, reason], [said, shown], **QUIETLY)
    context.on_tab_open(everything, [people_shown, shown], [text])
