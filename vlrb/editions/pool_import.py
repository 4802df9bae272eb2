"""`vlrb edition pool import`: rows of a data set become pairs, all of them or none."""

from __future__ import annotations

import argparse
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vlrb.benchmarks.items import presentation_order, response_fingerprint
from vlrb.common.command_line import CommandError
from vlrb.editions.images import read_image, store_image
from vlrb.editions.pool import PAIRS, fingerprint_of, read_pool, write_lines
from vlrb.editions.sources import folder_of, follow, listed, read_source

LONGEST_TEXT = 64 * 1024
FIELDS: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "ID", "idx"),
    "query": ("query", "question", "prompt"),
    "response": ("response", "responses"),
    "chosen": ("chosen",),
    "rejected": ("rejected",),
    "preferred": ("preferred", "human_ranking", "ranking"),
    "image": ("image", "image_path", "Image"),
    "category": ("category",),
}
"""What a pair needs -> the columns that are looked for, in this order; `--field` names others."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")


@dataclass(frozen=True, slots=True)
class ImportSettings:
    """What an import says about all of its rows. ``columns``: names of columns that replace the usual ones."""

    source: str = ""
    licence: str = ""
    category: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """Names of all columns that are looked for."""
        return [*self.columns.values(), *(name for names in FIELDS.values() for name in names)]

    def value(self, row: Mapping[str, Any], name: str) -> Any:
        """Return the value of a field of FIELDS in a row; None where it has none."""
        names = (self.columns[name],) if name in self.columns else FIELDS[name]
        return next((row[column] for column in names if row.get(column) is not None), None)


def add_import_command(kinds: Any) -> None:
    """Add `pool import`."""
    take = kinds.add_parser("import", help="add the pairs of a file or Hub dataset", allow_abbrev=False)
    take.add_argument("file", metavar="FILE", help="JSON lines, parquet, or a Hub dataset (owner/name@COMMIT)")
    take.add_argument("--source", required=True, metavar="NAME", help="name of the dataset that the pairs come from")
    take.add_argument("--licence", required=True, metavar="L", help="of the source: CC-BY-NC-4.0")
    take.add_argument("--category", default="all", metavar="KEY", help="of rows that name none (all)")
    take.add_argument("--into", type=Path, default=Path("pool"), metavar="DIR", help="the pool (pool/)")
    take.add_argument("--images", type=Path, metavar="DIR", help="where image paths begin (the file's directory)")
    take.add_argument("--field", action="append", default=[], metavar="FIELD=COLUMN", help=", ".join(FIELDS))
    take.set_defaults(run=import_command)


def import_command(arguments: argparse.Namespace) -> int:
    """Import a file. Returns the exit code."""
    columns = {}
    for text in arguments.field:
        name, equals, column = text.partition("=")
        if not equals or name not in FIELDS or not column:
            raise CommandError(f"--field {text}: give FIELD=COLUMN with a field of {', '.join(FIELDS)}.")
        columns[name] = column
    names = check_name(arguments.source, "--source"), check_name(arguments.category, "--category")
    settings = ImportSettings(names[0], arguments.licence, category=names[1], columns=columns)
    print(import_pairs(arguments.into, arguments.file, settings=settings, images=arguments.images))
    return 0


def check_name(value: str, option: str) -> str:
    """Return a name that may stand in ids and paths. Raises CommandError for any other text."""
    if not _NAME.fullmatch(value):
        raise CommandError(f"{option} {value[:80]!r}: use letters, digits, dots and dashes, at most 64.")
    return value


def import_pairs(pool: Path, source: str, *, settings: ImportSettings, images: Path | None = None) -> str:
    """Add the pairs of a source to a pool; pairs that it has already are passed over. Returns what was done.

    Raises:
        CommandError: rows cannot be used; nothing is imported then.
    """
    pairs = {pair["id"]: pair for pair in read_pool(pool)} if (pool / PAIRS).is_file() else {}
    known = len(pairs)
    places: dict[str, str] = {}
    stored: dict[str, dict[str, str]] = {}  # the same bytes are looked at once
    problems: list[str] = []
    for number, row in enumerate(follow(read_source(source, settings.names), f"Reading {source}")):
        place = f"row {number + 1}"
        try:
            pair = read_pair(row, settings, number=number)
            data = read_image(settings.value(row, "image"), images or folder_of(source))
            digest = hashlib.sha256(data).hexdigest()
            stored[digest] = stored.get(digest) or store_image(data, pool)
            pair |= stored[digest]
            pair["item"] = fingerprint_of(pair)
            if (first := places.setdefault(pair["id"], place)) != place:
                raise CommandError(f"the id {pair['id']!r} is on {first}, too; give each pair its own id")
            if pairs.setdefault(pair["id"], pair) != pair:
                raise CommandError(f"the pool has another pair with the id {pair['id']!r}; give another --source")
        except CommandError as error:
            problems.append(f"{place}: {error}")
    if problems or not pairs:
        raise CommandError(
            f"{source}: {len(problems):,} rows cannot be used, so nothing was imported.\n{listed(problems)}"
        )
    write_lines(pool / PAIRS, pairs.values())
    return f"{len(pairs) - known:,} new pairs from {settings.source}; {pool} holds {len(pairs):,}."


def read_pair(row: Mapping[str, Any], settings: ImportSettings, *, number: int) -> dict[str, Any]:
    """Return the pair of a row, without its image yet.

    Raises:
        CommandError: a field is missing or wrong; the message names it and the remedy.
    """
    query = _text(settings.value(row, "query"), "query")
    responses, preferred = _responses(row, settings)
    prints = response_fingerprint(responses[0]), response_fingerprint(responses[1])
    if prints[0] == prints[1]:
        raise CommandError("both responses are the same text; remove the row")
    order = presentation_order(prints)
    category = settings.value(row, "category")
    pair = {
        "id": _id(settings.value(row, "id"), settings.source, number=number),
        "source": settings.source,
        "licence": settings.licence,
        "query": query,
        "preferred": None if preferred is None else order.index(preferred),
        "category": check_name(category if isinstance(category, str) else settings.category, "category"),
        "response": [responses[place] for place in order],
    }
    return {name: value for name, value in pair.items() if value is not None}


def _responses(row: Mapping[str, Any], settings: ImportSettings) -> tuple[tuple[str, str], int | None]:
    both = settings.value(row, "response")
    if both is None:
        chosen, rejected = settings.value(row, "chosen"), settings.value(row, "rejected")
        if chosen is None or rejected is None:
            raise CommandError(
                "`response` (two texts) is missing, and `chosen` with `rejected`; name columns with --field"
            )
        return (_text(chosen, "chosen"), _text(rejected, "rejected")), 0
    if not isinstance(both, list | tuple) or len(both) != 2:
        raise CommandError("`response` must be a list of two texts")
    return (_text(both[0], "response"), _text(both[1], "response")), _preferred(settings.value(row, "preferred"))


def _preferred(value: Any) -> int | None:
    """Return the index of the preferred response: of an index, or of a ranking in which 0 is the better place."""
    if value is None or (type(value) is int and value in (0, 1)):
        return value
    if isinstance(value, list | tuple) and sorted(value) == [0, 1]:
        return list(value).index(0)
    raise CommandError("`preferred` must be 0 or 1, the index of the better response, or a ranking [0, 1] or [1, 0]")


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise CommandError(f"`{name}` must be a text; name another column with --field {name}=COLUMN")
    if len(value) > LONGEST_TEXT:
        raise CommandError(f"`{name}` has {len(value):,} characters; at most {LONGEST_TEXT:,} are read, cut it")
    return value


def _id(value: Any, source: str, *, number: int) -> str:
    name = str(number) if value is None else str(value)
    if not name or len(name) > 200 or not name.isprintable():
        raise CommandError(
            "`id` must be a printable text of at most 200 characters; name another with --field id=COLUMN"
        )
    return name if name.startswith(source) else f"{source}-{name}"
