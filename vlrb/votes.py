"""Votes of a judge: K per item, and statistics that need no label."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

UNDECIDED = -1
ABSENT = -2
PREFERRED, OTHER = 3, 4
"""Votes of a file that says which response is the preferred one, without its text: the label tells which that is."""
MAX_VOTES_PER_ITEM = 16

Matrix = npt.NDArray[np.int8]
Margins = npt.NDArray[np.float32]
"""(items,): by how much the score of the preferred response is above the other one's; NaN where that is not known."""


@dataclass(frozen=True, slots=True)
class Votes:
    """``matrix``: int8, items x K. 0 or 1 = that stored response is preferred; UNDECIDED; or ABSENT.

    In benchmarks of labelled pairs also a tie (2), PREFERRED and OTHER.
    A row is ABSENT throughout where the revision that the judge was run on lacks the item.
    """

    matrix: Matrix

    def __post_init__(self) -> None:
        if self.matrix.ndim != 2 or not 1 <= self.matrix.shape[1] <= MAX_VOTES_PER_ITEM:
            raise ValueError(f"votes are items x K with K from 1 to {MAX_VOTES_PER_ITEM}, not {self.matrix.shape}")
        if self.matrix.size and not (self.matrix.min() >= ABSENT and self.matrix.max() <= OTHER):
            raise ValueError("a vote is 0, 1, -1 (undecided), -2 (absent), 2 (tie), 3 (preferred) or 4 (other)")

    @property
    def k(self) -> int:
        """Votes per item."""
        return int(self.matrix.shape[1])

    @property
    def sha256(self) -> str:
        """Return what a file says, whatever its format, order and texts: SHA-256 of K and the votes, item by item.

        One byte a vote (0, 1, 255 undecided), the items of the file's revision in the order of the benchmark's table.
        """
        present = self.matrix[(self.matrix != ABSENT).all(axis=1)]
        return hashlib.sha256(f"{self.k}\n".encode() + present.tobytes()).hexdigest()

    def pack(self) -> bytes:
        """Return half a byte a vote, row by row, the first vote in the lower bits of the first byte."""
        codes = (self.matrix.reshape(-1) - ABSENT).astype(np.uint8)
        pairs = np.pad(codes, (0, codes.size % 2)).reshape(-1, 2)
        return (pairs[:, 0] | pairs[:, 1] << 4).astype(np.uint8).tobytes()

    @classmethod
    def unpack(cls, data: bytes, items: int, *, k: int) -> Votes:
        """Return the votes of ``pack``.

        Raises:
            ValueError: the data does not hold items x k votes.
        """
        return cls(unpack_many([data], items, k=k)[0])


def pack_margins(margins: Margins | None) -> bytes | None:
    """Return four bytes an item; None of none."""
    return None if margins is None else margins.astype("<f4").tobytes()


def unpack_margins(data: bytes | None) -> Margins | None:
    """Return the margins of ``pack_margins``."""
    return None if data is None else np.frombuffer(data, "<f4").astype(np.float32)


def unpack_many(packed: list[bytes], items: int, *, k: int) -> Matrix:
    """Return entries x items x K from as many packed votes of the same K, in one pass.

    Raises:
        ValueError: an entry's data does not hold items x k votes.
    """
    size = packed_size(items, k)
    if any(len(data) != size for data in packed):
        raise ValueError(f"{items} items with {k} votes each take {size} bytes")
    octets = np.frombuffer(b"".join(packed), dtype=np.uint8).reshape(len(packed), size)
    unpacked = _PAIRS[octets].view(np.int8).reshape(len(packed), size * 2)
    return unpacked[:, : items * k].reshape(-1, items, k)


def packed_size(items: int, k: int) -> int:
    """Return the length of packed votes in bytes."""
    return -(-items * k // 2)


def resolved(matrix: Matrix, label: Matrix) -> Matrix:
    """Return votes or verdicts that name responses, also of those that refer to the label.

    ``label``: the preferred response of each, in a shape that fits the votes; where it is none, they are UNDECIDED.
    """
    if not matrix.size or matrix.max() < PREFERRED:
        return matrix
    named = (label == 0) | (label == 1)
    better, worse = np.where(label >= 0, label, UNDECIDED), np.where(named, 1 - label, UNDECIDED)
    return np.where(matrix == PREFERRED, better, np.where(matrix == OTHER, worse, matrix)).astype(np.int8)


def without_labels(matrix: Matrix) -> Matrix:
    """Return votes for who has no label: of those that refer to it PREFERRED is 0 and OTHER is 1."""
    if not matrix.size or matrix.max() < PREFERRED:
        return matrix
    return np.asarray(np.where(matrix >= PREFERRED, matrix - PREFERRED, matrix), dtype=np.int8)


def count_votes(flags: npt.NDArray[np.bool_]) -> Matrix:
    """(..., K) -> (...): how many of K votes. Adding K slices is faster than a sum over the short last axis."""
    total = flags[..., 0].astype(np.int8)
    for vote in range(1, flags.shape[-1]):
        total += flags[..., vote]
    return total


def majority(matrix: npt.NDArray[Any]) -> Matrix:
    """(..., items, K) -> (..., items): the verdict of more than half of all K votes, else UNDECIDED; ABSENT stays.

    A verdict is whatever a vote may be: a response, a tie, or a reference to the label.
    """
    votes = np.asarray(matrix)
    k = votes.shape[-1]
    verdict = np.full(votes.shape[:-1], UNDECIDED, dtype=np.int8)
    for value in _values(votes):  # at most one has more than half; adding it is six times faster than a mask
        verdict += np.int8(value - UNDECIDED) * (2 * count_votes(votes == value) > k)
    verdict[votes[..., 0] == ABSENT] = ABSENT
    return verdict


def condensed(matrix: npt.NDArray[Any]) -> Matrix:
    """(..., items, K) -> (..., items, 2): two votes that come to what all K do, whatever the label.

    The verdict of more than half of the votes twice; else each verdict of exactly half of them once, and UNDECIDED.
    """
    votes = np.asarray(matrix)
    k = votes.shape[-1]
    result = np.full((*votes.shape[:-1], 2), UNDECIDED, dtype=np.int8)
    for value in _values(votes):
        count = 2 * (votes == value).sum(axis=-1)
        place = (result[..., 0] != UNDECIDED).astype(np.intp)  # of the other half
        result[count > k] = value
        half = count == k
        result[(*np.nonzero(half), place[half])] = value
    result[votes[..., 0] == ABSENT] = ABSENT
    return result


def _values(votes: Matrix) -> Sequence[int]:
    """Return what a vote may be, but for UNDECIDED and ABSENT."""
    return range(OTHER + 1) if votes.size and votes.max() > 1 else (0, 1)


_PAIRS = np.stack([(np.arange(256) >> shift & 15) + ABSENT for shift in (0, 4)], axis=1).astype(np.int8).view(np.int16)
"""Two votes by the byte that holds them, as one number."""
