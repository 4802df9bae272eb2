"""Loader of label sets from a file or a Hub dataset. The only code that reads a hidden label; of the
service the worker alone runs it.

Rows have the dataset's columns: `id`, `human_ranking`, and optionally `human_error_analysis` and the texts `query` and
`response`. With texts an item is found by its fingerprint; without, by its id in the revision, the k-th occurrence of a
repeated id being the k-th item of that id.

Problems of a file name row and column, never the content: the messages leave the worker.
"""

from __future__ import annotations

import ast
import gzip
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson

from vlrb.benchmarks.hub_labels import HubFiles, HubRefusal
from vlrb.benchmarks.items import ItemTable, response_fingerprint
from vlrb.benchmarks.items import load_table as read_table
from vlrb.benchmarks.labels import LabelsError as LabelsError
from vlrb.benchmarks.labels import (
    LabelSet,
    coverage_problems,
    error_tags,
    make_label_set,
    preferred_index,
    refuse_labels,
)
from vlrb.benchmarks.pairs import PairSet, holds_pairs_of, labels_of_pairs, read_pairs
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.benchmarks.spec_file import others_beside
from vlrb.common.hub_sources import FORM, HubSource, parse_hub_source
from vlrb.common.messages import _

COLUMNS = ("id", "query", "response", "human_ranking", "human_error_analysis")
_HALF = re.compile("[\ud800-\udfff]")

LabelRow = Mapping[str, Any]


class LabelsUnreachable(LabelsError):
    """The Hub does not answer now; it may later."""


def load_labels(spec: str | Path, revision: str | None, *, table: ItemTable, token: str = "") -> LabelSet:
    """Return the label set in a file (JSONL, JSON list, parquet) or a Hub dataset `owner/name@commit`.

    `revision` None: the revision of the table whose ids the rows have. `token`: who may read a private dataset.

    Raises:
        LabelsError: it cannot be read, or does not label the items of that revision once each.
    """
    with _naming(spec):
        if table.spec.fields is not None:
            pairs = pairs_of(read_rows(spec, None, token=token), table.spec)
            return labels_of_pairs(pairs, revision or pairs.edition, table=table)
        rows = read_rows(spec, token=token)
        return label_set(rows, revision or recognise(rows, table), table=table)


@contextmanager
def _naming(spec: str | Path) -> Iterator[None]:
    """Say in which labels something is wrong."""
    try:
        yield
    except LabelsError as error:
        raise type(error)(_("labels in {spec}: {error}", spec=spec, error=error)) from error


def known_revision(revision: str | None, table: ItemTable) -> str | None:
    """Return a revision that somebody named. Raises LabelsError where the items have none of that name."""
    if revision is None or revision in table.revisions:
        return revision
    names = ", ".join(table.revisions)
    raise LabelsError(_("there is no revision {revision}; known: {names}", revision=revision, names=names))


def load_table(items_file: Path | None, spec: BenchmarkSpec | None = None) -> ItemTable:
    """Return the items of a manifest file, or those of a definition (None: the default one). Raises LabelsError where
    the file is not there, or is of another benchmark."""
    if items_file is not None and not items_file.is_file():
        raise LabelsError(
            _(
                "no pairs in {items_file}: `python app.py` makes the demo benchmark, or set LABELS",
                items_file=items_file,
            )
        )
    try:
        return read_table(items_file) if spec is None else ItemTable.load(spec, items_file)
    except ValueError as error:
        raise LabelsError(str(error)) from None


def load_pairs(spec: str | Path, benchmark: BenchmarkSpec, *, edition: str | None = None, token: str = "") -> PairSet:
    """Return the labelled pairs in a benchmark's own file, or a part of it, under the name of their edition.

    Raises:
        LabelsError: it is not such a file; the message names another benchmark whose file it is.
    """
    with _naming(spec):
        return pairs_of(read_rows(spec, None, token=token), benchmark, edition=edition)


def pairs_of(rows: Sequence[LabelRow], benchmark: BenchmarkSpec, *, edition: str | None = None) -> PairSet:
    """Return the pairs of a benchmark's own rows. Raises LabelsError."""
    try:
        return read_pairs(rows, benchmark, edition=edition)
    except LabelsError:
        if not rows or holds_pairs_of(rows[0], benchmark):
            raise
        other = next((other for other in others_beside(benchmark) if holds_pairs_of(rows[0], other)), None)
        if other is None:
            raise
        message = _(
            "this is a file of {title}; name it with --benchmark {id}, or LABELS={id}/...",
            title=other.title,
            id=other.id,
        )
        raise LabelsError(message) from None


