"""Recognition of the benchmark that a record of a prediction file belongs to, from the definitions alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from vlrb.benchmarks.spec import BenchmarkSpec, UnknownCategory
from vlrb.pairs.labelled_pairs import field


def benchmark_of_record(record: Any, specs: Iterable[BenchmarkSpec]) -> BenchmarkSpec | None:
    """Return the first benchmark whose ids or categories the record has; None where it tells nothing."""
    if not isinstance(record, Mapping):
        return None
    return next((spec for spec in specs if _belongs(record, spec)), None)


def _belongs(record: Mapping[str, Any], spec: BenchmarkSpec) -> bool:
    item_id = field(record, spec.fields.id if spec.fields is not None else "id")
    if not isinstance(item_id, str):
        return False
    if spec.fields is None:
        return any(item_id.startswith(prefix) for source in spec.sources for prefix in source.id_prefixes)
    places = [path for name in spec.fields.category for path in (name, f"Meta.{name}", f"doc.{name}")]
    return any(_has_category(field(record, path), item_id, spec=spec) for path in places)


def _has_category(value: Any, item_id: str, *, spec: BenchmarkSpec) -> bool:
    if not isinstance(value, str) or not value:
        return False
    try:
        spec.category_of(value, item_id)
    except UnknownCategory:
        return False
    return True
