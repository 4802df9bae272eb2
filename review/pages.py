"""Routes of the review pages: disputing a label, annotating pairs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from auth import Identity
from auth.middleware import identity_of
from auth.pages import PRIVATE
from auth.render import AccountPages
from common.image_files import image_reply
from maintenance.action_context import ActionContext
from maintenance.types import Conflict, NotFound
from review.actions import answers, disputes
from review.annotation import annotation_page
from review.items import find_item
from storage.models.review import REASON_LENGTHS

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_PRIVATE = {**PRIVATE, "Content-Security-Policy": _POLICY}
_MOST_DIGITS = 10
_EMPTY = dict.fromkeys(("better", "tag", "reason", "problem"), "")  # of the dispute form
_FormText = Annotated[str, Form(max_length=20_000)]


class _ReviewRoutes(NamedTuple):
    context: ActionContext
    pages: AccountPages
    not_found: Callable[[Any], Response]  # from the request's headers

    def asked_by(self, request: Request) -> ActionContext:
        return self.context.acting_as(identity_of(request))

    def page(self, template: str, status: int = 200, **values: Any) -> Response:
        return HTMLResponse(self.pages.render(template, current="", **values), status, _PRIVATE)

    def dispute(self, user: Identity, name: str, *, status: int = 200, **typed: str) -> Response:
        """Return the form about a pair, and the user's own disputes of it. Raises NotFound, Conflict.

        `typed`: values of the form, and the `problem` with them.
        """
        items = self.context.items
        index = find_item(items.table, name)
        item, texts = items.table.items[index], items.texts[index] if items.texts else None
        own = disputes.own(self.context.acting_as(user)) if user.signed_in else []
        return self.page(
            "dispute.html",
            status,
            who=user,
            item=item,
            number=index + 1,
            total=len(items.table),
            texts=texts,
            image=f"/explore/{item.key}/image" if texts and items.image(texts.image) else None,
            own=[dispute for dispute in own if dispute.item == item.key],
            draft=_EMPTY | typed,
            answer_texts=disputes.ANSWER_TEXTS,
            tags=items.table.spec.tags,
            lengths=REASON_LENGTHS,
            most=disputes.MOST_OPEN,
        )


def build(context: ActionContext, pages: AccountPages, *, not_found: Callable[[Any], Response]) -> APIRouter:
    """Return the routes; `not_found` makes the page for addresses that name nothing, from the request's headers."""
    router = APIRouter(include_in_schema=False)
    site = _ReviewRoutes(context, pages, not_found)
    _add_dispute(router, site)
    _add_annotate(router, site)
    return router


def _add_dispute(router: APIRouter, site: _ReviewRoutes) -> None:
    @router.get("/disputes")
    def own(request: Request) -> Response:
        """All of one's own disputes."""
        return site.page("disputes.html", own=disputes.own(site.asked_by(request)), answer_texts=disputes.ANSWER_TEXTS)

    @router.get("/dispute/{name}")
    def form(name: str, request: Request) -> Response:
        """Return the page of a pair, with the form to dispute its label."""
        try:
            return site.dispute(identity_of(request), name)
        except (NotFound, Conflict):
            return site.not_found(request.headers)

    @router.post("/dispute/{name}")
    def send(
        name: str,
        request: Request,
        *,
        better: _FormText = "",
        tag: _FormText = "",
        reason: _FormText = "",
    ) -> Response:
        """Dispute it; what was typed is not lost when something is wrong with it."""
        user = identity_of(request)
        try:
            disputes.dispute(site.asked_by(request), name, better=better, reason=reason, tag=tag or None)
        except NotFound:
            return site.not_found(request.headers)
        except Conflict as impossible:
            typed = {"better": better, "tag": tag, "reason": reason}
            return site.dispute(user, name, status=422, problem=str(impossible), **typed)
        table = site.context.items.table
        key = table.items[find_item(table, name)].key
        return RedirectResponse(f"{site.pages.prefix}/dispute/{key}#yours", 303, _PRIVATE)


def _add_annotate(router: APIRouter, site: _ReviewRoutes) -> None:
    @router.get("/annotate")
    def projects(request: Request) -> Response:
        """Return the projects in which the user may answer."""
        return site.page("annotate_projects.html", sheets=answers.sheets(site.asked_by(request)))

    @router.get("/annotate/{project}")
    def annotate(project: str, request: Request) -> Response:
        """One of them; pairs and answers come later, over the API."""
        ctx = site.asked_by(request)
        try:
            sheet = answers.sheet(ctx, _number(project))
        except NotFound:
            return site.not_found(request.headers)
        shown = annotation_page(ctx.items.table.spec, site.pages.language())
        return site.page("annotate.html", sheet=sheet, account=ctx.user.account, **shown)

    @router.get("/annotate/{project}/{place}/image")
    def image(project: str, place: str, *, request: Request) -> Response:
        """Return the image of a pair of a file."""
        try:
            path = answers.image_of(site.asked_by(request), _number(project), place=_number(place))
        except NotFound:
            path = None
        return image_reply(path, _PRIVATE) or site.not_found(request.headers)


def _number(text: str) -> int:
    """Return the number in an address. Raises NotFound."""
    if text.isascii() and text.isdecimal() and len(text) < _MOST_DIGITS:
        return int(text)
    raise NotFound(text[:_MOST_DIGITS])
