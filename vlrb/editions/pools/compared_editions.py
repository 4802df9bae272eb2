"""Editions and training sets that a pool is compared with, and how thoroughly each was."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from vlrb.benchmarks.spec import DEFINITIONS, MANIFEST, BenchmarkSpec, ItemFields, SpecError
from vlrb.benchmarks.spec_file import SPEC, load_spec
from vlrb.editions.errors import CurateError, follow
from vlrb.editions.pools.images import inspect_image, read_image
from vlrb.editions.pools.near_duplicates import SIGNATURES, ComparedPair, PairIndex, read_signatures
from vlrb.editions.pools.pool_import import ImportSettings
from vlrb.editions.pools.sources import folder_of, read_source


class ComparedSets:
    """The editions that this installation ships or has in a directory of its own, but no invented ones, and other sets.

    ``others``: ``NAME=SOURCE`` of training sets, and of editions, whose pairs are then compared instead of signatures.
    """

    def __init__(self, own: Path, *, others: Sequence[str] = ()) -> None:
        folders = {
            path.parent.name: path.parent
            for root in (DEFINITIONS, own)
            for name in (SPEC, MANIFEST)
            for path in sorted(root.glob(f"*/{name}"))
        }
        self._folders = dict(sorted(folders.items()))
        self._specs = {name: _definition(folder) for name, folder in self._folders.items()}
        self._editions = [name for name, spec in self._specs.items() if spec is None or not spec.synthetic]
        self._given: dict[str, list[str]] = {}
        for text in others:
            name, equals, source = text.partition("=")
            if not equals or not source:
                raise CurateError(f"--against {text}: give NAME=FILE, or NAME=owner/name@COMMIT for a Hub dataset.")
            self._given.setdefault(name, []).append(source)

    def indices(self) -> list[PairIndex]:
        """Return the pairs of all sets."""
        return [self._index(name) for name in dict.fromkeys((*self._editions, *self._given))]

    def items(self, name: str, sources: Sequence[str]) -> Iterator[ComparedPair]:
        """Yield the pairs of sources; the definition of an edition names their columns."""
        spec = self._specs.get(name)
        for source in sources:
            yield from _rows(source, spec.fields if spec else None)

    def _index(self, name: str) -> PairIndex:
        folder = self._folders.get(name)
        equal = _fingerprints(folder / MANIFEST) if folder and (folder / MANIFEST).is_file() else {}
        if name in self._given:
            index = PairIndex(name, self.items(name, self._given[name]), equal=equal)
            if not index.pairs:
                raise CurateError(f"{name}: no row has responses. Give its pairs.")
            return index
        return PairIndex(name, read_signatures(folder / SIGNATURES) if folder else [], equal=equal)

    def comparison(self, index: PairIndex) -> dict[str, Any]:
        """Return how a set is compared; ``give``: what to add to compare all of it."""
        spec = self._specs.get(index.where)
        pairs, images = len(index.pairs), sum(bool(pair.image_sha256) for pair in index.pairs)
        compared = {"name": index.where, "equal": bool(index.equal or pairs), "pairs": pairs, "images": images}
        compared["files"] = self._given.get(index.where, [])
        expected = max((edition.pairs for edition in spec.editions), default=0) if spec else 0
        if pairs and images == pairs >= expected:
            return compared
        return compared | {"give": f"--against {index.where}=ITEMS" + (f" ({spec.dataset})" if spec else "")}


def in_words(compared: Mapping[str, Any]) -> str:
    """Return how a set is compared, and what to give where that is not all."""
    how = "compared by equal texts only" if compared["equal"] else "not compared"
    if compared["pairs"]:
        how = f"compared by texts of {compared['pairs']:,} pairs and images of {compared['images']:,}"
    return f"{compared['name']}: {how}." + (f" To compare all: {compared['give']}" if "give" in compared else "")


def _definition(folder: Path) -> BenchmarkSpec | None:
    try:
        return load_spec(folder.name, folder.parent) if (folder / SPEC).is_file() else None
    except SpecError as error:
        raise CurateError(str(error)) from None


def _fingerprints(manifest: Path) -> dict[str, str]:
    """Return fingerprint of a pair or response -> id. Raises CurateError where the file is no manifest."""
    try:
        return {
            digest: item.get("id") or next(iter(item["ids"].values()))
            for item in reversed(json.loads(manifest.read_bytes())["items"])
            for digest in (item["key"][:64], *item["responses"])
        }
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, StopIteration):
        raise CurateError(f"{manifest} is not a manifest. `python -m maintenance manifest` makes one.") from None


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
