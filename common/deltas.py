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
    """Return what makes the target of the base."""
    runs = list(_runs(base, target))
    own = [fragment for start, fragments in runs if start == _OWN for fragment in fragments]
    header = {
        "runs": [[start, len(fragments)] for start, fragments in runs],
        "lengths": [len(fragment) for fragment in own],
    }
    return orjson.dumps(header) + b"\n" + b"".join(own)


def decode(base: Sequence[bytes], delta: bytes) -> list[bytes]:
    """Return the target's fragments. Raises ValueError, KeyError or TypeError for what is no delta."""
    line, _, text = delta.partition(b"\n")
    header = orjson.loads(line)
    own, place = [], 0
    for length in header["lengths"]:
        own.append(text[place : place + length])
        place += length
    results: list[bytes] = []
    used = 0
    for start, count in header["runs"]:
        if start == _OWN:
            results += own[used : used + count]
            used += count
        else:
            results += base[start : start + count]
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
