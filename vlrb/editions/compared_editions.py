"""`vlrb edition pool duplicates`: editions and training sets that a pool is compared with, and how thoroughly."""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.spec import BenchmarkSpec, ItemFields
from vlrb.benchmarks.spec_file import definitions_folder, known_benchmarks, load_spec
from vlrb.common.command_line import CommandError
from vlrb.common.json_files import read_object, write_json
from vlrb.editions.images import inspect_image, read_image
from vlrb.editions.near_duplicates import LEFT_OUT, ComparedPair, Duplicate, PairIndex, inside
from vlrb.editions.pool import DUPLICATES, read_pool
from vlrb.editions.pool_import import ImportSettings, add_import_command
from vlrb.editions.sources import folder_of, follow, read_source


def compared_sets(own: Path, others: Sequence[str]) -> Iterator[tuple[PairIndex, str]]:
    """Yield what a pool is compared with, each with a sentence about how.

    The editions that this installation ships or has in a directory of its own, but no invented ones, and other sets.
    ``others``: ``NAME=SOURCE`` of training sets, and of editions, whose definitions name the columns.

    Raises:
        CommandError: a set or a definition cannot be read.
    """
    sources: dict[str, list[str]] = {}
    for text in others:
        name, equals, source = text.partition("=")
        if not equals or not source:
            raise CommandError(f"--against {text}: give NAME=FILE, or NAME=owner/name@COMMIT for a Hub dataset.")
        sources.setdefault(name, []).append(source)
    specs = {name: spec for name in known_benchmarks(own) if not (spec := load_spec(name, own)).synthetic}
    for name in dict.fromkeys((*specs, *sources)):
        own_spec = specs.get(name)
        fields = own_spec.fields if own_spec else None
        pairs = [pair for source in sources.get(name, ()) for pair in _rows(source, fields)]
        if name in sources and not pairs:
            raise CommandError(f"{name}: no row has responses. Give its pairs.")
        index = PairIndex(name, pairs, equal=_fingerprints(own_spec) if own_spec else {})
        yield index, _how(index, own_spec.dataset if own_spec else "")


def _how(index: PairIndex, dataset: str) -> str:
    if index.pairs:
        images = sum(bool(pair.image_sha256) for pair in index.pairs)
        return f"{index.where}: compared by texts of {len(index.pairs):,} pairs and images of {images:,}."
    how = "compared by equal texts only" if index.equal else "not compared"
    source = f" ({dataset})" if dataset else ""
    return f"{index.where}: {how}. To compare all: --against {index.where}=ITEMS{source}"


def _fingerprints(spec: BenchmarkSpec) -> dict[str, str]:
    """Return fingerprint of a pair or response of an edition's manifest -> id; nothing where it ships none."""
    if not spec.has_items:
        return {}
    items = reversed(ItemTable.load(spec).items)
    return {digest: next(iter(item.ids.values())) for item in items for digest in (item.fingerprint, *item.responses)}


def _rows(source: str, fields: ItemFields | None) -> Iterator[ComparedPair]:
    """Yield the rows of an edition, by its columns if it has ``fields``, or of a training set; rows without a response
    are passed over, and images that cannot be read are not compared."""
    usual = own = ImportSettings()
    if fields is not None:
        pairs = zip(("id", "query", "chosen", "rejected"), (fields.id, fields.question, *fields.responses), strict=True)
        own = ImportSettings(columns=dict(pairs))
    rows = read_source(source, own.names)
    for number, row in enumerate(follow(rows, f"Reading {source}"), 1):
        settings = own if fields is not None and all(name in row for name in fields.responses) else usual
        query, texts = settings.value(row, "query"), settings.value(row, "response")
        both = texts or [settings.value(row, "chosen"), settings.value(row, "rejected")]
        held = [text for text in (both if isinstance(both, list) else [both]) if isinstance(text, str)]
        if held and isinstance(query, str | None):
            image = _image(settings.value(row, "image"), source)
            name = str(settings.value(row, "id") or f"row {number}")
            yield ComparedPair.of({"id": name, "query": query or "", "response": held, **image})


def _image(value: Any, source: str) -> dict[str, str]:
    try:
        return inspect_image(read_image(value, folder_of(source)))
    except CommandError:
        return {"image_sha256": "", "image_hash": ""}


def add_pool_commands(commands: Any) -> None:
    """Add the commands of a pool."""
    pool = commands.add_parser("pool", help="pairs with preferences, and what they share with others")
    kinds = pool.add_subparsers(dest="pool_command", required=True, metavar="import|duplicates")
    add_import_command(kinds)
    duplicates = kinds.add_parser("duplicates", help="find near duplicates", allow_abbrev=False)
    duplicates.add_argument("directory", type=Path, metavar="DIR")
    about = "a training set, or pairs of an edition by its id (repeatable)"
    duplicates.add_argument("--against", action="append", default=[], metavar="NAME=FILE", help=about)
    duplicates.set_defaults(run=duplicates_command)


def duplicates_command(arguments: argparse.Namespace) -> int:
    """Find near duplicates and record them. Returns the exit code."""
    pool: Path = arguments.directory
    pairs = read_pool(pool)
    compared = [ComparedPair.of(pair) for pair in pairs]
    results, told = [*inside(compared)], []
    for index, how in compared_sets(definitions_folder(os.environ), arguments.against):
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
    found = read_object(pool / DUPLICATES, "pairs", "duplicates")
    return [Duplicate(**line) for line in found["duplicates"]], found["pairs"]


def _summary(duplicates: Sequence[Duplicate]) -> str:
    if not duplicates:
        return "No near duplicates."
    counts = Counter((one.where, one.kind) for one in duplicates)
    lines = [f"{where}: {number:,} {kind}" for (where, kind), number in sorted(counts.items())]
    left_out = len({one.pair for one in duplicates if one.kind in LEFT_OUT})
    return "\n".join([*lines, f"Left out of filters: {left_out:,}; a similar image alone leaves no pair out."])
