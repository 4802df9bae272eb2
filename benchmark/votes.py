"""Votes of a judge: K per item, and statistics that need no label."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

UNDECIDED = -1
ABSENT = -2
MAX_VOTES_PER_ITEM = 16

Matrix = npt.NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Votes:
    """``matrix``: int8, items x K. 0 or 1 = that stored response is preferred; UNDECIDED; or ABSENT.

    A row is ABSENT throughout where the revision that the judge was run on lacks the item.
    """

    matrix: Matrix

    def __post_init__(self) -> None:
        if self.matrix.ndim != 2 or not 1 <= self.matrix.shape[1] <= MAX_VOTES_PER_ITEM:
            raise ValueError(f"votes are items x K with K from 1 to {MAX_VOTES_PER_ITEM}, not {self.matrix.shape}")
        if self.matrix.size and not (self.matrix.min() >= ABSENT and self.matrix.max() <= 1):
            raise ValueError("a vote is 0, 1, -1 (undecided) or -2 (absent)")

    @property
    def k(self) -> int:
        """Votes per item."""
        return int(self.matrix.shape[1])

    def pack(self) -> bytes:
        """Return two bits a vote, row by row, the first vote in the lowest bits of the first byte."""
        codes = (self.matrix.reshape(-1) - ABSENT).astype(np.uint8)
        padded = np.zeros(-(-codes.size // 4) * 4, dtype=np.uint8)
        padded[: codes.size] = codes
        quads = padded.reshape(-1, 4)
        return (quads[:, 0] | quads[:, 1] << 2 | quads[:, 2] << 4 | quads[:, 3] << 6).astype(np.uint8).tobytes()

    @classmethod
    def unpack(cls, data: bytes, items: int, k: int) -> Votes:
        """Return the votes of ``pack``.

        Raises:
            ValueError: the data does not hold items x k votes.
        """
        return cls(unpack_many([data], items, k)[0])


def unpack_many(packed: list[bytes], items: int, k: int) -> Matrix:
    """Return entries x items x K from as many packed votes of the same K, in one pass.

    Raises:
        ValueError: an entry's data does not hold items x k votes.
    """
    size = -(-items * k // 4)
    if any(len(data) != size for data in packed):
        raise ValueError(f"{items} items with {k} votes each take {size} bytes")
    octets = np.frombuffer(b"".join(packed), dtype=np.uint8).reshape(len(packed), size)
    return np.take(_QUADS, octets, axis=0).reshape(len(packed), size * 4)[:, : items * k].reshape(-1, items, k)


_QUADS: Matrix = np.stack([(np.arange(256) >> shift & 3) + ABSENT for shift in (0, 2, 4, 6)], axis=1).astype(np.int8)


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What a file shows of its judge without any label; rates are fractions."""

    parse_rate: float  # votes for either response / votes of the file
    first_shown_rate: float | None  # votes for the response shown first / votes with a known order; None without one
    self_consistency: float | None  # mean over items of (votes for the more frequent verdict / K); None for K = 1
