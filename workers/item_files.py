"""Command `python -m workers.item_files PATH BENCHMARK DEFINITIONS SOURCE ...`: write a benchmark's item manifest once.

For benchmarks of labelled pairs: their items follow from their own files, which hold labels. So it is a process of its
own, and the web process reads the manifest, which has none.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmark.spec import BenchmarkSpec, load_spec
from common.atomic_files import PUBLIC, write_once
from workers.labels.loader import LabelsError
from workers.scorer import table_of_sources


def write_items(path: Path, spec: BenchmarkSpec, sources: Sequence[str]) -> bool:
    """Write the manifest of the items in the sources; False if there is one already, which stays.

    Votes are stored by the place of an item, so the items of a database never change. Raises LabelsError and OSError.
    """
    if path.exists():
        return False
    content = json.dumps(table_of_sources(spec, sources).to_json(), separators=(",", ":"))
    return write_once(path, content.encode(), PUBLIC)


def main(arguments: Sequence[str]) -> int:
    """Return the exit code: 0 written or there, 1 not possible."""
    path, benchmark, definitions, *sources = arguments
    try:
        write_items(Path(path), load_spec(benchmark, Path(definitions)), sources)
    except (LabelsError, OSError) as error:
        sys.stderr.write(f"error: LABELS: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
