"""Deltas between texts that are cut into the same fragments: runs of the base's fragments, and fragments of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import orjson

_ENTRY = b'{"id":"e'  # begins an entry in the JSON of a snapshot
_ATTEMPT = b',"attempt":'  # begins what changes of an entry with each further one of its account
_NAME = re.compile(rb'"e[a-z2-7]{11}"')  # names an entry in the JSON of relations
_OWN = -1  # instead of a place in the base


def split_fragments(text: bytes) -> list[bytes]:
    """Cut a text before each entry, and inside what names entries; joined, the fragments are the text.

    Deltas count these fragments. Another rule needs another format.
    """
    head, *entries = text.split(_ENTRY)
    result = _cut(head)
    for entry in entries:
        facts, separator, attempt = entry.partition(_ATTEMPT)
        result.append(_ENTRY + facts)
        if separator:
            result.append(separator + attempt)
    return result


def _cut(text: bytes) -> list[bytes]:
    places = [0, *(match.start() for match in _NAME.finditer(text) if match.start()), len(text)]
    return [text[start:end] for start, end in pairwise(places)]


def encode(base: Sequence[bytes], target: Sequence[bytes]) -> bytes:
    """Return what makes the target, whose fragments are UTF-8, of the base."""
    runs = _runs(base, target)
    return orjson.dumps([[one.decode() for one in run] if start == _OWN else [start, len(run)] for start, run in runs])


def decode(base: Sequence[bytes], delta: bytes) -> list[bytes]:
    """Return the target's fragments. Raises ValueError, LookupError, AttributeError or TypeError for what is no
    delta."""
    results: list[bytes] = []
    for first, *others in orjson.loads(delta):
        if isinstance(first, int):
            results += base[first : first + others[0]]
        else:
            results += [text.encode() for text in (first, *others)]
    return results


def _runs(base: Sequence[bytes], target: Iterable[bytes]) -> Iterator[tuple[int, list[bytes]]]:
    """Yield where in the base a run of fragments begins, or _OWN, and its fragments."""
    places: dict[bytes, int] = {}
    for place, fragment in enumerate(base):
        places.setdefault(fragment, place)
    start, run = _OWN, list[bytes]()
    for fragment in target:
        after = start + len(run)
        if start != _OWN and after < len(base) and base[after] == fragment:
            run.append(fragment)
            continue
        place = places.get(fragment, _OWN)
        if run and (place != _OWN or start != _OWN):
            yield start, run
            run = []
        start = place
        run.append(fragment)
    if run:
        yield start, run