def label_set(rows: Sequence[LabelRow], revision: str, *, table: ItemTable) -> LabelSet:
    """Return the label set of dataset rows. Raises LabelsError with every kind of problem it found."""
    finder = _Finder(table, revision)
    preferred: dict[int, int] = {}
    tags: dict[int, frozenset[str]] = {}
    problems: list[str] = []
    for number, row in enumerate(rows):
        try:
            index = finder.item_of(row)
            preferred[index] = _preferred(row, table.items[index].responses)
            tags[index] = _tags(row, table.spec)
        except LabelsError as error:
            problems.append(_("row {number}: {error}", number=number + 1, error=error))
    refuse_labels(problems or coverage_problems(preferred, revision, table=table))
    tagged = any(_list(row, "human_error_analysis") for row in rows)
    return make_label_set(revision, table, preferred=preferred, tags=tags if tagged else None)


def recognise(rows: Sequence[LabelRow], table: ItemTable) -> str:
    """Return the first revision of the table that has exactly the rows' ids. Raises LabelsError where none has."""
    ids = Counter(str(row.get("id")) for row in rows)
    for revision in table.revisions:
        if ids == Counter(table.items[index].ids[revision] for index in table.in_revision(revision)):
            return revision
    raise LabelsError(
        _("the ids are those of no known revision ({names}); name the revision", names=", ".join(table.revisions))
    )


class _Finder:
    """Finds the item of each row once; rows are asked for in the order of the file."""

    def __init__(self, table: ItemTable, revision: str) -> None:
        self._table = table
        self._revision = revision if revision in table.revisions else None
        self._used: set[int] = set()

    def item_of(self, row: LabelRow) -> int:
        """Raise LabelsError where the row is about no item, or about one that was labelled already."""
        if "id" not in row:
            raise LabelsError(_("no column id"))
        candidates, by = self._candidates(row, str(row["id"]))
        if not candidates:
            where = _(" of revision {revision}", revision=self._revision) if self._revision else ""
            raise LabelsError(
                _("no pair{where} of {benchmark} has this {by}", where=where, benchmark=self._table.benchmark, by=by)
            )
        free = [index for index in candidates if index not in self._used]
        if not free:
            raise LabelsError(_("the pair with this {by} is labelled twice", by=by))
        self._used.add(free[0])
        return free[0]

    def _candidates(self, row: LabelRow, name: str) -> tuple[Sequence[int], str]:
        """Return item indices, and the columns that name them."""
        texts = _texts(row)
        if row.get("query") is not None and texts is not None:
            result = self._table.by_fingerprint(_fingerprint(row["query"], texts, table=self._table))
            if len(result) == 1:
                return result, _("query and response")
            return [index for index in result if self._is_called(index, name)], _("query, response and id")
        return self._table.by_id(name, self._revision), "id"

    def _is_called(self, index: int, name: str) -> bool:
        ids = self._table.items[index].ids
        return ids.get(self._revision) == name if self._revision else name in ids.values()


def _preferred(row: LabelRow, responses: Sequence[str]) -> int:
    """Return the stored index of the preferred response, also where the file stores the two in the other order."""
    if "human_ranking" not in row:
        raise LabelsError(_("no column human_ranking"))
    ranking = _list(row, "human_ranking")
    if ranking is None:
        raise LabelsError(_("human_ranking is empty"))
    try:
        index = preferred_index(ranking)
    except ValueError as error:
        raise LabelsError(str(error)) from None
    texts = _texts(row)
    if texts is None or responses[0] == responses[1]:
        return index
    result = response_fingerprint(texts[index])
    if result not in responses:
        raise LabelsError(_("response is not that of this pair"))
    return list(responses).index(result)


def _tags(row: LabelRow, spec: BenchmarkSpec) -> frozenset[str]:
    if not spec.tags:
        return frozenset()
    raw = _list(row, "human_error_analysis") or []
    if not all(isinstance(tag, str) for tag in raw):
        raise LabelsError(_("human_error_analysis is not a list of texts"))
    try:
        return error_tags(raw, spec)
    except ValueError as error:
        raise LabelsError(_("human_error_analysis: {error}", error=error)) from None


def _texts(row: LabelRow) -> list[str] | None:
    """Return the two responses; None where the file has none."""
    result = _list(row, "response")
    if result is not None and not (len(result) == 2 and all(map(_is_text, result))):
        raise LabelsError(_("response is not two texts"))
    return result


