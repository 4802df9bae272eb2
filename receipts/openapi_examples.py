"""OpenAPI descriptions and examples of the routes of receipts. Values only."""

from __future__ import annotations

from common.openapi import answers

RECEIPT = "eyJhbGciOiJFZDI1NTE5Iiwia2lkIjoi...In0.eyJldmVudCI6IntcImF0XCI6...In0.q83vEjRWeJCrze8..."
ACCEPTANCE = answers(
    "A JWS (RFC 7515, Ed25519) in compact form, media type application/jose. Its payload has `event`, the body of the "
    "audit event as it was hashed, with `prev` and `hash`, its link in the chain. Abridged here.",
    RECEIPT,
    problems={(404, "unknown-submission"): "There is none, or it is not for you."},
)
SCORES = answers(
    "One JWS for each score, whose payload has `score` too: what was scored, and what opens the event's commitment to "
    "it. Under labels that are not public the tally stays closed. Abridged here.",
    {"entry": "e4kq2m7xwzta", "receipts": [RECEIPT]},
    problems={(404, "unknown-entry"): "There is none, or it is not for you."},
)
KEYS = answers(
    "JWKS (RFC 7517). `kid` is the thumbprint that receipts name in their header.",
    {
        "keys": [
            {
                "kty": "OKP",
                "crv": "Ed25519",
                "x": "A6EHv_POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg",
                "kid": "q8oE1DJkDYX9X0c0r9Y8mTb1zP3o2nF4k5m6s7t8u9A",
                "alg": "Ed25519",
            }
        ]
    },
)
