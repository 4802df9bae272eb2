"""Command `vlrb items`: the pairs of a revision, from the Hub, in a file that a judge is run on."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.label_files import newest_commit, read_rows
from vlrb.benchmarks.spec import DEFAULT_BENCHMARK
from vlrb.benchmarks.spec_file import definitions_folder, load_spec
from vlrb.common.command_line import CommandError, complain, say
from vlrb.common.messages import _

_HUB = "https://huggingface.co/datasets/"
_COLUMNS = ("id", "query", "response", "image")  # no label


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add, output = parser.add_argument, Path("items.parquet")
    add("--revision", required=True, metavar="R", help=_("of the benchmark: v2"))
    add("--benchmark", default=DEFAULT_BENCHMARK, metavar="ID", help=_("id of the benchmark (vl-rewardbench)"))
    add("--commit", metavar="COMMIT", help=_("commit of the Hub dataset (the newest)"))
    add("--output", type=Path, default=output, metavar="FILE", help=_("where to write (items.parquet)"))


def run(options: argparse.Namespace) -> int:
    """Write the pairs. Returns the exit code."""
    spec = load_spec(options.benchmark, definitions_folder(os.environ))
    if not (spec.has_items and spec.dataset.startswith(_HUB)):
        raise CommandError(_("{title} has no item manifest, or is not on the Hub.", title=spec.title))
    name = spec.dataset.removeprefix(_HUB)
    source = f"{name}@{options.commit or newest_commit(name)}"
    stored = read_rows(source, _COLUMNS)
    table = ItemTable.load(spec)
    wanted = {item.fingerprint for item in table.items if options.revision in item.rows}
    rows = [row for row in stored if table.fingerprint(row["query"], row["response"]) in wanted]
    size = sum(options.revision in item.rows for item in table.items)
    if not size or len(rows) != size:
        found = {"source": source, "found": len(rows), "size": size, "revision": options.revision}
        complain(_("{source} holds {found:,} of the {size:,} pairs of revision {revision}; try --commit.", **found))
        return 1
    import pyarrow  # not of the core
    from pyarrow import parquet

    parquet.write_table(pyarrow.Table.from_pylist(rows), options.output)
    say(_("{size:,} pairs of {source}: {output}", size=size, source=source, output=options.output))
    return 0
