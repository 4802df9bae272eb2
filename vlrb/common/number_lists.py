"""Lists of numbers about named entries, written as differences to the same lists of an earlier text.

In the JSON of relations a list of entries' names comes before lists of one number for each of them: ranks, which move
by one where somebody comes in between. Lists are paired in the order in which they stand, numbers by the names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

_NAME = rb'"e[a-z2-7]{11}"'
_LIST = re.compile(rb"\[(?:" + _NAME + rb"(?:," + _NAME + rb")+|-?\d{1,9}(?:,-?\d{1,9}){7,})\]")
Numbers = npt.NDArray[np.int64]


class _NamedList(NamedTuple):
    names: Sequence[bytes]
    numbers: Numbers


def as_differences(base: bytes, text: bytes) -> bytes:
    """Return the text with each list that the base has too as differences from it."""
    return _rewritten(base, text, combine=np.subtract)


def restored(base: bytes, text: bytes) -> bytes:
    """Return the text that ``as_differences`` was given."""
    return _rewritten(base, text, combine=np.add)


def _rewritten(base: bytes, text: bytes, *, combine: Callable[[Numbers, Numbers], Numbers]) -> bytes:
    known = iter(_lists(base))
    names: Sequence[bytes] = ()

    def rewrite(match: re.Match[bytes]) -> bytes:
        nonlocal names
        if match[0].startswith(b'["'):
            names = _names(match[0])
            return match[0]
        before, numbers = next(known, None), _numbers(match[0])
        if before is None or len(numbers) != len(names) or len(before.numbers) != len(before.names):
            return match[0]
        return b"[%s]" % b",".join(b"%d" % number for number in combine(numbers, _expected(before, names)).tolist())

    return _LIST.sub(rewrite, text)


def _expected(before: _NamedList, names: Sequence[bytes]) -> Numbers:
    """Return the number that each name has in a list; of a new one, 0."""
    places = dict(zip(before.names, before.numbers.tolist(), strict=True))
    return np.array([places.get(name, 0) for name in names], dtype=np.int64)


def _lists(text: bytes) -> list[_NamedList]:
    results, names = [], list[bytes]()
    for match in _LIST.finditer(text):
        if match[0].startswith(b'["'):
            names = _names(match[0])
        else:
            results.append(_NamedList(names, _numbers(match[0])))
    return results


def _names(text: bytes) -> list[bytes]:
    return text[1:-1].split(b",")


def _numbers(text: bytes) -> Numbers:
    return np.array(text[1:-1].split(b","), dtype=np.int64)
