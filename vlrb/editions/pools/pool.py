"""A pool: a directory with pairs, their images under their digests, and a record of every import."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vlrb.common import atomic_files
from vlrb.common.json_files import JsonFileFault, Shape, read_shaped
from vlrb.common.messages import _
from vlrb.editions.errors import CurateError
from vlrb.editions.pools.pairs import PoolPair
from vlrb.editions.pools.sources import read_objects

PAIRS, RECORD, DUPLICATES = "pairs.jsonl", "pool.json", "duplicates.jsonl"
_RECORD: Shape = {"imports": [{"sha256": str, "source": str, "licence": str, "file": str, "pairs": int}]}


def read_pool(pool: Path) -> tuple[PoolPair, ...]:
    """Return the pairs of a pool.

    Raises:
        CurateError: it holds none, or a line is damaged.
    """
    if not (pool / PAIRS).is_file():
        raise CurateError(
            _("{pool} holds no pairs. `vlrb edition pool import FILE --into {pool}` adds some.", pool=pool)
        )
    return read_pair_file(pool / PAIRS)


def read_pair_file(path: Path) -> tuple[PoolPair, ...]:
    """Return the pairs of a file that has the lines of a pool. Raises CurateError."""
    pairs = []
    for line, value in read_objects(path):
        try:
            pairs.append(PoolPair.from_json(value))
        except (JsonFileFault, ValueError) as error:
            raise CurateError(
                _(
                    "{path}, line {line} is not a pair of a pool ({error}). Import its file again.",
                    path=path,
                    line=line,
                    error=str(error),
                )
            ) from None
    return tuple(pairs)


def read_record(pool: Path) -> dict[str, Any]:
    """Return what a pool records about itself."""
    path = pool / RECORD
    return read_json(path, _RECORD) if path.is_file() else {"imports": []}


def read_json(path: Path, shape: Shape = dict) -> dict[str, Any]:
    """Return the object of a file. Raises CurateError where there is none, or one of another shape."""
    try:
        value: dict[str, Any] = read_shaped(path, shape)
    except JsonFileFault as fault:
        raise CurateError(_("{path} cannot be used: {problem}.", path=path, problem=str(fault))) from None
    return value


def write_pool(pool: Path, pairs: Sequence[PoolPair], *, record: dict[str, Any]) -> None:
    """Write the pairs, then the record; a kill between the two leaves an import that can be repeated."""
    write_lines(pool / PAIRS, (pair.to_json() for pair in pairs))
    write_json(pool / RECORD, record)


def write_lines(path: Path, lines: Iterable[Any]) -> None:
    """Replace a JSON lines file in one step."""
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    atomic_files.write(path, text.encode(), mode=atomic_files.PUBLIC)


def write_json(path: Path, value: Any) -> None:
    """Replace a JSON file in one step."""
    text = json.dumps(value, indent=1, ensure_ascii=False) + "\n"
    atomic_files.write(path, text.encode(), mode=atomic_files.PUBLIC)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other processes from changing a directory meanwhile.

    Raises:
        CurateError: another one is at work.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CurateError(_("Another process works on {folder}. Wait until it ends.", folder=folder)) from None
        yield
