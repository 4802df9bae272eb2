"""REST routes of maintainers, generated from the registered actions; and the public decision log and audit chain.

The identity comes from the request; the action authorises.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import asdict
from functools import partial
from inspect import Parameter as SignatureParameter
from inspect import Signature
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, Field, create_model, field_validator

from auth import AuthError, Role
from auth.middleware import identity_of
from auth.problem_details import json_answer, problem_response, refusal, refused_body
from auth.role_route import require_role
from common.refused import Refused
from maintenance import previews
from maintenance.action_context import ActionContext
from maintenance.actions import audit, rescoring
from maintenance.decision_log import decisions
from maintenance.registry import BASE, Action, ActionParameter, ActionRegistry
from maintenance.types import ActionResult, to_jsonable
from storage.database import LARGEST

QueryNumber = Annotated[int, Field(ge=0, le=LARGEST)]
"""Of something that is numbered."""
_PRIVATE = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


class RequestBody(BaseModel):
    """Base of request bodies: no extra fields, no type conversion."""

    model_config = ConfigDict(extra="forbid", strict=True)

    @field_validator("*")
    @classmethod
    def _is_text(cls, value: Any) -> Any:
        """Return the value. Refuse half of a character, which JSON can say and no database and no answer can."""
        if isinstance(value, str):
            value.encode()  # UnicodeEncodeError is a ValueError: 422
        return value


def build(registry: ActionRegistry, context: ActionContext) -> APIRouter:
    """Return all routes."""
    router = APIRouter(route_class=partial(Route, None))  # type: ignore[arg-type]  # called like a class
    _add_decisions(router, context)
    for action in registry:
        _add_action(router, action, context=context, route=partial(Route, action.declared.role))
    by_hand = APIRouter(route_class=partial(Route, Role.MAINTAINER))  # type: ignore[arg-type]
    _add_by_hand(by_hand, context)
    router.routes.extend(by_hand.routes)
    return router


def _add_action(router: APIRouter, action: Action[Any, Any], *, context: ActionContext, route: Any) -> None:
    router.add_api_route(
        action.path,
        _endpoint(action, context),
        methods=[action.method],
        name=action.verb,
        description=action.description,
        route_class_override=route,
    )


def _endpoint(action: Action[Any, Any], context: ActionContext) -> Callable[..., Response]:
    """Return a function with the signature from which FastAPI makes parameters, body and description."""

    def endpoint(request: Request, **given: Any) -> Response:
        values = {**given, **_sent(action, given.pop("body", None))}
        values.pop("body", None)
        result = action.run(context.acting_as(identity_of(request)), values)
        return done(result) if isinstance(result, ActionResult) else private(to_jsonable(result))

    asked = [SignatureParameter("request", SignatureParameter.KEYWORD_ONLY, annotation=Request)]
    asked += [
        _keyword(parameter.name, parameter.annotation, default=parameter.default) for parameter in action.in_path()
    ]
    if action.method == "GET":
        asked += [_keyword(one.name, one.annotation, default=one.default) for one in action.sent()]
    elif action.sent():
        asked.append(_keyword("body", _body(action), default=SignatureParameter.empty))
    endpoint.__signature__ = Signature(asked, return_annotation=Response)  # type: ignore[attr-defined]
    return endpoint


def _sent(action: Action[Any, Any], body: Any) -> Mapping[str, Any]:
    """Return the values of a body by parameter name; fields that were left out are not among them."""
    if body is None:
        return {}
    if isinstance(body, RequestBody):
        return {name: getattr(body, name) for name in body.model_fields_set}
    return {action.sent()[0].name: body}


def _keyword(name: str, annotation: Any, *, default: Any) -> SignatureParameter:
    return SignatureParameter(name, SignatureParameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _body(action: Action[Any, Any]) -> Any:
    """Return the model of an action's JSON body."""
    sent = action.sent()
    if sent[0].info.whole_body:
        return dict[str, Any]
    values = {parameter.name: (parameter.annotation, _field(parameter)) for parameter in sent}
    name = "Reason" if list(values) == ["reason"] else action.verb.replace("_", " ").title().replace(" ", "")
    return create_model(f"{name}Body", __base__=RequestBody, **values)  # type: ignore[call-overload]


