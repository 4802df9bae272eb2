"""Pairs that a pool, an edition or a training set has already: equal or similar texts, equal or similar images.

Similar texts share at least eight in ten of their runs of three words (Jaccard). Candidates come from MinHash and are
compared exactly. Similar images differ in at most four of the 64 bits of their perceptual hashes.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np

from vlrb.arrays import BoolArray
from vlrb.benchmarks.items import normalise_query, normalise_response, response_fingerprint
from vlrb.editions.pool import DROPPED, fingerprint_of
from vlrb.editions.sources import follow

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
_PERMUTATIONS, _SEED = 96, 1
_BANDS = (24, 4)  # misses 3 of a million pairs of similarity 0.8: (1 - 0.8^4)^24


class Duplicate(NamedTuple):
    """``pair`` is like ``other`` of ``where``: the pool, an edition or a training set. ``similarity``: of texts."""

    pair: str
    kind: str
    where: str
    other: str
    similarity: float = 1.0


@dataclass(frozen=True)
class ComparedPair:
    """What two pairs are compared by. ``texts``: the question and the responses, normalised, in an order of their own.
    ``prints``: fingerprints of the pair and of long responses -> kind."""

    id: str
    image_sha256: str
    image_hash: str
    texts: tuple[str, ...]
    prints: Mapping[str, str]

    @classmethod
    def of(cls, pair: Mapping[str, Any]) -> ComparedPair:
        """Return what a pair of a pool, or a row of an edition, is compared by."""
        question = normalise_query(pair["query"], DROPPED).casefold()
        texts = (question, *sorted(normalise_response(text).casefold() for text in pair["response"]))
        long = (text for text in pair["response"] if len(text.split()) >= LONG_RESPONSE)
        prints = {fingerprint_of(pair): SAME_PAIR} | dict.fromkeys(map(response_fingerprint, long), SAME_RESPONSE)
        return cls(pair["id"], pair["image_sha256"], pair["image_hash"], texts=texts, prints=prints)

    @cached_property
    def minhash(self) -> Any:
        """The minima of its runs of words; the order of the responses does not change them."""
        minima = _empty().copy()
        minima.update_batch([run.encode() for run in self.shingles()])
        return minima

    def shingles(self) -> frozenset[str]:
        """Return the runs of three words of each text; a shorter text is one run. Not kept: a pool has millions."""
        runs = set()
        for words in map(str.split, self.texts):
            runs |= {" ".join(words[i : i + _SHINGLE]) for i in range(max(1, len(words) - _SHINGLE + 1))}
        return frozenset(runs)

    def asks_of_another_image(self, other: ComparedPair) -> bool:
        """Return whether it has short responses and an image unlike that: "Is there a dog?" may be asked of many."""
        if max(len(text.split()) for text in self.texts[1:]) >= LONG_RESPONSE:
            return False
        if not self.image_sha256 or not other.image_sha256 or self.image_sha256 == other.image_sha256:
            return False
        known = bool(self.image_hash and other.image_hash)
        return not known or (int(self.image_hash, 16) ^ int(other.image_hash, 16)).bit_count() > IMAGE_BITS


@cache
def _empty() -> Any:
    """Return a MinHash of nothing; its permutations are made once."""
    from datasketch import MinHash

    return MinHash(num_perm=_PERMUTATIONS, seed=_SEED, hashfunc=zlib.crc32)


def similarity(first: ComparedPair, second: ComparedPair) -> float:
    """Return the share of runs of words that two pairs have in common, of all that they have."""
    runs, others = first.shingles(), second.shingles()
    return len(runs & others) / (len(runs | others) or 1)


class PairIndex:
    """Pairs that others are compared with. ``where``: the pool, an edition or a training set.

    ``equal``: fingerprints of an edition's pairs and responses, from its manifest -> id.
    """

    def __init__(self, where: str, pairs: Sequence[ComparedPair], *, equal: Mapping[str, str] | None = None) -> None:
        from datasketch import MinHashLSH

        self.where, self.pairs, self.equal = where, pairs, equal or {}
        self._similar = MinHashLSH(num_perm=_PERMUTATIONS, params=_BANDS)
        for number, pair in enumerate(self.pairs):
            self._similar.insert(number, pair.minhash)
        self._digests = np.array([int(pair.image_sha256[:16] or "0", 16) for pair in self.pairs], np.uint64)
        self._hashes = np.array([int(pair.image_hash or "0", 16) for pair in self.pairs], np.uint64)
        self._hashed = np.array([bool(pair.image_hash) for pair in self.pairs], bool)

    def find(self, pair: ComparedPair, among: BoolArray | None = None) -> Duplicate | None:
        """Return the strongest likeness of a pair to one in the index; None where there is none.

        ``among``: which pairs of the index count; all, if left out.
        """
        for digest, kind in pair.prints.items():
            if digest in self.equal:
                return Duplicate(pair.id, kind, self.where, other=self.equal[digest])
        near = [
            (similarity(pair, self.pairs[number]), -number)
            for number in self._similar.query(pair.minhash)
            if (among is None or among[number]) and not pair.asks_of_another_image(self.pairs[number])
        ]
        share, place = max(near, default=(0.0, 0))
        if share >= SIMILARITY:
            other = self.pairs[-place]
            return self._duplicate(pair, SAME_PAIR if pair.texts == other.texts else SIMILAR_TEXT, other=other)
        alike = [self.pairs[number] for number in self._with_image(pair, among)]
        asked = [other for other in alike if other.texts[0] == pair.texts[0]]
        if not alike:
            return None
        return self._duplicate(pair, SAME_QUESTION if asked else SIMILAR_IMAGE, other=(asked or alike)[0])

    def _duplicate(self, pair: ComparedPair, kind: str, *, other: ComparedPair) -> Duplicate:
        return Duplicate(pair.id, kind, self.where, other=other.id, similarity=round(similarity(pair, other), 3))

    def _with_image(self, pair: ComparedPair, among: BoolArray | None) -> Iterator[int]:
        alike = np.zeros(len(self.pairs), bool)
        if pair.image_sha256:
            alike |= self._digests == int(pair.image_sha256[:16], 16)
        if pair.image_hash:
            distances = np.bitwise_count(self._hashes ^ np.uint64(int(pair.image_hash, 16)))
            alike |= self._hashed & (distances <= IMAGE_BITS)
        return map(int, np.flatnonzero(alike if among is None else alike & among))


def inside(pairs: Sequence[ComparedPair]) -> Iterator[Duplicate]:
    """Yield pairs that are like an earlier one of the pool; the earlier one is none itself."""
    index, earlier = PairIndex(POOL, pairs), np.zeros(len(pairs), bool)
    for number, pair in enumerate(follow(pairs, "Comparing pairs of the pool")):
        result = index.find(pair, earlier)
        if result is not None:
            yield result
        earlier[number] = result is None or result.kind == SIMILAR_IMAGE
