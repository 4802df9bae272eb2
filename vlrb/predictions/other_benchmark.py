"""Recognition of a rejected file as one of another benchmark."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from vlrb.benchmarks.spec import BenchmarkSpec, value_at
from vlrb.benchmarks.spec_file import others_beside
from vlrb.common.messages import _
from vlrb.readers import first_records
from vlrb.readers.problems import Problem, UploadRejected


def other_benchmark(data: bytes, spec: BenchmarkSpec) -> BenchmarkSpec | None:
    """Return the benchmark that the first records of a file belong to; None where one is of this one, or none is known.

    The demo is nobody's other benchmark: its pairs imitate those of a real one.
    """
    if spec.synthetic:
        return None
    others = [other for other in others_beside(spec) if not other.synthetic]
    results = [benchmark_of_record(record, [spec, *others]) for record in first_records(data)]
    named = {other.id: other for other in results if other is not None}
    return next(iter(named.values())) if len(named) == 1 and spec.id not in named else None


def benchmark_of_record(record: Any, specs: Iterable[BenchmarkSpec]) -> BenchmarkSpec | None:
    """Return the first benchmark whose ids or categories the record has; None where it tells nothing."""
    if not isinstance(record, Mapping):
        return None
    return next((spec for spec in specs if _belongs(record, spec)), None)


def _belongs(record: Mapping[str, Any], spec: BenchmarkSpec) -> bool:
    item_id = value_at(record, spec.fields.id)
    if not isinstance(item_id, str):
        return False
    places = [path for name in spec.fields.category for path in (name, f"Meta.{name}", f"doc.{name}")]
    values = [value if isinstance(value, str) else "" for value in (value_at(record, path) for path in places)]
    return any(rule.matches(value, item_id) for rule in spec.source_rules for value in values)


def refused_for(other: BenchmarkSpec, spec: BenchmarkSpec, *, rejected: UploadRejected) -> UploadRejected:
    """Return the refusal that names the benchmark of the file in one sentence."""
    message = _(
        "This is a file of {title}, and here {title2} is scored. Submit it to {title}.",
        title=other.title,
        title2=spec.title,
    )
    problem = Problem(None, None, field=None, code="other-benchmark", message=message)
    return UploadRejected([problem], format=rejected.format)
