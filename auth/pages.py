"""Routes of sign-in, sign-out and the account page, and the handlers of 401 and 403 errors.

`web/app.py` includes the routes and puts ``IdentityMiddleware`` around the application, `web/errors.py` adds the
handlers.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import urlencode

from anyio import to_thread
from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from auth.middleware import identity_of, read_cookie
from auth.model import AuthError, Identity, Role, Unauthenticated, require_person
from auth.openid import IssuerOffline, SignInFailed
from auth.problem_details import extra_headers, refusal
from auth.render import AccountPages
from auth.service import AuthService
from auth.settings import Mode
from auth.sign_in import TRANSACTION_SECONDS, local_path
from auth.tokens import DAYS, CreatedToken, TokenRejected
from vlrb.common.messages import _

log = logging.getLogger(__name__)

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors {}"
)
PRIVATE = {
    "Content-Security-Policy": _POLICY.format("'none'"),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # with no-referrer browsers would send our own forms with Origin: null
    "Cache-Control": "no-store",
}
# The one page that is made to be seen inside a frame, of a Space where this is one: it leads out of it.
_FRAMED = {**PRIVATE, "Content-Security-Policy": _POLICY.format("'self'")}
_NO_SECTIONS: Mapping[str, Any] = {"submissions": (), "next_submission": "", "activity": (), "notifications": {}}


def build(
    identities: AuthService,
    pages: AccountPages,
    *,
    sections: Callable[[Identity], Mapping[str, Any]] = lambda _: {},
) -> APIRouter:
    """Return the routes. `sections`: what else the page of an account shows; it may block."""
    router = APIRouter(include_in_schema=False)
    account = _Account(identities, pages, sections)
    if identities.settings.mode is Mode.OPENID:
        _add_sign_in(router, identities, pages=pages)
        _add_account_actions(router, account)
    _add_account(router, account)
    return router


def refusals(
    identities: AuthService, pages: AccountPages
) -> Callable[[Request, Exception], Coroutine[Any, Any, Response]]:
    """Return the exception handler for Refused: problem+json, or a page for a browser that asked for one."""

    async def answer(request: Request, error: Exception) -> Response:
        if not isinstance(error, AuthError):
            raise error
        if "text/html" not in request.headers.get("accept", "") or request.url.path.startswith("/api/"):
            return refusal(error)
        title, detail, first = _("That is not possible"), error.detail, (_("Your account"), "/account")
        maintainers = error.needed is Role.MAINTAINER and request.method == "GET"
        if maintainers:
            title, detail = (
                _("For maintainers"),
                _("This page is for maintainers. What they decide is under Decisions."),
            )
        if isinstance(error, Unauthenticated) and request.method == "GET" and identities.settings.mode is Mode.OPENID:
            title = _("Sign in as a maintainer") if maintainers else _("Sign in first")
            detail = detail if maintainers else _("This page is for people with an account.")
            target = f"{request.url.path}?{request.url.query}".rstrip("?")
            first = (_("Sign in"), f"/auth/sign-in?{urlencode({'next': target})}")
        page = pages.message(title, detail, links=(first, (_("The board"), "/")))
        return HTMLResponse(page, error.status, {**PRIVATE, **extra_headers(error)})

    return answer


def _add_sign_in(router: APIRouter, identities: AuthService, *, pages: AccountPages) -> None:
    settings = identities.settings

    @router.get("/auth/sign-in")
    def sign_in(request: Request) -> Response:
        """Send the browser to the issuer."""
        target = local_path(request.query_params.get("next") or request.query_params.get("_target_url"))
        if request.headers.get("sec-fetch-dest") in ("iframe", "frame"):
            return _break_out_of_frame(pages, target)
        try:
            started = identities.sign_in.start(target)
        except IssuerOffline as offline:
            return _offline(pages, settings.issuer_name, error=offline)
        answer = RedirectResponse(started.url, 303, PRIVATE)
        _set_cookie(answer, settings.sign_in_cookie, started.cookie, seconds=TRANSACTION_SECONDS, https=settings.https)
        return answer

    @router.get("/auth/callback")
    def callback(request: Request) -> Response:
        """Finish a sign-in: the issuer redirects to this address."""
        parameters = request.query_params
        try:
            if "code" not in parameters:
                raise SignInFailed(f"no code ({parameters.get('error', '')[:40]!r})")
            completed = identities.sign_in.complete(
                code=parameters["code"],
                state=parameters.get("state", ""),
                issuer=parameters.get("iss"),
                sign_in_cookie=read_cookie(request.scope, settings.sign_in_cookie),
                session_cookie=read_cookie(request.scope, settings.session_cookie),
            )
        except SignInFailed as failed:
            log.info("sign_in.failed", extra={"data": {"reason": str(failed)}})
            answer: Response = _failed(pages)
            _set_cookie(answer, settings.sign_in_cookie, https=settings.https)
            return answer
        except IssuerOffline as offline:
            return _offline(pages, settings.issuer_name, error=offline)
        except AuthError as refusal:
            page = pages.message(_("You are not signed in"), refusal.detail, links=((_("The board"), "/"),))
            return HTMLResponse(page, refusal.status, {**PRIVATE, **extra_headers(refusal)})
        answer = RedirectResponse(completed.target, 303, PRIVATE)
        name, value, seconds = settings.session_cookie, completed.cookie, settings.session_seconds
        _set_cookie(answer, name, value, seconds=seconds, https=settings.https)
        _set_cookie(answer, settings.sign_in_cookie, https=settings.https)
        return answer

    @router.post("/auth/sign-out")
    def sign_out(request: Request) -> Response:
        """End this session."""
        identities.sign_in.sign_out(identity_of(request))
        answer = RedirectResponse("/", 303, PRIVATE)
        _set_cookie(answer, settings.session_cookie, https=settings.https)
        return answer


class _Account(NamedTuple):
    identities: AuthService
    pages: AccountPages
    sections: Callable[[Identity], Mapping[str, Any]]

    def page(
        self, identity: Identity, *, made: CreatedToken | None = None, error: str = "", status: int = 200
    ) -> Response:
        """Return the account page as this person sees it."""
        context: dict[str, Any] = {
            "identity": identity,
            "issuer": self.identities.settings.issuer_name,
            "roles": _scope_label(identity.roles),
            "maintains": Role.MAINTAINER in identity.roles,
            **_NO_SECTIONS,
            **(self.sections(identity) if identity.signed_in else {}),
            "made": made,
            "error": error,
            "days": DAYS,
            "tokens": self.identities.tokens.list_for(identity) if identity.auth_method == "session" else (),
            "current": "/account",
        }
        return HTMLResponse(self.pages.render("identity_account.html", **context), status, PRIVATE)


def _add_account(router: APIRouter, account: _Account) -> None:
    @router.get("/account")
    def page(request: Request) -> Response:
        """Tokens, sessions, submissions; or the way in."""
        return account.page(identity_of(request))

    @router.get("/auth/me")
    async def me(request: Request) -> Response:
        """Return the identity of the request, for the small scripts of pages that are the same for everybody."""
        identity = identity_of(request)
        values = {
            "signed_in": identity.signed_in,
            "name": identity.name,
            "via": identity.auth_method,
            "roles": sorted(identity.roles),
        }
        return JSONResponse(values, headers={"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"})


def _add_account_actions(router: APIRouter, account: _Account) -> None:
    identities = account.identities

    @router.post("/account/tokens")
    async def make_token(request: Request) -> Response:
        """Make a token and shows it, this once."""
        identity = require_person(identity_of(request))
        async with request.form(max_files=0, max_fields=12) as form:
            fields = {name: str(form.get(name, "")) for name in ("name", "days")}
            scopes = [str(value) for value in form.getlist("scopes")]
        return await to_thread.run_sync(partial(_make, account, identity, fields=fields, scopes=scopes))

    @router.post("/account/tokens/{token_id}/revoke")
    def revoke_token(token_id: str, request: Request) -> Response:
        """Revoke the user's own token; those of others are not found."""
        identities.tokens.revoke(identity_of(request), token_id)
        return RedirectResponse("/account", 303, PRIVATE)

    @router.post("/account/sessions/end")
    def end_sessions(request: Request) -> Response:
        """Sign out everywhere, here included."""
        identities.sign_in.sign_out_everywhere(identity_of(request))
        answer = RedirectResponse("/account", 303, PRIVATE)
        _set_cookie(answer, identities.settings.session_cookie, https=identities.settings.https)
        return answer


