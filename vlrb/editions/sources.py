"""Rows of files and Hub datasets, lines that an earlier command wrote, and what is said while they are read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from tqdm import tqdm

from vlrb.benchmarks.label_files import LabelsError, read_rows
from vlrb.common.command_line import CommandError
from vlrb.common.json_files import first_problem

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)
_LISTED = 20


def read_source(name: str, columns: Sequence[str]) -> Sequence[Mapping[str, Any]]:
    """Return the rows of a file, or of a Hub dataset as ``owner/name@commit``, perhaps with a path behind it.

    Of parquet these columns alone are read.

    Raises:
        CommandError: there is no such source, it is damaged, or the Hub does not answer.
    """
    try:
        return read_rows(name, columns)
    except LabelsError as error:
        raise CommandError(f"{name}: {str(error).removesuffix('.')}.") from None


def folder_of(name: str) -> Path | None:
    """Return where the paths of images in a source begin; None for Hub datasets."""
    return Path(name).parent if Path(name).is_file() else None


def read_lines(path: Path, kind: type[M]) -> Iterator[tuple[str, M]]:
    """Yield the lines of a JSON lines file, each after where it is: the file and the number of the line.

    Raises:
        CommandError: there is no such file, or a line is not of this kind.
    """
    if not path.is_file():
        raise CommandError(f"There is no file {path}.")
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                yield f"{path}, line {number}", kind.model_validate_json(line)
            except ValidationError as error:
                raise CommandError(f"{path}, line {number} cannot be used ({first_problem(error)}).") from None


def listed(problems: Sequence[str]) -> str:
    """Return the first problems, one a line, and the number of the others."""
    more = len(problems) - _LISTED
    return "\n".join([*problems[:_LISTED], *([f"... and {more:,} more"] if more > 0 else [])])


def follow(steps: Iterable[T], what: str) -> Iterable[T]:
    """Yield the steps, and show in a terminal how many are done once they take longer than a second."""
    shown: Iterable[T] = tqdm(steps, what, delay=1, disable=None)
    return shown
