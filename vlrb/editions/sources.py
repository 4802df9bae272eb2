"""Rows of JSON lines, JSON lists, parquet files and Hub datasets at a commit, and JSON lines that a command wrote."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from vlrb.benchmarks.label_files import LabelsError, read_rows
from vlrb.editions.errors import CurateError
from vlrb.readers.strict_json import JsonFault, loads


def read_source(name: str, columns: Sequence[str]) -> Sequence[Mapping[str, Any]]:
    """Return the rows of a file, or of a Hub dataset as ``owner/name@commit``, perhaps with a path behind it.

    Of parquet these columns alone are read.

    Raises:
        CurateError: there is no such source, it is damaged, or the Hub does not answer.
    """
    try:
        return read_rows(name, columns)
    except LabelsError as error:
        raise CurateError(f"{name}: {str(error).removesuffix('.')}.") from None


def folder_of(name: str) -> Path | None:
    """Return where the paths of images in a source begin; None for Hub datasets."""
    return Path(name).parent if Path(name).is_file() else None


def read_objects(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line, object) of a JSON lines file.

    Raises:
        CurateError: there is no such file, or a line is no JSON object.
    """
    if not path.is_file():
        raise CurateError(f"There is no file {path}.")
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                value = loads(line)
            except JsonFault as fault:
                raise CurateError(f"{path}, line {number}: this is not JSON ({fault.message}).") from None
            if not isinstance(value, dict):
                raise CurateError(f"{path}, line {number}: this must be a JSON object {{...}}.")
            yield number, value
