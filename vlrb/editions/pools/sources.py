"""Rows of JSON lines, JSON lists, parquet files and Hub datasets at a commit, each with the place where it was read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vlrb.common.hub_datasets import HubDatasetFault, find_split, load_split
from vlrb.common.parquet_files import is_parquet
from vlrb.editions.errors import CurateError
from vlrb.predictions.strict_json import JsonFault, loads

_BOM = b"\xef\xbb\xbf"
_DATASET = re.compile(r"([\w.-]+/[\w.-]+)(?:@([\w.-]+)(?::([\w.+-]+))?)?")


@dataclass(frozen=True, slots=True)
class SourceRow:
    """``place``: "line 7" or "row 6". ``value``: what stands there, or the fault for which it cannot be read."""

    place: str
    value: Any

    @property
    def fields(self) -> Mapping[str, Any]:
        """Return the columns. Raises CurateError where the row is no object."""
        if isinstance(self.value, JsonFault):
            raise CurateError(f"this is not JSON ({self.value.message}); write one object a line")
        if not isinstance(self.value, dict):
            raise CurateError("this must be a JSON object {...}")
        return self.value


@dataclass(frozen=True, slots=True)
class PairSource:
    """A file, or a Hub dataset at a commit. ``folder``: images are looked for in it; None for Hub datasets."""

    name: str
    folder: Path | None
    revision: str = ""
    split: str = ""

    def rows(self) -> Iterator[SourceRow]:
        """Yield the rows in order. Raises CurateError where the source is damaged."""
        if self.folder is None:
            return _numbered(load_split(self.name, revision=self.revision, split=self.split))
        path = Path(self.name)
        if is_parquet(path):
            return _numbered(_parquet_rows(path))
        with path.open("rb") as file:
            is_list = file.read(4096).removeprefix(_BOM).lstrip()[:1] == b"["
        return _numbered(_listed_rows(path)) if is_list else _json_rows(path)


def open_source(name: str, *, usual: str = "train") -> PairSource:
    """Return the source of a file, or of ``owner/name@COMMIT`` with ``:SPLIT`` or without.

    ``usual``: the split of a Hub dataset that names none, if it has that one.

    Raises:
        CurateError: there is none, or a Hub dataset has no commit.
    """
    path = Path(name)
    if path.is_file():
        return PairSource(name, path.parent)
    dataset = _DATASET.fullmatch(name)
    if dataset is None or path.exists():
        raise CurateError(f"There is no file {name}. Give JSON lines, parquet or a Hub dataset (owner/name@COMMIT).")
    owner, revision, split = dataset.groups()
    if not revision:
        raise CurateError(f"Name the commit of the dataset as {name}@COMMIT: branches move.")
    try:
        split = split or find_split(owner, revision=revision, usual=usual, option=f"{name}:SPLIT, such as")
    except HubDatasetFault as fault:
        raise CurateError(str(fault)) from None
    return PairSource(owner, None, revision=revision, split=split)


def read_objects(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line, object) of a JSON lines file.

    Raises:
        CurateError: there is no such file, or a line is no JSON object.
    """
    if not path.is_file():
        raise CurateError(f"There is no file {path}.")
    for row in _json_rows(path):
        try:
            yield int(row.place.removeprefix("line ")), dict(row.fields)
        except CurateError as error:
            raise CurateError(f"{path}, {row.place}: {error}.") from None


def _json_rows(path: Path) -> Iterator[SourceRow]:
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield SourceRow(f"line {number}", _parsed(line))


def _parsed(text: bytes) -> Any:
    try:
        return loads(text.removeprefix(_BOM))
    except JsonFault as fault:
        return fault


def _listed_rows(path: Path) -> list[Any]:
    rows = _parsed(path.read_bytes())
    if isinstance(rows, JsonFault):
        raise CurateError(f"{path} is not a list of objects ({rows.message}).")
    return list(rows)


def _parquet_rows(path: Path) -> Iterator[Any]:
    import pyarrow
    from pyarrow import parquet

    try:
        for batch in parquet.ParquetFile(path).iter_batches(batch_size=64):
            yield from batch.to_pylist()
    except (pyarrow.ArrowException, OSError, ValueError) as error:  # what damaged pages raise
        raise CurateError(f"{path}: the parquet file is damaged ({error}).") from None


def _numbered(rows: Any) -> Iterator[SourceRow]:
    try:
        for number, row in enumerate(rows):
            yield SourceRow(f"row {number}", row)
    except HubDatasetFault as fault:
        raise CurateError(str(fault)) from None
