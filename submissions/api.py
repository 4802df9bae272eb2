"""REST routes: dry run, submission, status."""

from __future__ import annotations

from asyncio import Lock
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Annotated, Any
from weakref import WeakValueDictionary

import anyio
from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, HTTPException, Query, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ConfigDict
from starlette.datastructures import UploadFile
from starlette.requests import ClientDisconnect

from auth import Identity, Role, require
from auth.limits.rate_limit import address_of
from auth.middleware import identity_of
from auth.problem_details import json_answer
from auth.role_route import RoleRoute
from common.openapi import answers
from storage.clock import iso
from storage.database import LARGEST, Database
from storage.files.spool import Spool, UploadedFile, UploadWriter
from storage.metadata import FIELDS
from submissions import activity, policy_text, visibility_options
from submissions.refusals import FileRejected, UnknownSubmission, not_predictions
from submissions.service import Accepted, Allowance, SubmissionService
from submissions.status import Status
from vlrb.common.messages import _

_CHECKS_AT_ONCE = 2  # files that are read at one time
_FORM_LIMIT = 128 * 1024  # bytes of one text field
_MOST_FIELDS = len(FIELDS) + len(visibility_options.FIELDS) + 8
_FILE_SCHEMA = {"type": "string", "format": "binary"}
_FORM = {
    "type": "object",
    "required": ["file", "model"],
    "properties": {
        "file": _FILE_SCHEMA,
        **{
            name: {"type": "string", "description": f"{field.help[0].upper()}{field.help[1:]}: {field.limits}"}
            for name, field in FIELDS.items()
        },
        **{name: {"type": "string"} for name in (*visibility_options.FIELDS, visibility_options.CONFIRMATION)},
    },
}
_PARAMETERS = [
    {
        "name": "benchmark",
        "in": "query",
        "required": False,
        "schema": {"type": "string"},
        "description": "Id of a benchmark; the first one if left out",
    }
]
_CHECK_BODY = {
    "multipart/form-data": {"schema": {"type": "object", "properties": {"file": _FILE_SCHEMA}}},
    "application/octet-stream": {"schema": _FILE_SCHEMA},
}


def build(
    intake: SubmissionService,
    spool: Spool,
    *,
    track: Callable[[str, Identity], Status | None],
    database: Database,
    rules: activity.ActivityRules,
) -> APIRouter:
    """Return the routes. `rules`: what the activity list may tell."""
    router = APIRouter()
    reading = _FileReading(intake, spool)
    _add_check(router, reading)
    _add_submit(router, reading)
    _add_state(router, track)
    router.include_router(_owner_routes(database, intake.benchmark))
    _add_policy(router, intake)
    _add_events(router, database, rules=rules)
    return router


class _FileReading:
    """Limits on reading files: some at one time, and one of an address or account, so that others need not wait."""

    def __init__(self, intake: SubmissionService, spool: Spool) -> None:
        self.intake = intake
        self.spool = spool
        self.limiter = CapacityLimiter(_CHECKS_AT_ONCE)
        self._locks: WeakValueDictionary[str, Lock] = WeakValueDictionary()

    def lock(self, client: str) -> Lock:
        """Return the lock of an address or account."""
        return self._locks.setdefault(client, Lock())


def _add_check(router: APIRouter, reading: _FileReading) -> None:
    @router.post(
        "/api/v1/check",
        openapi_extra={"parameters": _PARAMETERS, "requestBody": {"content": _CHECK_BODY}},
        responses=answers("check"),
    )
    async def check(request: Request) -> Response:
        """Dry run: what this service understands of a file. Needs no account, costs nothing, touches no label."""
        async with _receive_file(request, reading.spool) as (file, _):
            async with reading.lock(address_of(request.scope)):
                report = await to_thread.run_sync(reading.intake.check, file, limiter=reading.limiter)
            if not_predictions(report):  # nothing in it to report on
                raise FileRejected(report)
            return json_answer(report)


def _add_submit(router: APIRouter, reading: _FileReading) -> None:
    @router.post(
        "/api/v1/submissions",
        status_code=202,
        openapi_extra={
            "parameters": _PARAMETERS,
            "requestBody": {"content": {"multipart/form-data": {"schema": _FORM}}},
        },
        responses=answers("submit"),
    )
    async def submit(request: Request) -> Response:
        """Submit a file. The same bytes from the same owner are the same submission: `duplicate`, nothing changes."""
        user = require(identity_of(request), Role.SUBMITTER)  # before a file is taken in; the use case asks again
        async with _receive_file(request, reading.spool) as (file, form):
            metadata, chosen_visibility = visibility_options.parse_form(form)
            take = partial(reading.intake.submit, accept_unreadable=visibility_options.confirmed(form))
            async with reading.lock(f"account {user.account}"):
                accepted = await to_thread.run_sync(
                    take, file, metadata, user, chosen_visibility, limiter=reading.limiter
                )
            return JSONResponse(submission_response(accepted), status_code=202)


