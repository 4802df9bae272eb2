"""Recognition of a rejected file as one of another benchmark."""

from __future__ import annotations

from vlrb.benchmarks.spec import DEFINITIONS, BenchmarkSpec, SpecError
from vlrb.benchmarks.spec_file import known_benchmarks, load_spec
from vlrb.common.messages import _
from vlrb.pairs.recognition import benchmark_of_record
from vlrb.predictions.problems import BenchmarkName, Problem, UploadRejected
from vlrb.readers.pair_predictions import first_records

CODE = "other-benchmark"


def other_benchmark(data: bytes, spec: BenchmarkSpec) -> BenchmarkSpec | None:
    """Return the benchmark that the first records of a file belong to; None where one is of this one, or none is known.

    The demo is nobody's other benchmark: its pairs imitate those of a real one.
    """
    if spec.synthetic:
        return None
    folder = spec.folder.parent if spec.folder is not None else DEFINITIONS
    known = [_load(name, spec) for name in known_benchmarks(folder) if name != spec.id]
    others = [other for other in known if other is not None and not other.synthetic]
    results = [benchmark_of_record(record, [spec, *others]) for record in first_records(data)]
    named = {other.id: other for other in results if other is not None}
    return next(iter(named.values())) if len(named) == 1 and spec.id not in named else None


def _load(name: str, spec: BenchmarkSpec) -> BenchmarkSpec | None:
    try:
        return load_spec(name, spec.folder.parent if spec.folder is not None else DEFINITIONS)
    except SpecError:  # of another benchmark's definition, which must not keep files of this one away
        return None


def submit_path(benchmark: str) -> str:
    """Return the address of the page on which files of a benchmark are submitted."""
    return f"/app/submit?benchmark={benchmark}"


def refused_for(other: BenchmarkSpec, spec: BenchmarkSpec, *, rejected: UploadRejected) -> UploadRejected:
    """Return the refusal that names the benchmark of the file in one sentence."""
    message = _(
        "This is a file of {title}, and here {title2} is scored. Submit it to {title}.",
        title=other.title,
        title2=spec.title,
    )
    name = BenchmarkName(other.id, other.title, path=submit_path(other.id))
    return UploadRejected(
        [Problem(None, None, field=None, code=CODE, message=message)],
        1,
        warnings=(),
        format=rejected.format,
        other=name,
    )
