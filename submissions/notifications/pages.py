"""Routes of notifications: the forms of the account page, and the links of e-mails."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from auth import Identity
from auth.middleware import identity_of
from auth.model import require_person
from auth.pages import PRIVATE
from auth.render import AccountPages
from submissions.notifications.subscriptions import EmailRejected, EmailSubscriptions
from vlrb.common.messages import _

_QueryText = Annotated[str, Query(max_length=500)]
_BACK = ((_("Your account"), "/account"), (_("The board"), "/"))
_SECTION = "/account#email"


def build(pages: AccountPages, subscriptions: EmailSubscriptions) -> APIRouter:
    """Return the routes of e-mail."""
    router = APIRouter(include_in_schema=False)

    @router.post("/account/email")
    def state(request: Request, address: Annotated[str, Form(max_length=500)] = "") -> Response:
        """Keep an address, and ask for its confirmation."""
        try:
            subscriptions.state(identity_of(request), address, language=pages.language())
        except EmailRejected as rejected:
            return _refused(pages, rejected)
        return RedirectResponse(_SECTION, 303, PRIVATE)

    @router.post("/account/email/stop")
    def stop(request: Request) -> Response:
        """Delete the address."""
        subscriptions.stop(identity_of(request))
        return RedirectResponse(_SECTION, 303, PRIVATE)

    router.include_router(_links(pages, subscriptions))
    return router


def _links(pages: AccountPages, subscriptions: EmailSubscriptions) -> APIRouter:
    """Links of e-mails: to confirm an address, and to stop."""
    router = APIRouter(include_in_schema=False)

    @router.get("/account/email/confirm")
    def ask_to_confirm(request: Request, token: _QueryText = "") -> Response:
        """Show a button: programs that open the links of e-mails must not confirm. Visitors sign in
        first."""
        user = identity_of(request)
        if not user.signed_in:
            back = {"next": f"/account/email/confirm?{urlencode({'token': token})}"}
            return RedirectResponse(f"/auth/sign-in?{urlencode(back)}", 303, PRIVATE)
        require_person(user)
        question = _("Send news of the entries of {name} to this e-mail address?", name=user.name)
        words = (question, _("Confirm the address"))
        return _page(pages, "/account/email/confirm", words=words, fields={"token": token})

    @router.post("/account/email/confirm")
    def confirm(request: Request, token: Annotated[str, Form(max_length=500)] = "") -> Response:
        """Begin to send."""
        try:
            subscriptions.confirm(identity_of(request), token)
        except EmailRejected as rejected:
            return _refused(pages, rejected)
        return RedirectResponse(_SECTION, 303, PRIVATE)

    @router.get("/account/email/unsubscribe")
    def ask_to_unsubscribe(id: _QueryText = "", key: _QueryText = "") -> Response:
        """Show a button, for the same reason; without sign-in."""
        question = _("Stop all e-mails about your entries?")
        address = f"/account/email/unsubscribe?id={id}&key={key}"
        return _page(pages, address, words=(question, _("Stop the e-mails")), fields={})

    @router.post("/account/email/unsubscribe")
    def unsubscribe(id: _QueryText = "", key: _QueryText = "") -> Response:
        """Stop e-mails, from the button or from a mail program (RFC 8058); an address that is gone is fine, too."""
        try:
            subscriptions.unsubscribe(id, key)
        except EmailRejected as rejected:
            return _refused(pages, rejected)
        page = pages.message(_("No more e-mails"), _("Your e-mail address is deleted."), links=_BACK)
        return HTMLResponse(page, headers=PRIVATE)

    return router


def account_sections(email: EmailSubscriptions | None, user: Identity) -> Mapping[str, Any]:
    """Return what the account page says of e-mail, where there is any; nothing to those who have not signed in with a
    browser."""
    if email is None or user.auth_method != "session":
        return {}
    return {"email": {"own": email.own(user)}}


def _page(pages: AccountPages, address: str, *, words: tuple[str, str], fields: dict[str, str]) -> Response:
    context = {"current": "/account", "address": address, "question": words[0], "button": words[1], "fields": fields}
    return HTMLResponse(pages.render("email_question.html", **context), headers=PRIVATE)


def _refused(pages: AccountPages, rejected: EmailRejected) -> Response:
    page = pages.message(_("That is not possible"), rejected.args[0], links=_BACK)
    return HTMLResponse(page, 422, PRIVATE)
