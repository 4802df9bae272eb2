"""`python -m curate pool duplicates|status`: what a pool shares with itself, with editions and with training sets."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from benchmark.spec import DEFINITIONS, MANIFEST
from common.command_line import say
from common.json_files import NUMBER, JsonFileFault, Shape, check_shape
from common.messages import _, ngettext
from curate.errors import CurateError
from curate.images import inspect_image, read_image
from curate.near_duplicates import (
    LEFT_OUT,
    ComparedPair,
    Duplicate,
    EditionPrints,
    in_editions,
    in_training_set,
    inside,
)
from curate.pairs import ImportSettings
from curate.pool import DUPLICATES, locked, read_json, read_pool, read_record, write_json, write_lines
from curate.pool_import import add_import_command
from curate.sources import PairSource, open_source, read_objects

_DUPLICATE: Shape = {field.name: NUMBER if field.type == "float" else str for field in fields(Duplicate)}
_ANY = ImportSettings("", "", "", {})


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
    duplicates.add_argument("--revision", metavar="COMMIT", help=_("commit, where a training set is a Hub dataset"))
    duplicates.add_argument("--split", metavar="SPLIT", help=_("split of the Hub dataset (train, or the only one)"))
    duplicates.set_defaults(run=duplicates_command)
    status = kinds.add_parser("status", help=_("what a pool holds"))
    status.add_argument("directory", type=Path, metavar="DIR")
    status.set_defaults(run=status_command)


def status_command(arguments: argparse.Namespace) -> int:
    """Print what a pool holds. Returns the exit code."""
    pairs, record = read_pool(arguments.directory), read_record(arguments.directory)
    for one in record["imports"]:
        say(
            _(
                "{source}: {pairs:,} pairs from {file}, {licence}",
                source=one["source"],
                pairs=one["pairs"],
                file=one["file"],
                licence=one["licence"],
            )
        )
    say(_("{pairs:,} pairs, {images:,} images", pairs=len(pairs), images=len({pair.image_sha256 for pair in pairs})))
    say(_summary(read_duplicates(arguments.directory)))
    return 0


def duplicates_command(arguments: argparse.Namespace) -> int:
    """Find near duplicates and record them. Returns the exit code."""
    pool: Path = arguments.directory
    pairs = read_pool(pool)
    editions = [*served_editions(*_own_definitions(arguments)), *(_edition(path) for path in arguments.manifest)]
    training = [open_source(name, revision=arguments.revision, split=arguments.split) for name in arguments.training]
    with locked(pool):
        results = [*inside(pairs), *in_editions(pairs, editions)]
        for source in training:
            results += in_training_set(pairs, Path(source.name).name, training_pairs(source))
        write_lines(pool / DUPLICATES, map(asdict, results))
        compared = {"pairs": len(pairs), "editions": [edition.name for edition in editions]}
        compared |= {"training": [{"file": Path(one.name).name, "sha256": one.digest} for one in training]}
        write_json(pool / "duplicates.json", compared)
    say(_summary(results))
    return 0


def served_editions(*own: Path) -> list[EditionPrints]:
    """Return the editions whose manifests this installation ships, or has in a directory of its own."""
    return [_edition(path) for folder in (DEFINITIONS, *own) for path in sorted(folder.glob(f"*/{MANIFEST}"))]


def _own_definitions(arguments: argparse.Namespace) -> list[Path]:
    """Return the directory of definitions that the environment names."""
    named = arguments.variables.get("BENCHMARK_DEFINITIONS")
    return [Path(named)] if named and Path(named).resolve() != DEFINITIONS else []


def _edition(path: Path) -> EditionPrints:
    try:
        return EditionPrints.from_manifest(json.loads(path.read_bytes()))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, StopIteration):
        raise CurateError(_("{path} is no manifest. `python -m maintenance manifest` makes one.", path=path)) from None


def training_pairs(source: PairSource) -> Iterator[ComparedPair]:
    """Yield the rows of a training set; rows without a question or response are passed over."""
    for row in source.rows():
        compared = None if row.problem else _training_pair(row.fields, row.place, source.folder)
        if compared is not None:
            yield compared


def _training_pair(row: Mapping[str, Any], place: str, folder: Path | None) -> ComparedPair | None:
    query = _ANY.value(row, "query")
    both = _ANY.value(row, "response") or [_ANY.value(row, "chosen"), _ANY.value(row, "rejected")]
    texts = tuple(text for text in (both if isinstance(both, list) else [both]) if isinstance(text, str))
    if not isinstance(query, str) or not texts:
        return None
    sha256 = perceptual = ""
    if (image := _ANY.value(row, "image")) is not None:
        try:
            facts = inspect_image(read_image(image, folder))
            sha256, perceptual = facts.sha256, facts.perceptual
        except CurateError:  # the texts are compared all the same
            pass
    return ComparedPair(str(_ANY.value(row, "id") or place), query, texts, sha256, perceptual)


def read_duplicates(pool: Path) -> list[Duplicate]:
    """Return what `pool duplicates` found; nothing if it never ran."""
    if not (pool / DUPLICATES).is_file():
        return []
    return [_duplicate(pool / DUPLICATES, number, line) for number, line in read_objects(pool / DUPLICATES)]


def _duplicate(path: Path, number: int, line: Mapping[str, Any]) -> Duplicate:
    try:
        check_shape(line, _DUPLICATE)
        return Duplicate(**line)
    except (JsonFileFault, TypeError):
        raise CurateError(
            _(
                "{path}, line {number} is no near duplicate. `python -m curate pool duplicates` writes the file anew.",
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
