"""Label sets: a named revision of preferences and error tags over the items of a table."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from vlrb.benchmarks.items import ItemTable, LabelsError
from vlrb.benchmarks.spec import TIE, BenchmarkSpec
from vlrb.common.messages import _, joined

NOT_LABELLED = -1
_LISTED = 5


def refuse_labels(problems: Sequence[str]) -> None:
    """Raise LabelsError with the first problems and the number of the others, if there are any."""
    more = len(problems) - _LISTED
    if problems:
        listed = joined(problems[:_LISTED], "; ")
        raise LabelsError(_("{listed}; and {more} more problems", listed=listed, more=more) if more > 0 else listed)


def coverage_problems(preferred: Mapping[int, int], revision: str, *, table: ItemTable) -> list[str]:
    """Return a known revision labels all its items; a new one may leave some out, but no category."""
    if revision in table.revisions:
        held = table.in_revision(revision)
        missing = [table.items[i].ids[revision] for i in held if i not in preferred]
        if missing:
            known = {"count": len(missing), "revision": revision, "shown": ", ".join(missing[:_LISTED])}
            return [_("{count} pairs of revision {revision} have no label: {shown}", **known)]
        extra = len(preferred) - len(held)
        return [_("{extra} pairs are not in revision {revision}", extra=extra, revision=revision)] if extra > 0 else []
    labelled = {table.items[index].category for index in preferred}
    unlabelled = sorted({item.category for item in table.items} - labelled)
    return [_("no pair of {category} has a label", category=category) for category in unlabelled]


def error_tags(raw: Iterable[str], spec: BenchmarkSpec) -> frozenset[str]:
    """Return the error tags of a raw ``human_error_analysis``: sub-types and free text dropped, each tag once.

    ``recognition(object)`` is recognition, ``others, common sense, ...`` is what the definition calls others.

    Raises:
        ValueError: a tag that the benchmark does not have, which is not repeated: it is of a label.
    """
    names = [entry.split("(")[0].split(",")[0].strip() for entry in raw]
    if any(name not in spec.tag_names for name in names):
        raise ValueError(f"unknown error tag; known: {', '.join(spec.tag_names)}")
    return frozenset(spec.tag_names[name] for name in names)


@dataclass(frozen=True, slots=True)
class LabelSet:
    """The preferred response of every item that a revision holds.

    ``preferred``: int8, one per item of the table, 0 or 1, NOT_LABELLED where the revision lacks the item; TIE where a
    benchmark has ties.
    ``tags``: error tags per item, or None where the revision carries none at all.
    """

    revision: str
    preferred: npt.NDArray[np.int8]
    tags: tuple[frozenset[str], ...] | None
    digest: str

    @property
    def items(self) -> int:
        """Number of items that the revision labels: the overall denominator."""
        return int((self.preferred != NOT_LABELLED).sum())


def make_label_set(
    revision: str,
    table: ItemTable,
    *,
    preferred: Mapping[int, int],
    tags: Mapping[int, frozenset[str]] | None,
) -> LabelSet:
    """Return a label set from item indices; its digest is SHA-256 over the canonical JSON of key, label and tags.

    Raises:
        ValueError: a preferred index is neither 0 nor 1 (nor TIE, with ties), the benchmark lacks a tag, which is not
            repeated, or there is no label at all.
    """
    if not preferred:
        raise ValueError(f"label revision {revision!r} labels no item")
    allowed = (0, 1, TIE) if table.spec.ties else (0, 1)
    if any(value not in allowed for value in preferred.values()):
        raise ValueError(f"a preferred index is {' or '.join(map(str, allowed))}")
    if not set().union(*(tags or {}).values()) <= set(table.spec.tags):
        raise ValueError(f"an error tag is one of {', '.join(table.spec.tags) or 'none: the benchmark has no tags'}")
    vector = np.full(len(table), NOT_LABELLED, dtype=np.int8)
    for index, value in preferred.items():
        vector[index] = value
    facts: list[Any] = [
        [table.items[i].key, preferred[i], sorted(tags.get(i, ())) if tags is not None else None]
        for i in sorted(preferred)
    ]
    canonical = json.dumps([table.benchmark, revision, facts], separators=(",", ":"))
    all_tags = None if tags is None else tuple(tags.get(i, frozenset()) for i in range(len(table)))
    vector.setflags(write=False)
    return LabelSet(revision, vector, tags=all_tags, digest=hashlib.sha256(canonical.encode()).hexdigest())