def _make(account: _Account, identity: Identity, *, fields: Mapping[str, str], scopes: Sequence[str]) -> Response:
    days = int(fields["days"]) if re.fullmatch("[0-9]{1,5}", fields["days"]) else 0
    try:
        created = account.identities.tokens.make(identity, fields["name"], scopes=scopes, days=days)
    except TokenRejected as rejected:
        return account.page(identity, error=str(rejected), status=422)
    return account.page(identity, made=created)


def _set_cookie(answer: Response, name: str, value: str = "", *, seconds: float = 0, https: bool) -> None:
    """Set a cookie; without a value and seconds, browsers remove it."""
    answer.set_cookie(name, value, max_age=int(seconds), path="/", secure=https, httponly=True, samesite="lax")


def _failed(pages: AccountPages) -> Response:
    lead = _("This sign-in was started in another browser, or took too long. Nothing has changed; please try again.")
    links = ((_("Sign in"), "/auth/sign-in"), (_("The board"), "/"))
    return HTMLResponse(pages.message(_("You are not signed in"), lead, links=links), 400, PRIVATE)


def _offline(pages: AccountPages, issuer: str, *, error: IssuerOffline) -> Response:
    log.warning("issuer.offline", extra={"data": {"reason": str(error)}})
    lead = _(
        "{issuer} does not respond as expected, so sign-in is not possible at the moment. Public pages work.",
        issuer=issuer,
    )
    page = pages.message(
        _("Sign-in is not possible now"), lead, links=((_("Try again"), "/auth/sign-in"), (_("The board"), "/"))
    )
    return HTMLResponse(page, 502, PRIVATE)


def _break_out_of_frame(pages: AccountPages, target: str) -> Response:
    lead = _("Browsers do not keep you signed in inside this frame. Continue in a new tab.")
    links = ((_("Sign in, in a new tab"), f"/auth/sign-in?{urlencode({'next': target})}"),)
    return HTMLResponse(pages.message(_("Sign in"), lead, links=links, own_tab=True), 200, _FRAMED)


def _scope_label(roles: frozenset[Role]) -> str:
    words = {1: _("submit"), 2: _("submit and maintain"), 3: _("submit, maintain and decide as an owner")}
    return words.get(len(roles), _("look"))
