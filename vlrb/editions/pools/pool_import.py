"""`vlrb edition pool import`: rows of a data set become pairs of a pool, all of them or none."""

from __future__ import annotations

import argparse
import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from vlrb.common.command_line import say
from vlrb.common.messages import _, ngettext
from vlrb.editions.errors import CurateError, listed
from vlrb.editions.pools.images import StoredImage, read_image, store_image
from vlrb.editions.pools.pairs import FIELDS, ImportSettings, PoolPair, check_name, read_pair
from vlrb.editions.pools.pool import PAIRS, locked, read_pool, read_record, write_pool
from vlrb.editions.pools.sources import PairSource, SourceRow, open_source
from vlrb.editions.progress import follow


def add_import_command(commands: Any) -> None:
    """Add `pool import`."""
    parser = commands.add_parser("import", help=_("add the pairs of a file or Hub dataset"), allow_abbrev=False)
    parser.add_argument("file", metavar="FILE", help=_("JSON lines, parquet, or a Hub dataset (owner/name)"))
    parser.add_argument(
        "--source", required=True, metavar="NAME", help=_("name of the dataset that the pairs come from")
    )
    parser.add_argument("--licence", required=True, metavar="L", help=_("of the source: CC-BY-NC-4.0"))
    parser.add_argument("--category", default="all", metavar="KEY", help=_("of rows that name none (all)"))
    parser.add_argument("--into", type=Path, default=Path("pool"), metavar="DIR", help=_("the pool (pool/)"))
    parser.add_argument("--revision", metavar="COMMIT", help=_("commit of the Hub dataset"))
    parser.add_argument("--split", metavar="SPLIT", help=_("split of the Hub dataset (train, or the only one)"))
    parser.add_argument("--images", type=Path, metavar="DIR", help=_("where image paths begin (the file's directory)"))
    parser.add_argument("--field", action="append", default=[], metavar="FIELD=COLUMN", help=f"{', '.join(FIELDS)}")
    parser.add_argument("--skip-bad", action="store_true", help=_("leave bad rows out, and record how many"))
    parser.set_defaults(run=import_command)


def import_command(arguments: argparse.Namespace) -> int:
    """Import a file. Returns the exit code."""
    settings = ImportSettings(
        check_name(arguments.source, "--source"),
        arguments.licence,
        category=check_name(arguments.category, "--category"),
        columns=_columns(arguments.field),
    )
    source = open_source(arguments.file, revision=arguments.revision, split=arguments.split)
    with locked(arguments.into):
        say(
            import_pairs(
                arguments.into, source, settings=settings, images=arguments.images, skip_bad=arguments.skip_bad
            )
        )
    return 0


def import_pairs(
    pool: Path, source: PairSource, *, settings: ImportSettings, images: Path | None = None, skip_bad: bool = False
) -> str:
    """Add the pairs of a source to a pool; the same source again changes nothing. Returns what was done.

    Raises:
        CurateError: rows cannot be used; nothing is imported then, unless ``skip_bad``.
    """
    record = read_record(pool)
    if any((earlier["sha256"], earlier["source"]) == (source.digest, settings.source) for earlier in record["imports"]):
        return _("{name} is in {pool} already, as {source}.", name=source.name, pool=pool, source=settings.source)
    known = read_pool(pool) if (pool / PAIRS).is_file() else ()
    reading = _Reading(pool, settings, images=images or source.folder, known={pair.id for pair in known})
    for row in follow(source.rows(), _("Reading {name}", name=source.name)):
        reading.take(row)
    if reading.problems and not skip_bad:
        raise CurateError(
            ngettext(
                "{name}: {n:,} row cannot be used, so nothing was imported. Correct them, or give "
                "--skip-bad.\n{listed}",
                "{name}: {n:,} rows cannot be used, so nothing was imported. Correct them, or give "
                "--skip-bad.\n{listed}",
                len(reading.problems),
                name=source.name,
                listed=listed(reading.problems),
            )
        )
    if not reading.pairs:
        raise CurateError(
            _("{name} holds no pair that can be used.\n{listed}", name=source.name, listed=listed(reading.problems))
        )
    record["imports"].append(_entry(source, settings, reading=reading))
    write_pool(pool, [*known, *reading.pairs], record=record)
    return _imported(reading, settings.source, pool=pool, total=len(known) + len(reading.pairs))


def _imported(reading: _Reading, source: str, *, pool: Path, total: int) -> str:
    taken, left_out = len(reading.pairs), len(reading.problems)
    if not left_out:
        return _(
            "{taken:,} pairs from {source}; {pool} holds {total:,}.",
            taken=taken,
            source=source,
            pool=pool,
            total=total,
        )
    return _(
        "{taken:,} pairs from {source}, {left_out:,} left out; {pool} holds {total:,}.",
        taken=taken,
        source=source,
        left_out=left_out,
        pool=pool,
        total=total,
    )


class _Reading:
    """The pairs of one import, and what is wrong with other rows."""

    def __init__(self, pool: Path, settings: ImportSettings, *, images: Path | None, known: set[str]) -> None:
        self.pairs: list[PoolPair] = []
        self.problems: list[str] = []
        self._pool, self._settings, self._images, self._known = pool, settings, images, known
        self._places: dict[str, str] = {}
        self._stored_images: dict[str, StoredImage] = {}

    def take(self, row: SourceRow) -> None:
        """Add the pair of a row, or its problem."""
        try:
            self.pairs.append(self._pair(row))
        except CurateError as error:
            self.problems.append(f"{row.place}: {error}")

    def _pair(self, row: SourceRow) -> PoolPair:
        if row.problem:
            raise CurateError(row.problem)
        number = len(self.pairs) + len(self.problems)
        pair = read_pair(row.fields, self._settings, number=number)
        if pair.id in self._known:
            raise CurateError(
                _("the pool has a pair with the id {id!r}; give another --source, or --field id=COLUMN", id=pair.id)
            )
        if pair.id in self._places:
            raise CurateError(
                _(
                    "the id {id!r} is on {place}, too; give each pair its own id",
                    id=pair.id,
                    place=self._places[pair.id],
                )
            )
        data = read_image(self._settings.value(row.fields, "image"), self._images)
        image = self._stored(data)
        self._places[pair.id] = row.place
        return replace(pair, image=image.path, image_sha256=image.sha256, image_hash=image.perceptual)

    def _stored(self, data: bytes) -> StoredImage:
        """Return the stored image; the same bytes are looked at once."""
        digest = hashlib.sha256(data).hexdigest()
        if digest not in self._stored_images:
            self._stored_images[digest] = store_image(data, self._pool)
        return self._stored_images[digest]


def _entry(source: PairSource, settings: ImportSettings, *, reading: _Reading) -> dict[str, Any]:
    return {
        "file": Path(source.name).name
        if source.folder is not None
        else f"{source.name}@{source.revision}/{source.split}",
        "sha256": source.digest,
        "source": settings.source,
        "licence": settings.licence,
        "pairs": len(reading.pairs),
        "left_out": len(reading.problems),
        "categories": dict(Counter(pair.category for pair in reading.pairs)),
    }


def _columns(given: Sequence[str]) -> dict[str, str]:
    columns = {}
    for text in given:
        field, equals, column = text.partition("=")
        if not equals or field not in FIELDS or not column:
            raise CurateError(
                _("--field {text}: give FIELD=COLUMN with a field of {names}.", text=text, names=", ".join(FIELDS))
            )
        columns[field] = column
    return columns
