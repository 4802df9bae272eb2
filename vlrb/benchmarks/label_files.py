"""Loader of labels and pairs from a file or a Hub dataset. The only code that reads a hidden label; of the service the
worker alone runs it. What stands in a file is in no message about it: the messages leave the worker.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson

from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.items import LabelsError as LabelsError
from vlrb.benchmarks.labels import LabelSet
from vlrb.benchmarks.pairs import LabelRow, PairSet, label_set, read_pairs, recognise
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.hub_sources import FORM, HubSource, parse_hub_source
from vlrb.common.messages import _

_MIN_BLOCK = 1 << 16
_REFUSED = (401, 403, 404)


class LabelsUnreachable(LabelsError):
    """The Hub does not answer now; it may later."""


def load_labels(spec: str | Path, revision: str | None, *, table: ItemTable, token: str = "") -> LabelSet:
    """Return the label set in a file (JSONL, JSON list, parquet) or a Hub dataset `owner/name@commit`.

    `revision` None: the revision of the table whose ids the rows have. `token`: who may read a private dataset.

    Raises:
        LabelsError: it cannot be read, or does not label the items of that revision once each.
    """
    with _naming(spec):
        rows = read_rows(spec, token=token)
        return label_set(rows, revision or recognise(rows, table), table=table)


def load_pairs(spec: str | Path, benchmark: BenchmarkSpec, *, edition: str | None = None, token: str = "") -> PairSet:
    """Return the labelled pairs in a benchmark's own file, or a part of it, under the name of their edition.

    Raises:
        LabelsError: it is not such a file.
    """
    with _naming(spec):
        return read_pairs(read_rows(spec, token=token), benchmark, edition=edition)


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


def read_rows(spec: str | Path, columns: Sequence[str] | None = None, *, token: str = "") -> list[LabelRow]:
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
    except Exception as error:  # the edge: file systems, network, pyarrow, JSON - each with its own exceptions
        result = path.is_file() or isinstance(error, FileNotFoundError)  # then another try would end the same way
        kind = LabelsError if result else LabelsUnreachable
        # What a parser says may quote the file; what the system and the Hub say names paths and addresses.
        detail = f": {error}" if isinstance(error, OSError) else ""
        raise kind(_("they cannot be read: {name}{detail}", name=type(error).__name__, detail=detail)) from None
    raise LabelsError(_("that is neither a file nor a Hub dataset at a commit ({form}, all 40 digits)", form=FORM))


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
        wanted = [field.name for field in source.schema_arrow if "binary" not in str(field.type)]  # no images
    columns = [name for name in wanted if name in source.schema_arrow.names]
    rows: list[LabelRow] = source.read(columns=columns, use_threads=False).to_pylist()
    return rows


def _read_hub(source: HubSource, columns: Sequence[str] | None, *, token: str) -> list[LabelRow]:
    from huggingface_hub import HfFileSystem  # takes half a second, and only this needs it

    # Always ask: a cached listing would be that of an earlier day.
    system = HfFileSystem(token=token or None, use_listings_cache=False, skip_instance_cache=True)
    rows: list[LabelRow] = []
    with _explained(str(source)):
        for name in _choose(sorted(system.find(f"datasets/{source}")), str(source)):
            # No read-ahead: pyarrow asks for exactly the byte ranges of the columns.
            with system.open(name, "rb", block_size=_MIN_BLOCK, cache_type="none") as file:
                rows += _read_parquet(file, columns) if name.endswith(".parquet") else _parse_json(file.read())
    return rows


def newest_commit(name: str) -> str:
    """Return the commit that a Hub dataset is at now. Raises LabelsError."""
    from huggingface_hub import HfApi

    with _explained(name):
        return str(HfApi().dataset_info(name).sha)


@contextmanager
def _explained(source: str) -> Iterator[None]:
    """Turn the Hub's refusals into a sentence. What the Hub says is not repeated: it may quote the request."""
    from huggingface_hub.errors import HfHubHTTPError

    try:
        yield
    except (HfHubHTTPError, FileNotFoundError) as error:
        if isinstance(error, HfHubHTTPError) and error.response.status_code not in _REFUSED:  # another try may help
            raise
        raise LabelsError(
            _(
                "the Hub shows nothing at {source}. Copy name and commit from its page, below Files and versions, "
                "History; a private or gated dataset needs LABELS_TOKEN, of an account that may read it.",
                source=source,
            )
        ) from None


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
