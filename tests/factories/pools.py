"""Pools as `vlrb.editions` leaves them: a folder with candidates, images, draft labels, gold and a filter report."""

from __future__ import annotations

import hashlib
import json
import struct
import zlib
from pathlib import Path
from typing import Any

from auth import Identity
from maintenance.actions import pools
from tests.factories.accounts import MAINTAINER
from tests.factories.actions import by
from tests.factories.review_setup import ReviewSetup

DRAFTED = (0, 1, 2)
GOLD = (3, 4, 5)
"""Numbers of the pairs that have draft labels for B, and that are gold with the answer A."""


def png(number: int, side: int = 64) -> bytes:
    """Return a picture whose grey tells its number."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + bytes([60 + 20 * (number % 9)]) * side for _ in range(side))
    head = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def pair_line(number: int) -> dict[str, Any]:
    """Return a line of candidates, its image below `images/`."""
    line: dict[str, Any] = {
        "id": f"S-{number}", "source": "S" if number % 2 else "T", "licence": "CC0-1.0",
        "query": f"What is in picture {number}?", "preferred": 0,
        "response": [f"A cat {number}.", f"Two dogs {number}."],
        "image": f"images/{number}.png", "image_sha256": hashlib.sha256(png(number)).hexdigest(),
        "image_hash": "", "category": "general", "votes": {"wrong": 6, "runs": 6},
    }  # fmt: skip
    if number in DRAFTED:
        line["draft"] = {"preferred": 1, "rationale": f"There are two dogs in {number}.", "judge": "Strong-1"}
        if number == 0:  # the others are of a time when the order was not kept
            line["draft"]["shown_first"] = 1
    return line


REPORT = {
    "rule_in_words": "wrong in every run", "pairs": {"kept": 8, "considered": 40},
    "judges": [
        {"judge": name, "runs": 3, "accuracy": 0.6, "removes_alone": 20, "stay_without_it": 14}
        for name in ("small-1", "small-2")
    ],
    "combinations": [{"judges": ["small-1"], "kept": 16, "removed": 24}],
    "by_source": [{"source": "S", "considered": 20, "kept": 4}],
    "wrong_labels": {"rows": [{"in_pool": 0.05, "runs_agree": 0.07, "runs_independent": 0.4}]},
}  # fmt: skip


def write_pool(directory: Path, count: int = 8) -> Path:
    """Return the folder of a pool with a filtered folder in it."""
    (directory / "images").mkdir(parents=True)
    (directory / "filtered").mkdir()
    lines = [pair_line(number) for number in range(count)]
    for number in range(count):
        (directory / "images" / f"{number}.png").write_bytes(png(number))
    text = "".join(json.dumps(line) + "\n" for line in lines)
    for path in (directory / "pairs.jsonl", directory / "filtered" / "candidates.jsonl"):
        path.write_text(text)
    gold = "".join(json.dumps({"id": f"S-{number}", "verdict": "a"}) + "\n" for number in GOLD if number < count)
    (directory / "filtered" / "gold.jsonl").write_text(gold)
    (directory / "filtered" / "filter.json").write_text(json.dumps(REPORT))
    return directory


def imported_pool(bench: ReviewSetup, folder: Path, *, name: str = "next", user: Identity = MAINTAINER) -> int:
    """Have the worker import the pool; return its number."""
    pools.request_import(by(bench.database, user), name, folder=str(folder), reason="for the next edition")
    assert bench.runner.run_all() == 1
    return next(one.id for one in pools.imported_pools(by(bench.database, user)) if one.name == name)
