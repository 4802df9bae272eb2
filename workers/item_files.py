"""Command `python -m workers.item_files PATH BENCHMARK DEFINITIONS SOURCE ...`: write a benchmark's item manifest once.

For benchmarks of labelled pairs: their items follow from their own files, which hold labels. So it is a process of its
own, and the web process reads the manifest, which has none. The same holds for texts from a dataset:
`python -m workers.item_files --texts PATH BENCHMARK DEFINITIONS MANIFEST SOURCE` (MANIFEST "": that of the definition).
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from settings import WorkerSettings
from vlrb.benchmarks.item_texts import item_rows, item_text
from vlrb.benchmarks.items import ItemTable, load_table
from vlrb.benchmarks.label_files import LabelsError, LabelsUnreachable, read_rows
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.benchmarks.spec_file import load_spec
from vlrb.common.atomic_files import PUBLIC, write_once
from workers.scorer import table_of_sources

UNREACHABLE = 75  # exit code (EX_TEMPFAIL): another time it may work


def write_items(path: Path, spec: BenchmarkSpec, *, sources: Sequence[str], token: str = "") -> bool:
    """Write the manifest of the items in the sources; False if there is one already, which stays.

    Votes are stored by the place of an item, so the items of a database never change. Raises LabelsError and OSError.
    """
    if path.exists():
        return False
    content = json.dumps(table_of_sources(spec, sources, token=token).to_json(), separators=(",", ":"))
    return write_once(path, content.encode(), mode=PUBLIC)


def write_texts(path: Path, table: ItemTable, *, source: str, token: str) -> bool:
    """Write the texts of a dataset's rows, without anything that tells a label. Raises LabelsError and OSError."""
    try:
        rows = list(item_rows(read_rows(source, None, token=token), table))
    except ValueError as error:
        raise error if isinstance(error, LabelsError) else LabelsError(str(error)) from None
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return write_once(path, item_text(rows).encode(), mode=PUBLIC)


def main(arguments: Sequence[str]) -> int:
    """Return the exit code: 0 written or there, 1 not possible, UNREACHABLE the Hub does not answer now."""
    texts = arguments[0] == "--texts"
    path, benchmark, definitions, *sources = arguments[texts:]
    token = WorkerSettings.from_env(os.environ).labels_token.get_secret_value()
    try:
        spec = load_spec(benchmark, Path(definitions))
        if texts:
            manifest, source = sources
            write_texts(Path(path), load_table(Path(manifest) if manifest else None, spec), source=source, token=token)
        else:
            write_items(Path(path), spec, sources=sources, token=token)
    except (LabelsError, OSError) as error:
        sys.stderr.write(f"error: {'ITEMS_FILE' if texts else 'LABELS'}: {error}\n")
        return UNREACHABLE if isinstance(error, LabelsUnreachable) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
