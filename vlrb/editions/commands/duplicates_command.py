"""`vlrb edition pool duplicates|status`: what a pool shares with itself, with editions and with training sets."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from vlrb.benchmarks.spec import DEFINITIONS
from vlrb.benchmarks.spec_file import definitions_folder
from vlrb.common.command_line import say
from vlrb.common.json_files import NUMBER, JsonFileFault, Shape, check_shape
from vlrb.common.messages import _, ngettext
from vlrb.editions.errors import CurateError
from vlrb.editions.pools.compared_editions import (
    ComparedEdition,
    in_edition,
    manifest_edition,
    served_editions,
    with_given_items,
)
from vlrb.editions.pools.compared_rows import training_pairs
from vlrb.editions.pools.near_duplicates import LEFT_OUT, Duplicate, in_training_set, inside
from vlrb.editions.pools.pool import DUPLICATES, locked, read_json, read_pool, read_record, write_json, write_lines
from vlrb.editions.pools.pool_import import add_import_command
from vlrb.editions.pools.sources import PairSource, open_source, read_objects

_DUPLICATE: Shape = {field.name: NUMBER if field.type == "float" else str for field in fields(Duplicate)}


def add_pool_commands(commands: Any) -> None:
    """Add the commands of a pool."""
    pool = commands.add_parser("pool", help=_("pairs with preferences, and what they share with others"))
    kinds = pool.add_subparsers(dest="pool_command", required=True, metavar="import|duplicates|status")
    add_import_command(kinds)
    duplicates = kinds.add_parser("duplicates", help=_("find near duplicates"), allow_abbrev=False)
    duplicates.add_argument("directory", type=Path, metavar="DIR")
    duplicates.add_argument(
        "--manifest", type=Path, action="append", default=[], metavar="FILE", help=_("of another edition (repeatable)")
    )
    duplicates.add_argument(
        "--training", action="append", default=[], metavar="FILE", help=_("a training set (repeatable)")
    )
    duplicates.add_argument(
        "--edition", action="append", default=[], metavar="ID=ITEMS", help=_("pairs of an edition (repeatable)")
    )
    duplicates.add_argument("--revision", metavar="COMMIT", help=_("commit, where a training set is a Hub dataset"))
    duplicates.add_argument("--split", metavar="SPLIT", help=_("split of the Hub dataset (train, or the only one)"))
    duplicates.set_defaults(run=duplicates_command)
    status = kinds.add_parser("status", help=_("what a pool holds"))
    status.add_argument("directory", type=Path, metavar="DIR")
    status.set_defaults(run=status_command)


def status_command(arguments: argparse.Namespace) -> int:
    """Print what a pool holds. Returns the exit code."""
    pairs, record = read_pool(arguments.directory), read_record(arguments.directory)
    for source in record["imports"]:
        say(
            _(
                "{source}: {pairs:,} pairs from {file}, {licence}",
                source=source["source"],
                pairs=source["pairs"],
                file=source["file"],
                licence=source["licence"],
            )
        )
    say(_("{pairs:,} pairs, {images:,} images", pairs=len(pairs), images=len({pair.image_sha256 for pair in pairs})))
    say(_summary(read_duplicates(arguments.directory)))
    return 0


def duplicates_command(arguments: argparse.Namespace) -> int:
    """Find near duplicates and record them. Returns the exit code."""
    pool: Path = arguments.directory
    pairs = read_pool(pool)
    editions = _editions(arguments)
    training = [open_source(name, revision=arguments.revision, split=arguments.split) for name in arguments.training]
    with locked(pool):
        results = [*inside(pairs)]
        for edition in editions:
            results += in_edition(pairs, edition)
        for source in training:
            results += in_training_set(pairs, Path(source.name).name, rows=training_pairs(source))
        write_lines(pool / DUPLICATES, map(asdict, results))
        names = [edition.name for edition in editions if edition.prints or edition.near]
        compared: dict[str, Any] = {"pairs": len(pairs), "editions": names}
        compared["comparisons"] = [edition.to_json() for edition in editions]
        compared |= {"training": [{"file": Path(edition.name).name, "sha256": edition.digest} for edition in training]}
        write_json(pool / "duplicates.json", compared)
    for edition in editions:
        say(edition.in_words())
    say(_summary(results))
    return 0


def own_definitions(arguments: argparse.Namespace) -> list[Path]:
    """Return the directory of definitions that the environment names."""
    named = definitions_folder(arguments.variables)
    return [named] if named.resolve() != DEFINITIONS else []


def _editions(arguments: argparse.Namespace) -> list[ComparedEdition]:
    own = own_definitions(arguments)
    editions = [*served_editions(*own), *(manifest_edition(path) for path in arguments.manifest)]
    given: dict[str, list[PairSource]] = {}
    for text in arguments.edition:
        name, equals, source = text.partition("=")
        if not equals or not source:
            raise CurateError(
                _("--edition {text}: give ID=ITEMS, a file or a Hub dataset as owner/name@COMMIT.", text=text)
            )
        given.setdefault(name, []).append(item_source(source, arguments))
    return with_given_items(editions, given, folders=own)


def item_source(name: str, arguments: argparse.Namespace) -> PairSource:
    """Return the source of an edition's items: a file, or a Hub dataset as owner/name@COMMIT."""
    dataset, at, commit = name.rpartition("@")
    if not at or Path(name).exists():
        dataset, commit = name, ""
    return open_source(dataset, revision=commit or arguments.revision, split=arguments.split, usual="test")


def read_duplicates(pool: Path) -> list[Duplicate]:
    """Return what `pool duplicates` found; nothing if it never ran."""
    if not (pool / DUPLICATES).is_file():
        return []
    return [_duplicate(pool / DUPLICATES, number, line=line) for number, line in read_objects(pool / DUPLICATES)]


def _duplicate(path: Path, number: int, *, line: Mapping[str, Any]) -> Duplicate:
    try:
        check_shape(line, _DUPLICATE)
        return Duplicate(**line)
    except (JsonFileFault, TypeError):
        raise CurateError(
            _(
                "{path}, line {number} is not a near duplicate. `vlrb edition pool duplicates` writes the file anew.",
                path=path,
                number=number,
            )
        ) from None


def duplicates_are_current(pool: Path, pairs: int) -> bool:
    """Return whether all pairs of a pool were compared."""
    path = pool / "duplicates.json"
    return path.is_file() and read_json(path, {"pairs": int})["pairs"] == pairs


def _summary(duplicates: Sequence[Duplicate]) -> str:
    if not duplicates:
        return _("No near duplicates.")
    counts = Counter((duplicate.where, duplicate.kind) for duplicate in duplicates)
    lines = [f"{where}: {number:,} {kind}" for (where, kind), number in sorted(counts.items())]
    left_out = len({duplicate.pair for duplicate in duplicates if duplicate.kind in LEFT_OUT})
    closing = ngettext(
        "{n:,} pair is left out of filters; a similar image alone leaves none out.",
        "{n:,} pairs are left out of filters; a similar image alone leaves none out.",
        left_out,
    )
    return "\n".join([*lines, closing])
