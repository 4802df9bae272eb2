"""Rows of JSON lines, parquet files and Hub datasets at a commit, each with the place where it was read."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vlrb.common.hub_datasets import HubDatasetFault, find_split, load_split
from vlrb.common.messages import _
from vlrb.common.parquet_files import is_parquet
from vlrb.editions.errors import CurateError
from vlrb.predictions.strict_json import JsonFault, loads

LINE_LIMIT = 96 * 2**20  # bytes; a line may hold an image as a data URI
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class SourceRow:
    """One row. ``place``: "line 7" or "row 6". ``problem``: why it cannot be read; then there are no fields."""

    place: str
    fields: Mapping[str, Any]
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class PairSource:
    """A file, or a Hub dataset at a commit. ``folder``: images are looked for in it; None for Hub datasets."""

    name: str
    digest: str
    folder: Path | None
    revision: str | None = None
    split: str = "train"

    def rows(self) -> Iterator[SourceRow]:
        """Yield the rows in order."""
        if self.folder is None:
            return _hub_rows(self.name, str(self.revision), split=self.split)
        path = Path(self.name)
        if is_parquet(path):
            return _parquet_rows(path)
        return _list_rows(path) if _is_list(path) else _json_rows(path)


def open_source(
    name: str, *, revision: str | None = None, split: str | None = None, usual: str = "train"
) -> PairSource:
    """Return the source of a name. ``usual``: the split of a Hub dataset if ``split`` is None and it has that one.

    Raises:
        CurateError: there is none, or a Hub dataset has no commit.
    """
    path = Path(name)
    if path.is_file():
        return PairSource(name, _digest(path), folder=path.parent)
    if name.count("/") == 1 and not path.suffix and not path.exists():
        if not revision:
            raise CurateError(_("Name the commit of the dataset {name} with --revision: branches move.", name=name))
        chosen = split or _usual_split(name, revision, usual=usual)
        digest = hashlib.sha256(f"{name}@{revision}/{chosen}".encode()).hexdigest()
        return PairSource(name, digest, folder=None, revision=revision, split=chosen)
    raise CurateError(_("There is no file {name}. Give JSON lines, parquet or a Hub dataset (owner/name).", name=name))


def read_objects(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line, object) of a JSON lines file.

    Raises:
        CurateError: there is no such file, or a line is no JSON object.
    """
    if not path.is_file():
        raise CurateError(_("There is no file {path}.", path=path))
    for row in _json_rows(path):
        if row.problem:
            raise CurateError(_("{path}, {place}: {problem}.", path=path, place=row.place, problem=row.problem))
        yield int(row.place.removeprefix("line ")), dict(row.fields)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _is_list(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4096).removeprefix(_BOM).lstrip()[:1] == b"["


def _list_rows(path: Path) -> Iterator[SourceRow]:
    """Yield the objects of a file that is one list. Raises CurateError where it is damaged."""
    try:
        rows = loads(path.read_bytes().removeprefix(_BOM))
    except JsonFault as fault:
        raise CurateError(_("{path} is not a list of objects ({problem}).", path=path, problem=fault.message)) from None
    for number, row in enumerate(rows):
        problem = None if isinstance(row, dict) else "this must be a JSON object {...}"
        yield SourceRow(f"row {number}", {} if problem else row, problem=problem)


def _json_rows(path: Path) -> Iterator[SourceRow]:
    with path.open("rb") as file:
        number = 0
        while line := file.readline(LINE_LIMIT + 1):
            number += 1
            if len(line) > LINE_LIMIT:
                raise CurateError(
                    _(
                        "{path}, line {number} is longer than {line_limit:,} bytes. Store images as files.",
                        path=path,
                        number=number,
                        line_limit=LINE_LIMIT,
                    )
                )
            if line.strip():
                yield _json_row(f"line {number}", line.removeprefix(_BOM))


def _json_row(place: str, line: bytes) -> SourceRow:
    try:
        value = loads(line)
    except JsonFault as fault:
        return SourceRow(place, {}, problem=f"this is not JSON ({fault.message}); write one object a line")
    if not isinstance(value, dict):
        return SourceRow(place, {}, problem="a line must be a JSON object {...}")
    return SourceRow(place, value)


def _parquet_rows(path: Path) -> Iterator[SourceRow]:
    import pyarrow
    from pyarrow import parquet

    number = 0
    try:
        for batch in parquet.ParquetFile(path).iter_batches(batch_size=64):
            for row in batch.to_pylist():
                yield SourceRow(f"row {number}", row)
                number += 1
    except (pyarrow.ArrowException, OSError, ValueError) as error:  # what damaged pages raise
        raise CurateError(
            _(
                "{path}, after row {number}: the parquet file is damaged ({error}).",
                path=path,
                number=number,
                error=str(error),
            )
        ) from None


def _hub_rows(name: str, revision: str, *, split: str) -> Iterator[SourceRow]:
    try:
        loaded = load_split(name, revision=revision, split=split)
    except HubDatasetFault as fault:
        raise CurateError(str(fault)) from None
    for number, row in enumerate(loaded):
        yield SourceRow(f"row {number}", row)


def _usual_split(name: str, revision: str, *, usual: str) -> str:
    try:
        return find_split(name, revision=revision, usual=usual, option="--split")
    except HubDatasetFault as fault:
        raise CurateError(str(fault)) from None
