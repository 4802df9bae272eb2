"""Routes of the review pages: disputing a label, annotating pairs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Form, Request
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse, Response

from auth import Identity
from auth.middleware import identity_of
from auth.routes import PRIVATE, Forms
from maintenance.action_context import ActionContext
from maintenance.types import Conflict, NotFound
from review.actions import answers, disputes
from review.items import find_item
from review.pages import STATIC, DisputeView, Draft, ReviewPages, static

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_PRIVATE = {**PRIVATE, "Content-Security-Policy": _POLICY}
_IMAGES = {".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png", ".webp": "image/webp", ".gif": "image/gif"}
_STATIC = {"Cache-Control": "public, max-age=3600", "X-Content-Type-Options": "nosniff"}
_MOST_DIGITS = 10
_FormText = Annotated[str, Form(max_length=20_000)]


def build(
    context: ActionContext,
    pages: ReviewPages,
    *,
    forms: Forms,
    not_found: Callable[[Any], Response],
) -> APIRouter:
    """Return the routes; `not_found` makes the page for addresses that name nothing, from the request's headers."""
    router = APIRouter(include_in_schema=False)
    _add_static(router)
    _add_dispute(router, _ReviewRoutes(context, pages, forms=forms), not_found=not_found)
    _add_annotate(router, context, pages=pages, not_found=not_found)
    _add_images(router, context, not_found=not_found)
    return router


class _ReviewRoutes(NamedTuple):
    context: ActionContext
    pages: ReviewPages
    forms: Forms

    def page(self, user: Identity, name: str, *, draft: Draft, problem: str = "", status: int = 200) -> Response:
        """Return the form. Raises NotFound, Conflict where there is no such pair."""
        items = self.context.items
        table = items.table
        index = find_item(table, name)
        key = table.items[index].key
        texts = items.texts[index] if items.texts else None
        image = f"/explore/{key}/image" if texts and items.image(texts.image) else None
        own = disputes.own(self.context.acting_as(user)) if user.signed_in else []
        about = [dispute for dispute in own if dispute.item == key]
        csrf = self.forms.token(user) if user.signed_in else ""
        pair = DisputeView(table, index, texts=texts, image=image, own=about)
        page = self.pages.dispute(user, pair, csrf=csrf, draft=draft, problem=problem)
        return HTMLResponse(page, status, _PRIVATE)


def _add_static(router: APIRouter) -> None:
    @router.get("/annotate/static/{name}")
    def file(name: str) -> Response:
        if name not in STATIC:
            return Response(status_code=404)
        return Response(static(name), 200, _STATIC, media_type=STATIC[name])


def _add_dispute(router: APIRouter, routes: _ReviewRoutes, *, not_found: Callable[[Any], Response]) -> None:
    @router.get("/disputes")
    def own(request: Request) -> Response:
        """All of one's own disputes."""
        result = disputes.own(routes.context.acting_as(identity_of(request)))
        return HTMLResponse(routes.pages.disputes(result), 200, _PRIVATE)

    @router.get("/dispute/{name}")
    def form(name: str, request: Request) -> Response:
        """Return the page of a pair, with the form to dispute its label."""
        try:
            return routes.page(identity_of(request), name, draft=Draft())
        except (NotFound, Conflict):
            return not_found(request.headers)

    @router.post("/dispute/{name}")
    def send(
        name: str,
        request: Request,
        *,
        better: _FormText = "",
        tag: _FormText = "",
        reason: _FormText = "",
        csrf: _FormText = "",
    ) -> Response:
        """Dispute it; what was typed is not lost when something is wrong with it."""
        user = identity_of(request)
        routes.forms.check(user, csrf)
        try:
            disputes.dispute(routes.context.acting_as(user), name, better=better, reason=reason, tag=tag or None)
        except NotFound:
            return not_found(request.headers)
        except Conflict as impossible:
            return routes.page(user, name, draft=Draft(better, tag, reason=reason), problem=str(impossible), status=422)
        index = find_item(routes.context.items.table, name)
        return RedirectResponse(
            f"{routes.pages.prefix}/dispute/{routes.context.items.table.items[index].key}#yours", 303, _PRIVATE
        )


def _add_annotate(
    router: APIRouter, context: ActionContext, *, pages: ReviewPages, not_found: Callable[[Any], Response]
) -> None:
    @router.get("/annotate")
    def projects(request: Request) -> Response:
        """Return the projects in which the user may answer."""
        user = identity_of(request)
        sheets = answers.sheets(context.acting_as(user))
        return HTMLResponse(pages.projects(user, sheets), 200, _PRIVATE)

    @router.get("/annotate/{project}")
    def annotate(project: str, request: Request) -> Response:
        """One of them."""
        sheet = _sheet(context, request, project=project)
        if sheet is None:
            return not_found(request.headers)
        return HTMLResponse(pages.annotate(identity_of(request), sheet, spec=context.items.table.spec), 200, _PRIVATE)


def _add_images(router: APIRouter, context: ActionContext, *, not_found: Callable[[Any], Response]) -> None:
    @router.get("/annotate/{project}/{place}/image")
    def image(project: str, place: str, *, request: Request) -> Response:
        """Return the image of a pair of a file."""
        if not (_is_number(project) and _is_number(place)):
            return not_found(request.headers)
        try:
            path = answers.image_of(context.acting_as(identity_of(request)), int(project), place=int(place))
        except NotFound:
            return not_found(request.headers)
        kind = _IMAGES.get(path.suffix.lower()) if path is not None else None
        if path is None or kind is None:
            return not_found(request.headers)
        return FileResponse(path, headers={**_PRIVATE, "X-Content-Type-Options": "nosniff"}, media_type=kind)


def _sheet(context: ActionContext, request: Request, *, project: str) -> answers.ProjectView | None:
    """Return a project as the user sees it; None where there is none for this user."""
    if not _is_number(project):
        return None
    try:
        return answers.sheet(context.acting_as(identity_of(request)), int(project))
    except NotFound:
        return None


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < _MOST_DIGITS
