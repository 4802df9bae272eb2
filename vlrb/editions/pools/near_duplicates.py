"""Pairs that a pool, an edition or a training set has already: equal or similar texts, equal or similar images.

Similar texts share at least eight in ten of their runs of three words (Jaccard); candidates come from MinHash and are
compared exactly. Similar images differ in at most four of the 64 bits of their perceptual hashes.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

from vlrb.benchmarks.items import normalise_query, normalise_response, response_fingerprint
from vlrb.common.messages import _
from vlrb.editions.pools.pairs import DROPPED, PoolPair
from vlrb.editions.progress import follow

SAME_PAIR, SAME_RESPONSE, SIMILAR_TEXT, SAME_QUESTION, SIMILAR_IMAGE = KINDS = (
    "same-pair", "same-response", "similar-text", "same-question", "similar-image",
)  # fmt: skip
"""Equal texts; an equal long response; similar texts; an equal question about a similar image; such an image alone."""
LEFT_OUT = (SAME_PAIR, SAME_RESPONSE, SIMILAR_TEXT, SAME_QUESTION)
"""Kinds that keep a pair out of what a filter sees; one image may well have several questions."""
SIMILARITY = 0.8
IMAGE_BITS = 4
LONG_RESPONSE = 8  # words from which on an equal response is no chance
POOL = "pool"
_SHINGLE = 3  # words
_PERMUTATIONS = 64
_TEXT_BANDS = (16, 4)  # finds 9,998 of 10,000 pairs of similarity 0.8: 1 - (1 - 0.8^4)^16
_BANDS = IMAGE_BITS + 1  # of two hashes within IMAGE_BITS, one band at least is equal


@dataclass(frozen=True, slots=True)
class Duplicate:
    """``pair`` is like ``other`` of ``where``: the pool, an edition or a training set. ``similarity``: of texts."""

    pair: str
    kind: str
    where: str
    other: str
    similarity: float = 1.0


@dataclass(frozen=True)
class ComparedPair:
    """What two pairs are compared by."""

    id: str
    query: str
    responses: tuple[str, ...]
    image_sha256: str
    image_hash: str

    @classmethod
    def of(cls, pair: PoolPair) -> ComparedPair:
        """Return what a pair of a pool is compared by."""
        return cls(
            pair.id, pair.query, responses=pair.responses, image_sha256=pair.image_sha256, image_hash=pair.image_hash
        )

    @cached_property
    def question(self) -> str:
        """The question, normalised and in small letters."""
        return normalise_query(self.query, DROPPED).casefold()

    @cached_property
    def identity(self) -> bytes:
        """Digest of all texts, normalised, whatever the order of the responses."""
        return sha256("\x00".join(self._texts()).encode()).digest()

    def shingles(self) -> frozenset[str]:
        """Return the runs of three words of each text; a shorter text is one run. Not kept: a pool has millions."""
        return frozenset(run for text in self._texts() for run in _runs(text.split()))

    def _texts(self) -> tuple[str, ...]:
        return (self.question, *sorted(normalise_response(text).casefold() for text in self.responses))


@dataclass(frozen=True, slots=True)
class EditionPrints:
    """Fingerprints of an edition that is served, from its manifest."""

    name: str
    pairs: Mapping[str, str]  # fingerprint -> id
    responses: Mapping[str, str]  # response fingerprint -> id

    @classmethod
    def from_manifest(cls, manifest: Mapping[str, Any]) -> EditionPrints:
        """Return those of a manifest. Raises KeyError where it is none."""
        pairs: dict[str, str] = {}
        responses: dict[str, str] = {}
        for item in manifest["items"]:
            name = item.get("id") or next(iter(item["ids"].values()))
            pairs.setdefault(item["key"][:64], name)
            for response in item["responses"]:
                responses.setdefault(response, name)
        return cls(manifest["benchmark"], pairs, responses=responses)

    def find(self, pair: PoolPair) -> Duplicate | None:
        """Return whether the edition has a pair: all texts equal, or one long response equal."""
        if pair.fingerprint in self.pairs:
            return Duplicate(pair.id, SAME_PAIR, where=self.name, other=self.pairs[pair.fingerprint])
        long = [text for text in pair.responses if len(text.split()) >= LONG_RESPONSE]
        shared = [digest for digest in map(response_fingerprint, long) if digest in self.responses]
        return Duplicate(pair.id, SAME_RESPONSE, where=self.name, other=self.responses[shared[0]]) if shared else None


def _runs(words: Sequence[str]) -> Iterator[str]:
    for start in range(max(1, len(words) - _SHINGLE + 1)):
        yield " ".join(words[start : start + _SHINGLE])


def similarity(first: ComparedPair, second: ComparedPair) -> float:
    """Return the share of runs of words that two pairs have in common, of all that they have."""
    return _jaccard(first.shingles(), second.shingles())


def _jaccard(first: frozenset[str], second: frozenset[str]) -> float:
    union = len(first | second)
    return len(first & second) / union if union else 0.0


def hash_distance(first: str, second: str) -> int:
    """Return in how many bits two perceptual hashes differ."""
    return (int(first, 16) ^ int(second, 16)).bit_count()


def asks_of_another_image(pair: ComparedPair, image_sha256: str, *, image_hash: str) -> bool:
    """Return whether a pair has short responses and an image unlike another: "Is there a dog?" may be asked of many."""
    if max(len(text.split()) for text in pair.responses) >= LONG_RESPONSE:
        return False
    if not pair.image_sha256 or not image_sha256 or pair.image_sha256 == image_sha256:
        return False
    known = bool(pair.image_hash and image_hash)
    return not known or hash_distance(pair.image_hash, image_hash) > IMAGE_BITS


class PairIndex:
    """Pairs that others are compared with."""

    def __init__(self, where: str) -> None:
        from datasketch import MinHash, MinHashLSH

        self._where = where
        self._empty = MinHash(num_perm=_PERMUTATIONS, seed=1, hashfunc=zlib.crc32)
        self._signatures: dict[str, tuple[Any, frozenset[str]]] = {}
        self._pairs: list[ComparedPair] = []
        self._identities: dict[bytes, list[int]] = defaultdict(list)
        self._similar = MinHashLSH(num_perm=_PERMUTATIONS, params=_TEXT_BANDS)
        self._images: dict[str, list[int]] = defaultdict(list)
        self._bands: dict[tuple[int, int], list[int]] = defaultdict(list)

    def add(self, pair: ComparedPair) -> None:
        """Compare later pairs with this one, too."""
        number = len(self._pairs)
        self._pairs.append(pair)
        self._identities[pair.identity].append(number)
        self._similar.insert(number, self._signature(pair)[0])
        if pair.image_sha256:
            self._images[pair.image_sha256].append(number)
        for band in _bands(pair.image_hash):
            self._bands[band].append(number)

    def find(self, pair: ComparedPair) -> Duplicate | None:
        """Return the strongest likeness of a pair to one in the index; None where there is none."""
        equal = [
            candidate
            for candidate in self._identities.get(pair.identity, ())
            if not self._asks_of_another_image(pair, candidate)
        ]
        if equal:
            return self._duplicate(pair, SAME_PAIR, place=equal[0], share=1.0)
        signature, own = self._signature(pair)
        near = [
            (_jaccard(own, self._pairs[candidate].shingles()), -candidate)
            for candidate in self._similar.query(signature)
            if not self._asks_of_another_image(pair, candidate)
        ]
        share, place = max(near, default=(0.0, 0))
        if share >= SIMILARITY:
            return self._duplicate(pair, SIMILAR_TEXT, place=-place, share=share)
        places = self._with_image(pair)
        same_question = [place for place in places if self._pairs[place].question == pair.question]
        if same_question:
            return self._duplicate(pair, SAME_QUESTION, place=same_question[0])
        return self._duplicate(pair, SIMILAR_IMAGE, place=places[0]) if places else None

    def _asks_of_another_image(self, pair: ComparedPair, place: int) -> bool:
        other = self._pairs[place]
        return asks_of_another_image(pair, other.image_sha256, image_hash=other.image_hash)

    def _signature(self, pair: ComparedPair) -> tuple[Any, frozenset[str]]:
        """Return signature and runs of words; those of the pair before are kept, since it may be added next."""
        if pair.id not in self._signatures:
            signature, runs = self._empty.copy(), pair.shingles()
            signature.update_batch([run.encode() for run in runs])
            self._signatures = {pair.id: (signature, runs)}
        return self._signatures[pair.id]

    def _duplicate(self, pair: ComparedPair, kind: str, *, place: int, share: float | None = None) -> Duplicate:
        other = self._pairs[place]
        return Duplicate(
            pair.id,
            kind,
            where=self._where,
            other=other.id,
            similarity=round(similarity(pair, other) if share is None else share, 3),
        )

    def _with_image(self, pair: ComparedPair) -> list[int]:
        result = set(self._images.get(pair.image_sha256, ())) if pair.image_sha256 else set()
        near = {candidate for band in _bands(pair.image_hash) for candidate in self._bands.get(band, ())}
        result |= {
            candidate
            for candidate in near
            if hash_distance(self._pairs[candidate].image_hash, pair.image_hash) <= IMAGE_BITS
        }
        return sorted(result)


def _bands(image_hash: str) -> Iterator[tuple[int, int]]:
    """Yield (number, bits) of the bands of a hash of 64 bits."""
    if not image_hash:
        return
    bits, width = int(image_hash, 16), -(-64 // _BANDS)
    for band in range(_BANDS):
        yield band, bits >> band * width & (1 << width) - 1


def inside(pairs: Sequence[PoolPair]) -> Iterator[Duplicate]:
    """Yield pairs that are like an earlier one of the pool; the earlier one is none itself."""
    index = PairIndex(POOL)
    for pair in follow(pairs, _("Comparing pairs of the pool"), total=len(pairs)):
        compared = ComparedPair.of(pair)
        result = index.find(compared)
        if result is not None:
            yield result
        if result is None or result.kind == SIMILAR_IMAGE:
            index.add(compared)


def in_training_set(pairs: Sequence[PoolPair], name: str, *, rows: Iterable[ComparedPair]) -> Iterator[Duplicate]:
    """Yield pairs that a training set has."""
    index = PairIndex(name)
    for row in follow(rows, _("Reading {name}", name=name)):
        index.add(row)
    for pair in follow(pairs, _("Comparing with {name}", name=name), total=len(pairs)):
        result = index.find(ComparedPair.of(pair))
        if result is not None:
            yield result
