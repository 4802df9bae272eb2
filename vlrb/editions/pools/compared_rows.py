"""Rows of training sets and of editions, as pairs that a pool is compared with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from vlrb.benchmarks.spec import ItemFields
from vlrb.editions.errors import CurateError
from vlrb.editions.pools.images import inspect_image, read_image
from vlrb.editions.pools.near_duplicates import ComparedPair
from vlrb.editions.pools.pairs import ImportSettings
from vlrb.editions.pools.sources import PairSource

_ANY = ImportSettings("", "", category="", columns={})


def training_pairs(source: PairSource) -> Iterator[ComparedPair]:
    """Yield the rows of a training set; rows without a question or response are passed over."""
    for row in source.rows():
        compared = None if row.problem else _compared_pair(row.fields, row.place, folder=source.folder, settings=_ANY)
        if compared is not None and compared.query:
            yield compared


def edition_pairs(source: PairSource, fields: ItemFields | None) -> Iterator[ComparedPair]:
    """Yield the items of an edition; its own columns come first. The question may be missing, a response may not."""
    for row in source.rows():
        settings = _columns(row.fields, fields)
        compared = (
            None if row.problem else _compared_pair(row.fields, row.place, folder=source.folder, settings=settings)
        )
        if compared is not None:
            yield compared


def _columns(row: Mapping[str, Any], fields: ItemFields | None) -> ImportSettings:
    if fields is None or not all(name in row for name in fields.responses):
        return _ANY
    first, second = fields.responses
    return ImportSettings(
        "", "", category="", columns={"id": fields.id, "query": fields.question, "chosen": first, "rejected": second}
    )


def _compared_pair(
    row: Mapping[str, Any], place: str, *, folder: Path | None, settings: ImportSettings
) -> ComparedPair | None:
    query = settings.value(row, "query")
    both = settings.value(row, "response") or [settings.value(row, "chosen"), settings.value(row, "rejected")]
    texts = tuple(text for text in (both if isinstance(both, list) else [both]) if isinstance(text, str))
    if not isinstance(query, str | None) or not texts:
        return None
    sha256 = perceptual = ""
    if (image := settings.value(row, "image")) is not None:
        try:
            facts = inspect_image(read_image(image, folder))
            sha256, perceptual = facts.sha256, facts.perceptual
        except CurateError:  # the texts are compared all the same
            pass
    return ComparedPair(
        str(settings.value(row, "id") or place),
        query or "",
        responses=texts,
        image_sha256=sha256,
        image_hash=perceptual,
    )
