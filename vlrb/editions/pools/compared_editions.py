"""Editions that a pool is compared with, and how thoroughly each was: by equal texts, similar texts, images."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from vlrb.benchmarks.items import response_fingerprint
from vlrb.benchmarks.spec import DEFINITIONS, MANIFEST, BenchmarkSpec, ItemFields, SpecError
from vlrb.benchmarks.spec_file import SPEC, load_spec
from vlrb.editions.errors import CurateError, follow
from vlrb.editions.pools.images import inspect_image, read_image
from vlrb.editions.pools.near_duplicates import (
    LONG_RESPONSE,
    SAME_PAIR,
    SAME_RESPONSE,
    SIGNATURES,
    ComparedPair,
    Duplicate,
    PairIndex,
    read_signatures,
)
from vlrb.editions.pools.pool import PoolPair, fingerprint_of
from vlrb.editions.pools.pool_import import ImportSettings
from vlrb.editions.pools.sources import PairSource, open_source

_ANY = ImportSettings()


@dataclass(frozen=True, slots=True)
class ComparedEdition:
    """An edition and what pairs are compared with. ``near``: None where neither its items nor signatures are there.

    ``equal``: fingerprint of a pair or response, from its manifest -> id; ``expected``: how many pairs the definition
    names (0: no number); ``dataset``: where they are.
    """

    name: str
    equal: Mapping[str, str] = field(default_factory=dict)
    near: PairIndex | None = None
    expected: int = 0
    dataset: str = ""

    @property
    def images(self) -> int:
        """How many of its pairs are compared by an image."""
        return sum(bool(pair.image_sha256) for pair in self.near.pairs) if self.near else 0

    def find(self, pair: PoolPair, compared: ComparedPair) -> Duplicate | None:
        """Return the likeness of a pair to one of the edition: equal texts first, then one equal long response."""
        long = (text for text in pair["response"] if len(text.split()) >= LONG_RESPONSE)
        prints = [(fingerprint_of(pair), SAME_PAIR), *((response_fingerprint(text), SAME_RESPONSE) for text in long)]
        for digest, kind in prints:
            if digest in self.equal:
                return Duplicate(pair["id"], kind, self.name, other=self.equal[digest])
        return self.near.find(compared) if self.near else None

    def to_json(self) -> dict[str, Any]:
        """Return how the edition is compared; ``give``: what to add to compare all of it."""
        pairs = len(self.near.pairs) if self.near else 0
        compared = {
            "edition": self.name, "equal_texts": bool(self.equal or self.near), "similar_texts": self.near is not None,
            "pairs": pairs, "images": self.images,
        }  # fmt: skip
        if self.near and self.images == pairs >= self.expected:
            return compared
        return compared | {"give": f"--edition {self.name}=ITEMS" + (f" ({self.dataset})" if self.dataset else "")}


def in_words(compared: Mapping[str, Any]) -> str:
    """Return how an edition is compared, and what to give where that is not all."""
    name, pairs, images = compared["edition"], compared["pairs"], compared["images"]
    how = "compared by equal texts only" if compared["equal_texts"] else "not compared"
    if compared["similar_texts"]:
        how = f"compared by texts of {pairs:,} pairs and images of {images:,}"
    return f"{name}: {how}." + (f" To compare all: {compared['give']}" if "give" in compared else "")


def compared_editions(own: Sequence[Path], manifests: Sequence[Path], *, items: Sequence[str]) -> list[ComparedEdition]:
    """Return the editions that this installation ships or has in directories of its own, but no invented ones, and
    those of other manifests. ``items``: ``ID=SOURCE`` of some, whose pairs are then read.

    Raises:
        CurateError: something cannot be read, or is for none of the editions.
    """
    folders = {
        path.parent.name: path.parent
        for root in (DEFINITIONS, *own)
        for name in (SPEC, MANIFEST)
        for path in sorted(root.glob(f"*/{name}"))
    }
    served = (_served(folder) for _name, folder in sorted(folders.items()))
    editions = [edition for edition in served if edition is not None] + [_of_manifest(path) for path in manifests]
    names = [edition.name for edition in editions]
    given: dict[str, list[PairSource]] = {}
    for text in items:
        name, equals, source = text.partition("=")
        if not equals or not source:
            raise CurateError(f"--edition {text}: give ID=ITEMS, a file or a Hub dataset as owner/name@COMMIT.")
        if name not in names:
            raise CurateError(
                f"--edition {name}: no such edition is here ({', '.join(names)}). --training compares with other data."
            )
        given.setdefault(name, []).append(open_source(source, usual="test"))
    return [_with_items(edition, given.get(edition.name), own=own) for edition in editions]


def _served(folder: Path) -> ComparedEdition | None:
    spec = _definition(folder)
    if spec and spec.synthetic:
        return None
    manifest = folder / MANIFEST
    edition = _of_manifest(manifest) if manifest.is_file() else _with_signatures(ComparedEdition(folder.name), folder)
    if spec is None:
        return edition
    return replace(edition, expected=max((edition.pairs for edition in spec.editions), default=0), dataset=spec.dataset)


def _definition(folder: Path) -> BenchmarkSpec | None:
    try:
        return load_spec(folder.name, folder.parent) if (folder / SPEC).is_file() else None
    except SpecError as error:
        raise CurateError(str(error)) from None


def _of_manifest(path: Path) -> ComparedEdition:
    """Return the edition of a manifest, with the signatures beside it. Raises CurateError where it is none."""
    try:
        manifest = json.loads(path.read_bytes())
        equal: dict[str, str] = {}
        for item in manifest["items"]:
            name = item.get("id") or next(iter(item["ids"].values()))
            for digest in (item["key"][:64], *item["responses"]):
                equal.setdefault(digest, name)
        edition = ComparedEdition(manifest["benchmark"], equal)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, StopIteration):
        raise CurateError(f"{path} is not a manifest. `python -m maintenance manifest` makes one.") from None
    return _with_signatures(edition, path.parent)


def _with_signatures(edition: ComparedEdition, folder: Path) -> ComparedEdition:
    pairs = read_signatures(folder / SIGNATURES)
    return edition if pairs is None else replace(edition, near=PairIndex(edition.name, pairs))


def _with_items(
    edition: ComparedEdition, sources: Sequence[PairSource] | None, *, own: Sequence[Path]
) -> ComparedEdition:
    if sources is None:
        return edition
    pairs = PairIndex(edition.name, edition_items(edition.name, sources, own=own))
    if not pairs.pairs:
        raise CurateError(f"{edition.name}: no row has responses. Give the pairs of the edition.")
    return replace(edition, near=pairs)


def edition_items(name: str, sources: Sequence[PairSource], *, own: Sequence[Path]) -> Iterator[ComparedPair]:
    """Yield the items of an edition. Its definition names the columns; the last directory that has one counts."""
    specs = (_definition(folder / name) for folder in reversed((DEFINITIONS, *own)))
    spec = next((spec for spec in specs if spec is not None), None)
    for source in sources:
        yield from compared_rows(source, spec.fields if spec else None)


def compared_rows(source: PairSource, fields: ItemFields | None = None) -> Iterator[ComparedPair]:
    """Yield the rows of an edition, by its columns if it has ``fields``, or of a training set; rows without a response
    are passed over, and images that cannot be read are not compared."""
    for row in follow(source.rows(), f"Reading {source.name}"):
        if not isinstance(row.value, dict):
            continue
        settings = _ANY
        if fields is not None and all(name in row.value for name in fields.responses):
            names = ("id", "query", "chosen", "rejected")
            settings = ImportSettings(
                columns=dict(zip(names, (fields.id, fields.question, *fields.responses), strict=True))
            )
        query, texts = settings.value(row.value, "query"), settings.value(row.value, "response")
        both = texts or [settings.value(row.value, "chosen"), settings.value(row.value, "rejected")]
        held = [text for text in (both if isinstance(both, list) else [both]) if isinstance(text, str)]
        if held and isinstance(query, str | None):
            image = _image(settings.value(row.value, "image"), source)
            name = str(settings.value(row.value, "id") or row.place)
            yield ComparedPair.of({"id": name, "query": query or "", "response": held, **image})


def _image(value: Any, source: PairSource) -> dict[str, str]:
    try:
        facts = inspect_image(read_image(value, source.folder))
    except CurateError:
        return {"image_sha256": "", "image_hash": ""}
    return {"image_sha256": facts.sha256, "image_hash": facts.perceptual}


def in_index(
    pairs: Sequence[PoolPair], compared: Sequence[ComparedPair], *, of: ComparedEdition
) -> Iterable[Duplicate]:
    """Yield pairs that an edition or a training set has."""
    both = follow(zip(pairs, compared, strict=True), f"Comparing with {of.name}", total=len(pairs))
    return (found for pair, own in both if (found := of.find(pair, own)) is not None)
