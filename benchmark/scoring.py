"""Tallies: votes compared with labels, as counts per slice. Rankings, charts and exports derive from them alone.

A *cell* is a set of items: one of the sources, one of the error tags, or the pairs whose preferred response is the
longer, the shorter, or neither (in words). Categories are unions of sources, so every grouping follows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmark.items import ItemTable
from benchmark.labels import NOT_LABELLED, LabelSet
from benchmark.spec import BenchmarkSpec
from benchmark.votes import ABSENT, Matrix, Votes

LENGTHS = ("longer", "shorter", "equal")
FIELDS = ("n", "agree", "reject", "undecided", "first_agree", "first_reject", "first_undecided")
Counts = npt.NDArray[np.int64]


def slices(spec: BenchmarkSpec) -> tuple[str, ...]:
    """Return the CELLS of a benchmark, by name: sources, tags, lengths."""
    return (*spec.source_keys, *spec.tags, *LENGTHS)


def slice_index(name: str, spec: BenchmarkSpec) -> int:
    """Return the place of a cell. A source comes first where a tag or a length has its name."""
    return slices(spec).index(name)


def length_index(name: str, spec: BenchmarkSpec) -> int:
    """Return the place of one of LENGTHS among the cells."""
    return len(spec.source_keys) + len(spec.tags) + LENGTHS.index(name)


@dataclass(frozen=True, slots=True)
class Tally:
    """Item counts of one judge under one label revision.

    ``counts``: CELLS x FIELDS. ``n``: items of the label revision. ``agree`` / ``reject``: more than half of all K
    votes are for / against the preferred response; ``undecided``: neither. ``first_...``: the first vote alone.
    Items that the judge's file lacks are in ``n`` only.
    ``agreeing``: CELLS x (K + 1), items by the number of their votes that agree with the label.
    """

    k: int
    counts: Counts
    agreeing: Counts
    has_tags: bool
    spec: BenchmarkSpec

    def cell(self, name: str) -> dict[str, int]:
        """Return the FIELDS of one of the CELLS by name."""
        return dict(zip(FIELDS, self.counts[slice_index(name, self.spec)].tolist(), strict=True))

    def to_json(self) -> dict[str, Any]:
        """Return plain lists, in the order of CELLS and FIELDS."""
        return {
            "k": self.k,
            "counts": self.counts.tolist(),
            "agreeing": self.agreeing.tolist(),
            "has_tags": self.has_tags,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], spec: BenchmarkSpec) -> Tally:
        """Return the tally of ``to_json``."""
        counts, agreeing = (np.array(data[name], dtype=np.int64) for name in ("counts", "agreeing"))
        return cls(data["k"], counts, agreeing, data["has_tags"], spec)


def tally(votes: Votes, labels: LabelSet, table: ItemTable) -> Tally:
    """Return the counts of one judge."""
    return tally_many(votes.matrix[np.newaxis], labels, table)[0]


def tally_many(matrix: Matrix, labels: LabelSet, table: ItemTable) -> list[Tally]:
    """Return the counts of many judges with the same K; ``matrix`` is entries x items x K.

    Raises:
        ValueError: the votes are not about the table's items.
    """
    entries, items, k = matrix.shape
    if items != len(table):
        raise ValueError(f"votes about {items} items, but {table.benchmark} has {len(table)}")
    labelled = labels.preferred != NOT_LABELLED
    members = _members(labels, table)
    present = (matrix[:, :, 0] != ABSENT) & labelled
    agree = matrix == labels.preferred[np.newaxis, :, np.newaxis]
    agreeing = _per_item(agree)
    decided = _per_item(matrix >= 0)
    right = present & (2 * agreeing > k)
    wrong = present & (2 * (decided - agreeing) > k)
    first_right = present & agree[:, :, 0]
    first_wrong = present & (matrix[:, :, 0] >= 0) & ~agree[:, :, 0]
    flags = [right, wrong, present & ~right & ~wrong, first_right, first_wrong, present & ~first_right & ~first_wrong]
    flags += [present & (agreeing == a) for a in range(k + 1)]
    sums = np.stack([flag.astype(np.float32) @ members for flag in flags], axis=2).round().astype(np.int64)
    sizes = members[labelled].sum(axis=0).astype(np.int64)
    counts = np.concatenate([np.broadcast_to(sizes[:, np.newaxis], (entries, len(sizes), 1)), sums[:, :, :6]], axis=2)
    has_tags = labels.tags is not None and bool(table.spec.tags)
    return [Tally(k, counts[e], sums[e, :, 6:], has_tags, table.spec) for e in range(entries)]


def _per_item(flags: npt.NDArray[np.bool_]) -> npt.NDArray[np.int8]:
    """Return votes per item: adding K slices is several times faster than a sum over the short last axis."""
    total = flags[:, :, 0].astype(np.int8)
    for vote in range(1, flags.shape[2]):
        total += flags[:, :, vote]
    return total


def _members(labels: LabelSet, table: ItemTable) -> npt.NDArray[np.float32]:
    """Return items x CELLS, 1 where the item belongs to the cell. Sums of up to 2^24 ones are exact in float32."""
    spec = table.spec
    members = np.zeros((len(table), len(slices(spec))), dtype=np.float32)
    members[np.arange(len(table)), table.source_index] = 1
    tag_index = {tag: len(spec.source_keys) + place for place, tag in enumerate(spec.tags)}
    longer, shorter, equal = (length_index(name, spec) for name in LENGTHS)
    for index, item in enumerate(table.items):
        for tag in labels.tags[index] if labels.tags is not None and spec.tags else ():
            members[index, tag_index[tag]] = 1
        preferred = int(labels.preferred[index])
        if preferred != NOT_LABELLED:
            more = item.words[preferred] - item.words[1 - preferred]
            members[index, longer if more > 0 else shorter if more < 0 else equal] = 1
    return members
