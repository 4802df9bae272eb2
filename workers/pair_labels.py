"""Labelled pairs from a benchmark's own file: a JSON list or JSON lines, plain or with gzip."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from benchmark.pairs.labelled_pairs import PairsError, PairSet, holds_pairs_of, read_pairs
from benchmark.spec import BenchmarkSpec, known_benchmarks, load_spec
from workers.labels.loader import LabelsError

_GZIP = b"\x1f\x8b"


def load_pairs(path: Path, spec: BenchmarkSpec, edition: str | None = None) -> PairSet:
    """Return the pairs in a file, under the name of their edition.

    Raises:
        LabelsError: it is not such a file; the message names another benchmark whose file it is.
        OSError: it cannot be read.
    """
    rows = _rows(path)
    try:
        return read_pairs(rows, spec, edition)
    except PairsError as error:
        other = other_benchmark(rows, spec)
        if other is not None:
            message = f"this is a file of {other.title}; score it with --benchmark {other.id}"
            raise LabelsError(f"labels in {path}: {message}") from error
        raise LabelsError(f"labels in {path}: {error}") from error


def other_benchmark(rows: list[Mapping[str, Any]], spec: BenchmarkSpec) -> BenchmarkSpec | None:
    """Return the benchmark whose fields the rows have, if they lack those of this one."""
    if not rows or holds_pairs_of(rows[0], spec):
        return None
    others = (load_spec(name) for name in known_benchmarks() if name != spec.id)
    return next((other for other in others if holds_pairs_of(rows[0], other)), None)


def _rows(path: Path) -> list[Mapping[str, Any]]:
    data = path.read_bytes()
    if data.startswith(_GZIP):
        data = gzip.decompress(data)
    data = data.removeprefix(b"\xef\xbb\xbf")
    if data.lstrip().startswith(b"["):
        values = _parsed(data, path, 1)
    else:
        lines = enumerate(data.split(b"\n"), start=1)
        values = [_parsed(text, path, line) for line, text in lines if text.strip()]
    for number, value in enumerate(values, start=1):
        if not isinstance(value, dict):
            raise LabelsError(f"labels in {path}: row {number} is not a JSON object")
    return list(values)


def _parsed(text: bytes, path: Path, line: int) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise LabelsError(f"labels in {path}: line {line} is not JSON: {error.msg}") from error
