"""Editions and training sets that a pool is compared with, and how thoroughly each was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.spec import BenchmarkSpec, ItemFields, SpecError
from vlrb.benchmarks.spec_file import known_benchmarks, load_spec
from vlrb.editions.errors import CurateError, follow
from vlrb.editions.pools.images import inspect_image, read_image
from vlrb.editions.pools.near_duplicates import ComparedPair, PairIndex
from vlrb.editions.pools.pool_import import ImportSettings
from vlrb.editions.pools.sources import folder_of, read_source


def compared_sets(own: Path, others: Sequence[str]) -> Iterator[tuple[PairIndex, str]]:
    """Yield what a pool is compared with, each with a sentence about how.

    The editions that this installation ships or has in a directory of its own, but no invented ones, and other sets.
    ``others``: ``NAME=SOURCE`` of training sets, and of editions, whose definitions name the columns.

    Raises:
        CurateError: a set cannot be read.
    """
    sources: dict[str, list[str]] = {}
    for text in others:
        name, equals, source = text.partition("=")
        if not equals or not source:
            raise CurateError(f"--against {text}: give NAME=FILE, or NAME=owner/name@COMMIT for a Hub dataset.")
        sources.setdefault(name, []).append(source)
    try:
        specs = {name: spec for name in known_benchmarks(own) if not (spec := load_spec(name, own)).synthetic}
    except SpecError as error:
        raise CurateError(str(error)) from None
    for name in dict.fromkeys((*specs, *sources)):
        own_spec = specs.get(name)
        fields = own_spec.fields if own_spec else None
        pairs = [pair for source in sources.get(name, ()) for pair in _rows(source, fields)]
        if name in sources and not pairs:
            raise CurateError(f"{name}: no row has responses. Give its pairs.")
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
        facts = inspect_image(read_image(value, folder_of(source)))
    except CurateError:
        return {"image_sha256": "", "image_hash": ""}
    return {"image_sha256": facts.sha256, "image_hash": facts.perceptual}
