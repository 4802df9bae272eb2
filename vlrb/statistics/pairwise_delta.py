"""Deltas between stored relations: figures about two judges stay what they are when others come between them.

Works on the uncompressed content that ``vlrb.statistics.pairwise`` describes. A delta has one line of JSON: the
header of the content without its entries; ``order``, the place of each entry in the base or -1; the names of new ones.
After it come, array by array, the figures of new entries and pairs, and every other array exclusive-or the base's.
"""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from vlrb.arrays import Array, IntArray
from vlrb.statistics.pairwise import AGREEMENT_AT_MOST, MAGIC, read_arrays


@dataclass(frozen=True, slots=True, eq=False)
class StoredArrays:
    """Content of stored relations: its header, and its arrays as they lie."""

    header: dict[str, Any]
    arrays: dict[str, Array]

    @property
    def entries(self) -> list[str]:
        """Names of the entries, best first."""
        return list(self.header["entries"])

    @classmethod
    def read(cls, content: bytes) -> StoredArrays:
        """Raise ValueError where these are no relations."""
        return cls(*read_arrays(content))

    def write(self) -> bytes:
        """Return the content."""
        body = b"".join(np.ascontiguousarray(array).tobytes() for array in self.arrays.values())
        return MAGIC + json.dumps(self.header).encode() + b"\n" + body


def encode(base: bytes, target: bytes) -> bytes | None:
    """Return what makes the target of the base; None where no delta does."""
    old, new = StoredArrays.read(base), StoredArrays.read(target)
    places = {name: place for place, name in enumerate(old.entries)}
    order = np.array([places.get(name, -1) for name in new.entries], dtype=np.int64)
    header = {
        "header": {name: value for name, value in new.header.items() if name != "entries"},
        "order": order.tolist(),
        "names": [name for name in new.entries if name not in places],
    }
    own = [_own(name, array, old=old, order=order) for name, array in new.arrays.items()]
    delta = json.dumps(header).encode() + b"\n" + b"".join(own)
    return delta if decode(base, delta) == target else None


def decode(base: bytes, delta: bytes) -> bytes:
    """Return the target."""
    old, (line, _, own) = StoredArrays.read(base), delta.partition(b"\n")
    fields = json.loads(line)
    order, names = np.array(fields["order"], dtype=np.int64), list(reversed(fields["names"]))
    known = old.entries
    entries = [known[place] if place >= 0 else names.pop() for place in fields["order"]]
    ordered = {"label_revision": fields["header"]["label_revision"], "entries": entries}
    header = {**ordered, **fields["header"]}
    arrays, offset = {}, 0
    for name, kind, shape in fields["header"]["arrays"]:
        array, used = _restored(name, np.zeros(shape, kind), old=old, order=order, own=own[offset:])
        arrays[name] = array
        offset += used
    return StoredArrays(header, arrays).write()


def _own(name: str, array: Array, *, old: StoredArrays, order: IntArray) -> bytes:
    """Return the bytes of an array that the base does not have."""
    source = _source(name, array, old=old, order=order)
    if source is None:
        before = old.arrays[name].tobytes() if name in old.arrays else b""
        return _exclusive_or(array.tobytes(), before)
    return np.ascontiguousarray(array[..., source < 0]).tobytes()


def _restored(name: str, empty: Array, *, old: StoredArrays, order: IntArray, own: bytes) -> tuple[Array, int]:
    """Return an array, and how many bytes of a delta are its own."""
    source = _source(name, empty, old=old, order=order)
    if source is None:
        before = old.arrays[name].tobytes() if name in old.arrays else b""
        body = _exclusive_or(own[: empty.nbytes], before)
        return np.frombuffer(body, empty.dtype).reshape(empty.shape), empty.nbytes
    new = source < 0
    shape = (*empty.shape[:-1], int(new.sum()))
    count = int(np.prod(shape, dtype=np.int64))
    empty[..., new] = np.frombuffer(own, empty.dtype, count).reshape(shape)
    empty[..., ~new] = old.arrays[name][..., source[~new]]
    return empty, count * empty.dtype.itemsize


def _source(name: str, array: Array, *, old: StoredArrays, order: IntArray) -> IntArray | None:
    """Return where in the base's array each figure of the last axis lies, or -1; None for an array of neither."""
    before = old.arrays.get(name)
    if before is None or before.shape[:-1] != array.shape[:-1] or name not in ("right", "squares", "both", "agreement"):
        return None
    if name in ("right", "squares"):
        return order
    most = AGREEMENT_AT_MOST if name == "agreement" else len(order)
    compared = len(old.entries) if name == "both" else min(len(old.entries), AGREEMENT_AT_MOST)
    kept = np.where(order[:most] < compared, order[:most], -1)
    i, j = np.triu_indices(len(kept), k=1)
    low, high = np.minimum(kept[i], kept[j]), np.maximum(kept[i], kept[j])
    place = low * (2 * compared - low - 1) // 2 + high - low - 1
    return np.where(low < 0, -1, place)


def _exclusive_or(first: bytes, second: bytes) -> bytes:
    """Return zeros where both say the same; the first where they are not of the same length."""
    if len(first) != len(second):
        return first
    return (np.frombuffer(first, np.uint8) ^ np.frombuffer(second, np.uint8)).tobytes()


def compress(text: bytes, content: bytes) -> bytes:
    """Return a text delta and a content delta as one body."""
    return zlib.compress(len(text).to_bytes(4, "big") + text + content, 6)


def decompress(body: bytes) -> tuple[bytes, bytes]:
    """Return both again."""
    both = zlib.decompress(body)
    end = 4 + int.from_bytes(both[:4], "big")
    return both[4:end], both[end:]
