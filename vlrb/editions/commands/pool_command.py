"""`vlrb edition pool import|duplicates`: pairs, and what they share with editions and other sets."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vlrb.benchmarks.spec_file import definitions_folder
from vlrb.editions.errors import CurateError, follow
from vlrb.editions.pools.compared_editions import compared_sets
from vlrb.editions.pools.near_duplicates import LEFT_OUT, ComparedPair, Duplicate, inside
from vlrb.editions.pools.pool import DUPLICATES, read_json, read_pool, write_json
from vlrb.editions.pools.pool_import import FIELDS, ImportSettings, check_name, import_pairs


def add_pool_commands(commands: Any) -> None:
    """Add the commands of a pool."""
    pool = commands.add_parser("pool", help="pairs with preferences, and what they share with others")
    kinds = pool.add_subparsers(dest="pool_command", required=True, metavar="import|duplicates")
    take = kinds.add_parser("import", help="add the pairs of a file or Hub dataset", allow_abbrev=False)
    take.add_argument("file", metavar="FILE", help="JSON lines, parquet, or a Hub dataset (owner/name@COMMIT)")
    take.add_argument("--source", required=True, metavar="NAME", help="name of the dataset that the pairs come from")
    take.add_argument("--licence", required=True, metavar="L", help="of the source: CC-BY-NC-4.0")
    take.add_argument("--category", default="all", metavar="KEY", help="of rows that name none (all)")
    take.add_argument("--into", type=Path, default=Path("pool"), metavar="DIR", help="the pool (pool/)")
    take.add_argument("--images", type=Path, metavar="DIR", help="where image paths begin (the file's directory)")
    take.add_argument("--field", action="append", default=[], metavar="FIELD=COLUMN", help=", ".join(FIELDS))
    take.add_argument("--skip-bad", action="store_true", help="leave bad rows out, and record how many")
    take.set_defaults(run=import_command)
    duplicates = kinds.add_parser("duplicates", help="find near duplicates", allow_abbrev=False)
    duplicates.add_argument("directory", type=Path, metavar="DIR")
    about = "a training set, or pairs of an edition by its id (repeatable)"
    duplicates.add_argument("--against", action="append", default=[], metavar="NAME=FILE", help=about)
    duplicates.set_defaults(run=duplicates_command)


def import_command(arguments: argparse.Namespace) -> int:
    """Import a file. Returns the exit code."""
    columns = {}
    for text in arguments.field:
        name, equals, column = text.partition("=")
        if not equals or name not in FIELDS or not column:
            raise CurateError(f"--field {text}: give FIELD=COLUMN with a field of {', '.join(FIELDS)}.")
        columns[name] = column
    names = check_name(arguments.source, "--source"), check_name(arguments.category, "--category")
    settings = ImportSettings(names[0], arguments.licence, category=names[1], columns=columns)
    options = {"images": arguments.images, "skip_bad": arguments.skip_bad}
    print(import_pairs(arguments.into, arguments.file, settings=settings, **options))
    return 0


def duplicates_command(arguments: argparse.Namespace) -> int:
    """Find near duplicates and record them. Returns the exit code."""
    pool: Path = arguments.directory
    pairs = read_pool(pool)
    compared = [ComparedPair.of(pair) for pair in pairs]
    results, told = [*inside(compared)], []
    for index, how in compared_sets(definitions_folder(arguments.variables), arguments.against):
        found = map(index.find, follow(compared, f"Comparing with {index.where}"))
        results += [one for one in found if one is not None]
        told.append(how)
    duplicates = [one._asdict() for one in results]
    write_json(pool / DUPLICATES, {"pairs": len(pairs), "compared": told, "duplicates": duplicates})
    print(*told, _summary(results), sep="\n")
    return 0


def read_duplicates(pool: Path) -> tuple[list[Duplicate], int]:
    """Return what `pool duplicates` found, and how many pairs it compared; nothing if it never ran."""
    if not (pool / DUPLICATES).is_file():
        return [], 0
    found = read_json(pool / DUPLICATES, "pairs", "duplicates")
    return [Duplicate(**line) for line in found["duplicates"]], found["pairs"]


def _summary(duplicates: Sequence[Duplicate]) -> str:
    if not duplicates:
        return "No near duplicates."
    counts = Counter((one.where, one.kind) for one in duplicates)
    lines = [f"{where}: {number:,} {kind}" for (where, kind), number in sorted(counts.items())]
    left_out = len({one.pair for one in duplicates if one.kind in LEFT_OUT})
    return "\n".join([*lines, f"Left out of filters: {left_out:,}; a similar image alone leaves no pair out."])