def _field(action_parameter: ActionParameter) -> Any:
    return Field(
        ... if action_parameter.required else action_parameter.default, description=action_parameter.info.help or None
    )


def _add_decisions(router: APIRouter, context: ActionContext) -> None:
    @router.get("/api/v1/decisions")
    def log(
        request: Request,
        before: QueryNumber | None = None,
        *,
        limit: Annotated[int, Query(ge=1, le=500)] = 100,
        edits: bool = False,
    ) -> Response:
        """Return the public decision log, newest first; `before` continues at the last seq of an earlier answer. With
        `edits` also entries that were described anew. With `benchmark`: only decisions about it and the service."""
        named = _named_benchmark(request, context)
        result = decisions(
            context.database, context.public_events, before=before, limit=limit, edits=edits, benchmark=named
        )
        return JSONResponse({"decisions": result}, headers={"Cache-Control": "no-cache"})

    @router.get("/api/v1/chain")
    def public_chain(after: QueryNumber = 0) -> Response:
        """Return the public audit chain as JSON lines: `seq`, `prev`, `body_sha256` and `hash` of each event. `hash`
        is SHA-256(prev bytes + body_sha256 bytes); `after` continues an earlier copy."""
        lines = audit.public(context.database, after)
        return StreamingResponse(lines, headers={"Cache-Control": "no-cache"}, media_type="application/x-ndjson")


def _named_benchmark(request: Request, context: ActionContext) -> str:
    """Return the benchmark that an address names, by its prefix or its parameter; "" where it names none."""
    named = "benchmark" in request.scope or "benchmark" in request.query_params
    return context.benchmark if named else ""


def _add_by_hand(router: APIRouter, context: ActionContext) -> None:
    @router.get(f"{BASE}/rescore/preview/{{task}}/csv")
    def preview_csv(request: Request, task: QueryNumber, *, table: Literal["entries", "pairs"] = "entries") -> Response:
        """Return the table of a preview as CSV: `entries`, or the `pairs` whose labels change."""
        result = rescoring.preview(context.acting_as(identity_of(request)), task)
        body = previews.entries_csv(result) if table == "entries" else previews.pairs_csv(result)
        named = {"Content-Disposition": f'attachment; filename="preview-{task}-{table}.csv"'}
        return Response(body, headers=_PRIVATE | named, media_type="text/csv; charset=utf-8")


def done(what: ActionResult) -> Response:
    """Return what was done; 202 where a worker still has to do it."""
    return json_answer(asdict(what), 202 if what.task_id is not None else 200, headers=_PRIVATE)


def private(value: Any) -> Response:
    """Return what maintainers alone may see, and no cache keeps."""
    return JSONResponse(value, headers=_PRIVATE)


class Route(APIRoute):
    """A route that asks first who it is, and whose refusals become problem details. What else an owner or an annotator
    needs, the use case asks."""

    def __init__(self, needs: Role | None, path: str, *arguments: Any, **options: Any) -> None:
        self._needs = needs
        if needs is Role.MAINTAINER:  # docs/maintaining.md describes these; the public description lists none
            options["include_in_schema"] = False
        super().__init__(path, *arguments, **options)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler, with the use cases' exceptions turned into answers."""
        # A token that was made to maintain need not be one to submit.
        inner = require_role(self._needs, super().get_route_handler(), instead=Role.MAINTAINER)

        async def handle(request: Request) -> Response:
            try:
                return await inner(request)
            except AuthError as refused:
                return refusal(refused)
            except Refused as refused:
                return problem_response(refused_body(refused))

        return handle