def _add_state(router: APIRouter, track: Callable[[str, Identity], Status | None]) -> None:
    @router.get("/api/v1/submissions/{submission}", responses=answers("state"))
    def submission_state(submission: str, request: Request) -> Response:
        """Return state, position and, once scored, the entry of a submission. Others than its owner see state and times
        until it is public, and nothing of an unpublished one."""
        status = track(submission, identity_of(request))
        if status is None:
            raise UnknownSubmission
        return json_answer(status.to_json(), headers={"Cache-Control": "no-store"})


class Anonymity(BaseModel):
    """Until which day (2027-01-31) an entry is shown without who made it; null ends that now."""

    model_config = ConfigDict(extra="forbid", strict=True)
    until: str | None


def _owner_routes(database: Database, benchmark: str) -> APIRouter:
    router = APIRouter(route_class=RoleRoute)

    @router.post("/api/v1/submissions/{submission}/publish", responses=answers("publish"))
    def publish(submission: str, request: Request) -> Response:
        """Put your entry on the board, for good."""
        user = identity_of(request)
        return _changed(visibility_options.publish(database, benchmark, user=user, submission=submission))

    @router.put("/api/v1/submissions/{submission}/anonymity", responses=answers("anonymity"))
    def anonymity(submission: str, body: Anonymity, *, request: Request) -> Response:
        """Move the day until which your entry is shown without who made it, or end that now."""
        user, until = identity_of(request), visibility_options.parse_day(body.until)
        return _changed(
            visibility_options.set_anonymous_until(database, benchmark, user=user, submission=submission, until=until)
        )

    return router


def _changed(changed: bool) -> Response:
    return JSONResponse({"changed": changed}, headers={"Cache-Control": "no-store"})


def _add_policy(router: APIRouter, intake: SubmissionService) -> None:
    @router.get("/api/v1/policy", responses=answers("policy"))
    def policy() -> Response:
        """Everything that governs submitting here; /policy says it in words. Recorded with every submission."""
        return JSONResponse(policy_text.policy_json(intake.rules()))

    @router.get("/api/v1/quota", responses=answers("quota"))
    def quota(request: Request) -> Response:
        """Whether you may submit now, and if not, when; how many attempts you have made at the board's labels."""
        body = allowance(identity_of(request), intake.allowance(identity_of(request)))
        return JSONResponse(body, headers={"Cache-Control": "no-store"})


def _add_events(router: APIRouter, database: Database, *, rules: activity.ActivityRules) -> None:
    @router.get("/api/v1/account/events", responses=answers("events"))
    def events(
        request: Request,
        before: Annotated[int | None, Query(ge=0, le=LARGEST)] = None,
        *,
        limit: Annotated[int, Query(ge=1, le=200)] = 50,
    ) -> Response:
        """Return the events of your entries, newest first; `before` continues at the last seq of an earlier answer."""
        span: dict[str, Any] = {"before": before, "limit": limit}
        result = activity.list_activity(database, identity_of(request), rules=rules, **span)
        return JSONResponse({"events": [event.to_json() for event in result]}, headers={"Cache-Control": "no-store"})


def allowance(user: Identity, result: Allowance) -> dict[str, Any]:
    """`GET /api/v1/quota`."""
    next_at = None if result.next_at is None else iso(result.next_at)
    values = {"account": user.account, "name": user.name, "attempts": result.attempts, "next_at": next_at}
    return {
        **values,
        "label_revision": result.label_revision,
        "awaiting_approval": result.awaiting,
        "paused": result.paused,
    }


def submission_response(accepted: Accepted) -> dict[str, Any]:
    """Return what a submitter gets: id, whether it was there before, receipt, and where to look."""
    return {
        "id": accepted.id,
        "duplicate": accepted.duplicate,
        "receipt": accepted.receipt,
        "status_url": f"/api/v1/submissions/{accepted.id}",
    }


@asynccontextmanager
async def _receive_file(request: Request, spool: Spool) -> AsyncIterator[tuple[UploadedFile, Mapping[str, object]]]:
    """Provide the request's file on disk, and the other fields; the file is gone afterwards."""
    try:
        with spool.incoming() as incoming:
            if request.headers.get("content-type", "").lower().startswith("multipart/form-data"):
                async with request.form(max_files=1, max_fields=_MOST_FIELDS, max_part_size=_FORM_LIMIT) as form:
                    fields = {name: value for name, value in form.multi_items() if isinstance(value, str)}
                    upload = form.get("file")
                    if not isinstance(upload, UploadFile):
                        raise HTTPException(400, _("The form has no file. Send it as the part named 'file'."))
                    await _copy(upload, incoming)
                    name = upload.filename or ""
            else:
                fields, name = {}, ""
                async for chunk in request.stream():
                    incoming.write(chunk)
            yield incoming.finish(name), fields
    except ClientDisconnect:
        raise HTTPException(400, _("The upload ended before the file was complete.")) from None


async def _copy(upload: UploadFile, incoming: UploadWriter) -> None:
    while chunk := await upload.read(1 << 20):
        incoming.write(chunk)
        await anyio.lowlevel.checkpoint()
