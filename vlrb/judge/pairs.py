"""Pairs to judge, from JSON lines, parquet or a Hub dataset. Labels and all other fields are dropped while reading."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from vlrb.benchmarks.items import fingerprint
from vlrb.benchmarks.spec import DEFAULT_BENCHMARK
from vlrb.benchmarks.spec_file import load_spec
from vlrb.common.hub_datasets import HubDatasetFault, find_split, load_split
from vlrb.common.messages import _
from vlrb.common.parquet_files import is_parquet
from vlrb.judge.errors import JudgeError
from vlrb.judge.images import ImageSource, find_image

USUAL_SPLIT = "test"
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
    """All pairs of a source. ``split``: of the Hub dataset that they are of."""

    pairs: tuple[PairToJudge, ...]
    repeated: frozenset[str]  # ids that more than one pair has
    split: str | None = None

    @property
    def sha256(self) -> str:
        """Digest of the texts in their order; it says whether a run goes on with the same pairs."""
        lines = "\n".join(f"{pair.id}\t{pair.fingerprint}" for pair in self.pairs)
        return hashlib.sha256(lines.encode()).hexdigest()


def read_pairs(source: str, *, revision: str | None = None, split: str | None = None) -> PairFile:
    """Read the pairs of a file, or of a Hub dataset at a commit; of its usual or only split if none is named.

    Raises:
        JudgeError: there is no such source, or a row cannot be used.
    """
    path = Path(source)
    if path.is_file():
        rows = _parquet_rows(path) if is_parquet(path) else _json_rows(path)
        return _collect(rows, path.parent, unit="line" if not is_parquet(path) else "row")
    if source.count("/") == 1 and not path.suffix and not path.exists():
        if not revision:
            raise JudgeError(
                _("Name the commit of the dataset {source} with --items-revision: branches move.", source=source)
            )
        return _hub_pairs(source, revision, split=split)
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
    import pyarrow
    from pyarrow import parquet

    number = 0
    try:
        file = parquet.ParquetFile(path)
        columns = [name for name in FIELDS if name in file.schema_arrow.names]
        for batch in file.iter_batches(batch_size=64, columns=columns):
            for row in batch.to_pylist():
                yield number, row
                number += 1
    except (pyarrow.ArrowException, OSError, ValueError) as error:  # what damaged pages raise
        raise JudgeError(
            _(
                "{path}, after row {number}: the parquet file is damaged ({error}).",
                path=path,
                number=number,
                error=str(error),
            )
        ) from None


def _hub_pairs(name: str, revision: str, *, split: str | None) -> PairFile:
    try:
        chosen = split or find_split(name, revision=revision, usual=USUAL_SPLIT, option="--items-split")
        loaded = load_split(name, revision=revision, split=chosen)
    except HubDatasetFault as fault:
        raise JudgeError(str(fault)) from None
    loaded = loaded.select_columns([column for column in FIELDS if column in loaded.column_names])
    return replace(_collect(enumerate(loaded), None, unit="row"), split=chosen)


def _collect(rows: Iterable[tuple[int, Mapping[str, Any]]], folder: Path | None, *, unit: str) -> PairFile:
    pairs: list[PairToJudge] = []
    for number, row in rows:
        try:
            pairs.append(_pair(len(pairs), row, folder=folder))
        except JudgeError as error:
            message = _("Items file, {unit} {number}: {error}", unit=unit, number=number, error=str(error))
            raise JudgeError(message) from None
    if not pairs:
        raise JudgeError(_("The items file holds no pairs."))
    counts = Counter(pair.id for pair in pairs)
    return PairFile(tuple(pairs), frozenset(name for name, count in counts.items() if count > 1))


def _pair(row: int, fields: Mapping[str, Any], *, folder: Path | None) -> PairToJudge:
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
        pair_fingerprint = fingerprint(query, responses, dropped=load_spec(DEFAULT_BENCHMARK).drop_from_questions)
    except UnicodeEncodeError:
        raise JudgeError(_("id or texts hold half a character (a lone surrogate); write them anew as UTF-8")) from None
    image = find_image(fields.get("image"), folder) or find_image(fields.get("image_path"), folder)
    if image is None:
        raise JudgeError(_("`image` is missing: a path, an address or a data URI"))
    return PairToJudge(
        row, name, query=query, responses=(responses[0], responses[1]), image=image, fingerprint=pair_fingerprint
    )


def pairs_of_run(
    folder: Path, recorded: Mapping[str, Any], *, source: str | None, revision: str | None, split: str | None
) -> PairFile:
    """Read the pairs of a run where it found them, or where they are now.

    Raises:
        JudgeError: they cannot be read, or are others.
    """
    place = source or recorded.get("items_path")
    if place is None:
        raise JudgeError(_("{directory} does not say where its pairs are. Name them with --items.", directory=folder))
    known = recorded if source is None else {}
    file = read_pairs(place, revision=revision or known.get("items_revision"), split=split or known.get("items_split"))
    if file.sha256 != recorded["items_sha256"]:
        raise JudgeError(
            _(
                "{source} holds other pairs than the run in {directory}. Name them with --items.",
                source=place,
                directory=folder,
            )
        )
    return file
