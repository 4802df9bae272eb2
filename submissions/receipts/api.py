"""REST: receipts, and the keys to check them with. Canonical JSON: the same receipt is the same bytes."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from identity.middleware import identity_of
from identity.problems import problem
from storage.canonical import canonical_json
from submissions.receipts import documentation
from submissions.receipts.issuing import Receipts, RecordChanged

_PRIVATE = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
_JSON = "application/json"


def build(receipts: Receipts) -> APIRouter:
    """The routes."""
    router = APIRouter(tags=["receipts"])

    @router.get("/api/v1/submissions/{submission}/receipt", responses=documentation.ACCEPTANCE)
    def acceptance(submission: str, request: Request) -> Response:
        """The signed receipt of acceptance: content, account, counts, time and place in the audit chain."""
        found = receipts.of_acceptance(submission, identity_of(request))
        if found is None:
            return problem(404, "unknown-submission", "There is no receipt of this submission here.")
        return _canonical(found)

    @router.get("/api/v1/entries/{entry}/receipts", responses=documentation.SCORES)
    def scores(entry: str, request: Request) -> Response:
        """The signed receipts of every score of an entry, under all label revisions, the oldest first."""
        try:
            found = receipts.of_scores(entry, identity_of(request))
        except RecordChanged as changed:
            return problem(500, "record-changed", str(changed))
        if found is None:
            return problem(404, "unknown-entry", "There is no entry with this id.")
        return _canonical({"entry": entry, "receipts": found})

    @router.get("/api/v1/keys", responses=documentation.KEYS)
    def keys() -> Response:
        """The public keys of receipts, those of the past too. Keep a copy, and check receipts without this service."""
        return JSONResponse(receipts.keys(), headers={"Cache-Control": "no-cache"})

    return router


def _canonical(body: dict[str, Any]) -> Response:
    return Response(canonical_json(body), headers=_PRIVATE, media_type=_JSON)
