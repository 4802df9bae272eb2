"""Pairs to judge, from JSON lines, parquet or a Hub dataset. Labels and all other fields are dropped while reading."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmark.items import fingerprint
from benchmark.spec import DEFAULT_BENCHMARK, load_spec
from common.messages import _
from common.parquet_files import is_parquet
from judge.errors import JudgeError
from judge.images import ImageSource, find_image

FIELDS = ("id", "query", "response", "image", "image_path")


@dataclass(frozen=True, slots=True)
class PairToJudge:
    """A question with two responses about an image, and its row number in the file, from 0."""

    row: int
    id: str
    query: str
    responses: tuple[str, str]
    image: ImageSource
    fingerprint: str

    @property
    def swapped_by_parity(self) -> bool:
        """Whether lmms-eval and VLMEvalKit show the second response first."""
        return sum(map(len, self.responses)) % 2 == 1


@dataclass(frozen=True, slots=True)
class PairFile:
    """All pairs of a source."""

    pairs: tuple[PairToJudge, ...]
    repeated: frozenset[str]  # ids that more than one pair has

    @property
    def sha256(self) -> str:
        """Digest of the texts in their order; it says whether a run goes on with the same pairs."""
        lines = "\n".join(f"{pair.id}\t{pair.fingerprint}" for pair in self.pairs)
        return hashlib.sha256(lines.encode()).hexdigest()


def read_pairs(source: str, *, revision: str | None = None, split: str = "test") -> PairFile:
    """Read the pairs of a file, or of a Hub dataset at a commit.

    Raises:
        JudgeError: there is no such source, or a row cannot be used.
    """
    path = Path(source)
    if path.is_file():
        rows = _parquet_rows(path) if is_parquet(path) else _json_rows(path)
        return _collect(rows, path.parent, "line" if not is_parquet(path) else "row")
    if source.count("/") == 1 and not path.suffix and not path.exists():
        if not revision:
            raise JudgeError(
                _("Name the commit of the dataset {source} with --items-revision: branches move.", source=source)
            )
        return _collect(_hub_rows(source, revision, split), None, "row")
    raise JudgeError(
        _("There is no file {source}. --items takes JSON lines, parquet or a Hub dataset (owner/name).", source=source)
    )


def _keep_known(fields: list[tuple[str, Any]]) -> dict[str, Any]:
    return {name: value for name, value in fields if name in FIELDS or name in ("bytes", "path")}


def _json_rows(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line.removeprefix(b"\xef\xbb\xbf"), object_pairs_hook=_keep_known)
            except (ValueError, RecursionError):
                raise JudgeError(
                    _("{path}, line {number}: this is not JSON. Write one object a line.", path=path, number=number)
                ) from None
            if not isinstance(row, dict):
                raise JudgeError(
                    _(
                        "{path}, line {number}: a line is an object with id, query, response and image.",
                        path=path,
                        number=number,
                    )
                )
            yield number, row


def _parquet_rows(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    from pyarrow import parquet

    file = parquet.ParquetFile(path)
    columns = [name for name in FIELDS if name in file.schema_arrow.names]
    number = 0
    for batch in file.iter_batches(batch_size=64, columns=columns):
        for row in batch.to_pylist():
            yield number, row
            number += 1


def _hub_rows(name: str, revision: str, split: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    import datasets

    try:
        loaded = datasets.load_dataset(name, revision=revision, split=split)
    except (OSError, ValueError) as error:  # the library's own errors are of these kinds
        raise JudgeError(
            _(
                "The dataset {name} at {revision} cannot be loaded: {error}",
                name=name,
                revision=revision,
                error=str(error),
            )
        ) from None
    loaded = loaded.select_columns([column for column in FIELDS if column in loaded.column_names])
    for column, feature in loaded.features.items():
        if isinstance(feature, datasets.Image):
            loaded = loaded.cast_column(column, datasets.Image(decode=False))
    yield from enumerate(loaded)


def _collect(rows: Iterable[tuple[int, Mapping[str, Any]]], folder: Path | None, unit: str) -> PairFile:
    pairs: list[PairToJudge] = []
    for number, row in rows:
        try:
            pairs.append(_pair(len(pairs), row, folder))
        except JudgeError as error:
            raise JudgeError(_("Items, {unit} {number}: {error}", unit=unit, number=number, error=str(error))) from None
    if not pairs:
        raise JudgeError(_("The items file holds no pairs."))
    counts = Counter(pair.id for pair in pairs)
    return PairFile(tuple(pairs), frozenset(name for name, count in counts.items() if count > 1))


def _pair(row: int, fields: Mapping[str, Any], folder: Path | None) -> PairToJudge:
    query, responses, name = fields.get("query"), fields.get("response"), fields.get("id")
    if not isinstance(name, str) or not name:
        raise JudgeError(_("`id` must be a text, not {name!r}", name=name))
    if not isinstance(query, str):
        raise JudgeError(_("`query` must be a text"))
    if not isinstance(responses, Sequence) or isinstance(responses, str) or len(responses) != 2:
        raise JudgeError(_("`response` must be a list of two texts"))
    if not all(isinstance(text, str) for text in responses):
        raise JudgeError(_("`response` must be a list of two texts"))
    try:
        name.encode()
        pair_fingerprint = fingerprint(query, responses, load_spec(DEFAULT_BENCHMARK).drop_from_questions)
    except UnicodeEncodeError:
        raise JudgeError(_("id or texts hold half a character (a lone surrogate); write them anew as UTF-8")) from None
    image = find_image(fields.get("image"), folder) or find_image(fields.get("image_path"), folder)
    if image is None:
        raise JudgeError(_("`image` is missing: a path, an address or a data URI"))
    return PairToJudge(row, name, query, (responses[0], responses[1]), image, pair_fingerprint)