def _fingerprint(query: Any, responses: Sequence[str], *, table: ItemTable) -> str:
    if not _is_text(query):
        raise LabelsError(_("query is not text"))
    return table.fingerprint(query, responses)


def _is_text(value: Any) -> bool:
    """Half of a character, which lists written as text may hold, is none."""
    return isinstance(value, str) and _HALF.search(value) is None


def _list(row: LabelRow, column: str) -> list[Any] | None:
    """Return a list, None where there is none; some dumps write lists as text, as Python or JSON would."""
    value = row.get(column)
    if value is None or value == "":
        return None
    if isinstance(value, str):
        try:
            value = ast.literal_eval(value)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            value = None
    if not isinstance(value, list | tuple):
        raise LabelsError(_("{column} is not a list", column=column))
    return list(value)


def read_rows(spec: str | Path, columns: Sequence[str] | None = COLUMNS, *, token: str = "") -> list[LabelRow]:
    """Return the rows of a file or Hub dataset; of parquet only these columns are read (None: all that are no
    images). Raises LabelsError."""
    path = Path(spec)
    source = parse_hub_source(str(spec))
    try:
        if path.is_file():
            return _read_file(path, columns)
        if source is not None:
            return _read_hub(source, columns, token=token)
    except LabelsError:
        raise
    except HubRefusal as error:
        raise LabelsError(str(error)) from None
    except Exception as error:  # the edge: file systems, network, pyarrow, JSON - each with its own exceptions
        result = path.is_file() or isinstance(error, FileNotFoundError)  # then another try would end the same way
        kind = LabelsError if result else LabelsUnreachable
        # What a parser says may quote the file; what the system and the Hub say names paths and addresses.
        detail = f": {error}" if isinstance(error, OSError) else ""
        raise kind(_("they cannot be read: {name}{detail}", name=type(error).__name__, detail=detail)) from None
    raise LabelsError(_("that is neither a file nor a Hub dataset at a commit ({form})", form=FORM))


def _read_file(path: Path, columns: Sequence[str] | None) -> list[LabelRow]:
    with path.open("rb") as file:
        if file.read(4) == b"PAR1":
            file.seek(0)
            return _read_parquet(file, columns)
    return _parse_json(path.read_bytes())


def _parse_json(data: bytes) -> list[LabelRow]:
    if data.startswith(b"\x1f\x8b"):
        data = gzip.decompress(data)
    data = data.removeprefix(b"\xef\xbb\xbf")
    if data.lstrip()[:1] == b"[":
        rows = _json(data, _("the file"))
    else:
        lines = (line for line in data.split(b"\n") if line.strip())
        rows = [_json(line, _("row {number}", number=number)) for number, line in enumerate(lines, 1)]
    if not rows and isinstance(rows, list):
        raise LabelsError(_("the file holds no rows"))
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise LabelsError(_("the file is neither JSON lines nor a JSON list of rows"))
    return list(rows)


def _json(data: bytes, what: str) -> Any:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        raise LabelsError(_("{what} is not JSON", what=what)) from None


def _read_parquet(file: Any, wanted: Sequence[str] | None) -> list[LabelRow]:
    """Read only the columns that are needed: the images are most of the file."""
    import pyarrow.parquet as parquet  # takes a tenth of a second, and JSON labels do without

    # In this thread alone: pyarrow's own would still hold the Python file when the interpreter ends, and abort it.
    source = parquet.ParquetFile(file, pre_buffer=False)
    if wanted is None:
        binary = ("binary", "large_binary", "struct")
        wanted = [field.name for field in source.schema_arrow if not str(field.type).startswith(binary)]
    columns = [name for name in wanted if name in source.schema_arrow.names]
    rows: list[LabelRow] = source.read(columns=columns, use_threads=False).to_pylist()
    return rows


def _read_hub(source: HubSource, columns: Sequence[str] | None, *, token: str) -> list[LabelRow]:
    files = HubFiles(source, token)
    rows: list[LabelRow] = []
    for name in _choose(files.names(), str(source)):
        with files.open(name) as file:
            rows += _read_parquet(file, columns) if name.endswith(".parquet") else _parse_json(file.read())
    return rows


def _choose(files: Iterable[str], where: str) -> list[str]:
    """Return all parquet files (a split may be in several), else the one JSON file."""
    parquet = [path for path in files if path.endswith(".parquet")]
    if parquet:
        return parquet
    others = [path for path in files if path.endswith((".jsonl", ".json"))]
    if len(others) != 1:
        raise LabelsError(
            _("{where} has no parquet file and {count} JSON files; one is needed", where=where, count=len(others))
        )
    return others
