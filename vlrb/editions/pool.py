"""A pool: a directory with pairs, and their images under their digests."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field

from vlrb.benchmarks.items import fingerprint
from vlrb.common import atomic_files
from vlrb.common.command_line import CommandError
from vlrb.editions.sources import read_lines

PAIRS, DUPLICATES = "pairs.jsonl", "duplicates.json"
DROPPED = ("<image>",)
"""Literals that data sets write into questions for the image; they are no part of a question's text."""
PoolPair = Mapping[str, Any]
"""A line of `pairs.jsonl`, which `judge run --items` reads, too. Responses stand in the order of their fingerprints,
which tells nothing about the preference; ``preferred`` is 0 or 1, or missing where nobody has said yet."""


class FilterVotes(BaseModel, strict=True, extra="allow"):
    """Runs of a filter about a pair."""

    wrong: int
    runs: int


class PoolLine(BaseModel, strict=True, extra="allow"):
    """What a line of a pool must have."""

    id: str
    source: str
    licence: str
    query: str
    response: Annotated[list[str], Field(min_length=2, max_length=2)]
    preferred: Annotated[int, Field(ge=0, le=1)] | None = None
    image: str
    image_sha256: str
    image_hash: Annotated[str, Field(pattern=r"^([0-9a-f]{16})?$")]
    category: str
    tags: list[str] = []
    votes: FilterVotes | None = None


def fingerprint_of(pair: PoolPair) -> str:
    """Return the fingerprint of the texts, as in the manifests of editions."""
    return fingerprint(pair["query"], pair["response"], dropped=DROPPED)


def read_pool(pool: Path) -> list[dict[str, Any]]:
    """Return the pairs of a pool.

    Raises:
        CommandError: it holds none, or a line is damaged.
    """
    if not (pool / PAIRS).is_file():
        raise CommandError(f"{pool} holds no pairs. `vlrb edition pool import FILE --into {pool}` adds some.")
    return read_pair_file(pool / PAIRS)


def read_pair_file(path: Path) -> list[dict[str, Any]]:
    """Return the pairs of a file that has the lines of a pool. Raises CommandError."""
    return [line.model_dump(exclude_unset=True) for _place, line in read_lines(path, PoolLine)]


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_text(path: Path, text: str) -> None:
    """Replace a file in one step."""
    atomic_files.write(path, text.encode(), mode=atomic_files.PUBLIC)


def write_lines(path: Path, lines: Iterable[Any]) -> None:
    """Replace a JSON lines file in one step."""
    write_text(path, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
