"""OpenAPI descriptions and examples of the routes of receipts. Values only."""

from __future__ import annotations

from typing import Any

from common.openapi import answers
from vlrb.benchmarks.spec import DEFAULT_BENCHMARK
from vlrb.benchmarks.spec_file import load_spec

_SHA256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
_SIGNED: dict[str, Any] = {"chain_seq": 17, "chain_hash": _SHA256, "key_id": "9d2f1c0b5a6e7384", "signature": "q83v..."}
_ACCEPTANCE = {
    "kind": "acceptance",
    "benchmark": "vl-rewardbench",
    "submission": "e4kq2m7xwzta",
    "content_sha256": _SHA256,
    "votes_sha256": _SHA256,
    "bytes": 48211,
    "owner": "a3k7v2m5q4xa",
    "format": "native",
    "revision": "v2",
    "items": 1247,
    "votes_per_item": 5,
    "votes": 6235,
    "accepted_at": "2026-11-21T22:00:00Z",
    "attempt": 1,
    "durability": "local",
    **_SIGNED,
}
_SCORE = {
    "kind": "score",
    "benchmark": "vl-rewardbench",
    "submission": "e4kq2m7xwzta",
    "content_sha256": _SHA256,
    "label_revision": "v2",
    "label_commitment": _SHA256,
    "label_digest": None,
    "disclosure": "categories",
    "scorer_version": "2",
    "scores": dict(zip(load_spec(DEFAULT_BENCHMARK).overall_first, (0.586, 0.582, 0.585, 0.595, 0.566), strict=True)),
    "scored_at": "2026-11-21T22:00:03Z",
    **_SIGNED,
}
ACCEPTANCE = answers(
    "`signature` is Ed25519, in base64, over the canonical JSON of all the rest. Abridged here.",
    _ACCEPTANCE,
    problems={(404, "unknown-submission"): "There is none, or it is not for you."},
)
SCORES = answers(
    "One for each score. For labels that are not public, the commitment replaces the digest. Abridged here.",
    {"entry": "e4kq2m7xwzta", "receipts": [_SCORE]},
    problems={(404, "unknown-entry"): "There is none, or it is not for you."},
)
KEYS = answers(
    "Ed25519, as 32 bytes in base64 and as PEM. `id` is what receipts say as `key_id`.",
    {
        "keys": [
            {
                "id": "9d2f1c0b5a6e7384",
                "algorithm": "Ed25519",
                "public_key": "A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=",
                "pem": "-----BEGIN PUBLIC KEY-----\n...",
                "since": "2026-11-21T22:00:00Z",
                "in_use": True,
            }
        ]
    },
)
