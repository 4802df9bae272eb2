"""Signatures of an edition's pairs, by which similar texts and images are found where the texts are not at hand.

The signature of a pair's texts is a MinHash of its runs of three words: the lowest byte of each of 96 minima. Two
signatures agree in as many places, of all, as the pairs have runs in common (Jaccard), give or take 0.04.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from vlrb.common import atomic_files
from vlrb.common.messages import _
from vlrb.editions.errors import CurateError
from vlrb.editions.pools.near_duplicates import (
    IMAGE_BITS,
    SAME_QUESTION,
    SIMILAR_IMAGE,
    SIMILAR_TEXT,
    SIMILARITY,
    ComparedPair,
    Duplicate,
    asks_of_another_image,
)

SIGNATURES = "near_duplicates.json"
_PERMUTATIONS, _SEED = 96, 1
_METHOD: Mapping[str, Any] = {
    "permutations": _PERMUTATIONS, "bits": 8, "seed": _SEED, "hash": "crc32", "words": 3,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class PairSignature:
    """What others compare a pair with. ``question``: digest; ``texts``: MinHash in base64. No text, no label."""

    id: str
    question: str
    texts: str
    image_sha256: str
    image_hash: str

    @classmethod
    def of(cls, pair: ComparedPair) -> PairSignature:
        """Return the signature of a pair; the order of the responses does not change it."""
        texts = base64.b64encode(_minima(pair).tobytes()).decode()
        return cls(pair.id, _question(pair), texts=texts, image_sha256=pair.image_sha256, image_hash=pair.image_hash)


def _question(pair: ComparedPair) -> str:
    return sha256(pair.question.encode()).hexdigest()[:16]


@cache
def _empty() -> Any:
    """Return a MinHash of nothing; its permutations are made once."""
    from datasketch import MinHash

    return MinHash(num_perm=_PERMUTATIONS, seed=_SEED, hashfunc=zlib.crc32)


def _minima(pair: ComparedPair) -> npt.NDArray[np.uint8]:
    signature = _empty().copy()
    signature.update_batch([run.encode() for run in pair.shingles()])
    lowest: npt.NDArray[np.uint8] = (signature.hashvalues & 0xFF).astype(np.uint8)
    return lowest


class SignatureIndex:
    """Signatures of an edition that pairs are compared with."""

    def __init__(self, name: str, signatures: Sequence[PairSignature]) -> None:
        """Decode the signatures. Raises ValueError where one is none."""
        self.name = name
        self.signatures = tuple(signatures)
        decoded = b"".join(base64.b64decode(signature.texts, validate=True) for signature in signatures)
        self._texts = np.frombuffer(decoded, np.uint8).reshape(len(self.signatures), _PERMUTATIONS)
        self._hashes = np.array([int(signature.image_hash or "0", 16) for signature in signatures], np.uint64)
        self._hashed = np.array([bool(signature.image_hash) for signature in signatures], bool)
        self._images = np.array([signature.image_sha256 for signature in signatures], "U64")

    def find(self, pair: ComparedPair) -> Duplicate | None:
        """Return the strongest likeness of a pair to one of the edition; None where there is none."""
        shares = (self._texts == _minima(pair)).mean(axis=1)
        near = [(float(shares[place]), -int(place)) for place in np.flatnonzero(shares >= SIMILARITY)]
        near = [(share, place) for share, place in near if not self._is_of_another_image(pair, -place)]
        if near:
            share, place = max(near)
            return self._duplicate(pair, SIMILAR_TEXT, place=-place, share=share)
        places, question = self._with_image(pair), _question(pair)
        for place in places:
            if self.signatures[place].question == question:
                return self._duplicate(pair, SAME_QUESTION, place=place, share=shares[place])
        return self._duplicate(pair, SIMILAR_IMAGE, place=places[0], share=shares[places[0]]) if places else None

    def _duplicate(self, pair: ComparedPair, kind: str, *, place: int, share: float) -> Duplicate:
        return Duplicate(
            pair.id, kind, where=self.name, other=self.signatures[place].id, similarity=round(float(share), 3)
        )

    def _is_of_another_image(self, pair: ComparedPair, place: int) -> bool:
        other = self.signatures[place]
        return asks_of_another_image(pair, other.image_sha256, image_hash=other.image_hash)

    def _with_image(self, pair: ComparedPair) -> list[int]:
        alike = np.zeros(len(self.signatures), bool)
        if pair.image_sha256:
            alike |= self._images == pair.image_sha256
        if pair.image_hash:
            distances = np.bitwise_count(self._hashes ^ np.uint64(int(pair.image_hash, 16)))
            alike |= self._hashed & (distances <= IMAGE_BITS)
        return [int(place) for place in np.flatnonzero(alike)]


def write_signatures(path: Path, benchmark: str, *, pairs: Iterable[ComparedPair]) -> int:
    """Write the signatures of an edition, one a line. Returns how many. Raises CurateError where there are none."""
    lines = [json.dumps(astuple(PairSignature.of(pair)), ensure_ascii=False) for pair in pairs]
    if not lines:
        raise CurateError(_("{edition}: no row has responses. Give the pairs of the edition.", edition=benchmark))
    head = {"benchmark": benchmark, "minhash": _METHOD, "columns": [field.name for field in fields(PairSignature)]}
    text = json.dumps(head, ensure_ascii=False)[:-1] + ', "pairs": [\n' + ",\n".join(lines) + "\n]}\n"
    atomic_files.write(path, text.encode(), mode=atomic_files.PUBLIC)
    return len(lines)


def read_signatures(path: Path) -> SignatureIndex | None:
    """Return the signatures of a file; None where there is no such file. Raises CurateError where it is damaged."""
    if not path.is_file():
        return None
    try:
        return _index(json.loads(path.read_bytes()))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
        raise CurateError(
            _("{path} holds no signatures of an edition. `vlrb edition signatures` makes them.", path=path)
        ) from None


def _index(content: Mapping[str, Any]) -> SignatureIndex:
    if content["minhash"] != _METHOD:
        raise ValueError(content["minhash"])
    names = content["columns"]
    rows = [PairSignature(**dict(zip(names, row, strict=True))) for row in content["pairs"]]
    return SignatureIndex(str(content["benchmark"]), rows)
