"""Editions that a pool is compared with, and how thoroughly each was: by equal texts, similar texts, images."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from vlrb.benchmarks.spec import DEFINITIONS, MANIFEST, BenchmarkSpec, SpecError
from vlrb.benchmarks.spec_file import SPEC, load_spec
from vlrb.common.messages import Message, _
from vlrb.editions.errors import CurateError
from vlrb.editions.pools.compared_rows import edition_pairs
from vlrb.editions.pools.edition_signatures import SIGNATURES, SignatureIndex, read_signatures
from vlrb.editions.pools.near_duplicates import ComparedPair, Duplicate, EditionPrints, PairIndex
from vlrb.editions.pools.pairs import PoolPair
from vlrb.editions.pools.sources import PairSource
from vlrb.editions.progress import follow


@dataclass(frozen=True, slots=True)
class ComparedEdition:
    """An edition and what pairs are compared with. ``near``: None where neither its items nor signatures are there.

    ``pairs``: how many ``near`` holds; ``images``: how many of them with an image; ``expected``: how many the
    definition names (0: it names no number); ``dataset``: where the items are.
    """

    name: str
    prints: EditionPrints | None = None
    near: PairIndex | SignatureIndex | None = None
    pairs: int = 0
    images: int = 0
    expected: int = 0
    dataset: str = ""

    @property
    def is_complete(self) -> bool:
        """Whether texts and images of all its pairs are compared, and not equal texts alone."""
        return self.near is not None and self.images == self.pairs >= self.expected

    def find(self, pair: PoolPair) -> Duplicate | None:
        """Return the likeness of a pair to one of the edition: equal texts first."""
        equal = self.prints.find(pair) if self.prints else None
        if equal or self.near is None:
            return equal
        return self.near.find(ComparedPair.of(pair))

    def to_json(self) -> dict[str, object]:
        """Return how the edition is compared."""
        compared = {
            "edition": self.name, "equal_texts": self.prints is not None or self.near is not None,
            "similar_texts": self.near is not None, "pairs": self.pairs, "images": self.images,
        }  # fmt: skip
        return compared if self.is_complete else {**compared, "give": self._option()}

    def in_words(self) -> str:
        """Return how the edition is compared, and what to give where that is not all."""
        if self.is_complete:
            return _("{edition}: compared by texts and images of {pairs:,} pairs.", edition=self.name, pairs=self.pairs)
        return _("{how} To compare all: {option}", how=self._incomplete(), option=self._option())

    def _incomplete(self) -> Message:
        if self.near is None and self.prints is None:
            return _("{edition}: not compared.", edition=self.name)
        if self.near is None:
            return _("{edition}: compared by equal texts only; no similar texts, no images.", edition=self.name)
        if not self.images:
            return _(
                "{edition}: compared by texts of {pairs:,} pairs. Its images were not compared: no hashes are here.",
                edition=self.name,
                pairs=self.pairs,
            )
        return _(
            "{edition}: compared by texts of {pairs:,} pairs and images of {images:,}.",
            edition=self.name,
            pairs=self.pairs,
            images=self.images,
        )

    def _option(self) -> str:
        return f"--edition {self.name}=ITEMS" + (f" ({self.dataset})" if self.dataset else "")


def served_editions(*own: Path) -> list[ComparedEdition]:
    """Return the editions that this installation ships, or has in a directory of its own; no invented ones."""
    folders = {
        path.parent.name: path.parent
        for root in (DEFINITIONS, *own)
        for name in (SPEC, MANIFEST)
        for path in sorted(root.glob(f"*/{name}"))
    }
    editions = (_served(folder) for _name, folder in sorted(folders.items()))
    return [edition for edition in editions if edition is not None]


def _served(folder: Path) -> ComparedEdition | None:
    spec = definition(folder)
    if spec and spec.synthetic:
        return None
    if (folder / MANIFEST).is_file():
        edition = manifest_edition(folder / MANIFEST)
    else:
        edition = _with_signatures(ComparedEdition(folder.name), folder)
    if spec is None:
        return edition
    return replace(edition, expected=max((edition.pairs for edition in spec.editions), default=0), dataset=spec.dataset)


def definition(folder: Path) -> BenchmarkSpec | None:
    """Return the definition of a folder; None where it has none. Raises CurateError where it is wrong."""
    if not (folder / SPEC).is_file():
        return None
    try:
        return load_spec(folder.name, folder.parent)
    except SpecError as error:
        raise CurateError(str(error)) from None


def manifest_edition(path: Path) -> ComparedEdition:
    """Return the edition of a manifest, with the signatures beside it. Raises CurateError where it is none."""
    try:
        prints = EditionPrints.from_manifest(json.loads(path.read_bytes()))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, StopIteration):
        raise CurateError(
            _("{path} is not a manifest. `python -m maintenance manifest` makes one.", path=path)
        ) from None
    return _with_signatures(ComparedEdition(prints.name, prints), path.parent)


def _with_signatures(edition: ComparedEdition, folder: Path) -> ComparedEdition:
    index = read_signatures(folder / SIGNATURES)
    if index is None:
        return edition
    images = sum(bool(signature.image_sha256) for signature in index.signatures)
    return replace(edition, near=index, pairs=len(index.signatures), images=images)


def with_items(edition: ComparedEdition, pairs: Iterable[ComparedPair]) -> ComparedEdition:
    """Return an edition that is compared with its items instead of signatures. Raises CurateError without any."""
    index = PairIndex(edition.name)
    number = images = 0
    for pair in follow(pairs, _("Reading {name}", name=edition.name)):
        index.add(pair)
        number += 1
        images += bool(pair.image_sha256)
    if not number:
        raise CurateError(_("{edition}: no row has responses. Give the pairs of the edition.", edition=edition.name))
    return replace(edition, near=index, pairs=number, images=images)


def with_given_items(
    editions: Sequence[ComparedEdition], given: Mapping[str, Sequence[PairSource]], *, folders: Sequence[Path]
) -> list[ComparedEdition]:
    """Return the editions, those for which sources are given with their items.

    Raises:
        CurateError: a source is for none of the editions.
    """
    known = [edition.name for edition in editions]
    for name in given:
        if name not in known:
            raise CurateError(
                _(
                    "--edition {name}: no such edition is here ({known}). --training compares with other data.",
                    name=name,
                    known=", ".join(known),
                )
            )
    return [
        with_items(edition, edition_items(edition.name, given[edition.name], folders=folders))
        if edition.name in given
        else edition
        for edition in editions
    ]


def edition_items(name: str, sources: Sequence[PairSource], *, folders: Sequence[Path]) -> Iterator[ComparedPair]:
    """Yield the items of an edition; its definition names the columns. The last of the folders that has one counts."""
    specs = (definition(folder / name) for folder in reversed((DEFINITIONS, *folders)))
    spec = next((spec for spec in specs if spec is not None), None)
    for source in sources:
        yield from edition_pairs(source, spec.fields if spec else None)


def in_edition(pairs: Sequence[PoolPair], edition: ComparedEdition) -> Iterator[Duplicate]:
    """Yield pairs that an edition has."""
    for pair in follow(pairs, _("Comparing with {name}", name=edition.name), total=len(pairs)):
        result = edition.find(pair)
        if result is not None:
            yield result
