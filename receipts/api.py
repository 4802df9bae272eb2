"""REST routes of receipts and of the public keys."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from auth.middleware import identity_of
from auth.problem_details import problem
from common.openapi import answers
from receipts.service import ReceiptService
from vlrb.common.messages import _

_PRIVATE = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


def build(receipts: ReceiptService) -> APIRouter:
    """Return the routes."""
    router = APIRouter(tags=["receipts"])

    @router.get("/api/v1/submissions/{submission}/receipt", responses=answers("acceptance"))
    def acceptance(submission: str, request: Request) -> Response:
        """Return the signed receipt of acceptance: the audit event with file, account and time, and its link."""
        result = receipts.of_acceptance(submission, identity_of(request))
        if result is None:
            return problem(404, "unknown-submission", detail=_("There is no receipt of this submission here."))
        return Response(result, headers=_PRIVATE, media_type="application/jose")

    @router.get("/api/v1/entries/{entry}/receipts", responses=answers("scores"))
    def scores(entry: str, request: Request) -> Response:
        """Return the signed receipts of every score of an entry, under all label revisions, the oldest first."""
        score_receipts = receipts.of_scores(entry, identity_of(request))
        if score_receipts is None:
            return problem(404, "unknown-entry", detail=_("There is no entry with this id."))
        return JSONResponse({"entry": entry, "receipts": score_receipts}, headers=_PRIVATE)

    @router.get("/api/v1/keys", responses=answers("keys"))
    def keys() -> Response:
        """Return the public keys of receipts as JWKS. With a copy, receipts are verified offline."""
        return JSONResponse({"keys": [receipts.signer.public_key]}, headers={"Cache-Control": "no-cache"})

    return router
