"""Tallies: votes compared with labels, as counts per slice. Rankings, charts and exports derive from them alone.

A *cell* is a set of items: one of the sources, one of the error tags, or the pairs whose preferred response is the
longer, the shorter, or neither (in words). Categories are unions of sources, so every grouping follows. Where a label
may be a tie, each source is there once more without those pairs.

Benchmarks of labelled pairs have further fields, since their rules ask for more than agreement.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from vlrb.arrays import BoolArray, FloatArray, IntArray
from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.labels import NOT_LABELLED, LabelSet
from vlrb.benchmarks.spec import TIE, BenchmarkSpec
from vlrb.votes import ABSENT, UNDECIDED, Matrix, Votes, count_votes, majority, resolved

LENGTHS = ("longer", "shorter", "equal")
FIELDS = ("n", "agree", "reject", "undecided", "first_agree", "first_reject", "first_undecided", "half_right")
"""Pairs: all, by majority, by the first vote; and those of which exactly half of an even number of votes is right."""
UNREADABLE = ("unreadable", "unreadable_first", "first_unreadable", "first_unreadable_first")
"""Pairs without a verdict, and those of them whose label is the first response; by majority, then by the first vote."""
VOTES = ("majority", "first")
"""Which votes a rule of a definition takes."""
GROUP_SUMS = ("groups", "groups_right", "squares", "right_squares", "right_products")
"""Over groups of pairs of one id, where a pair counts in halves: their number; the products of what their pairs count;
sums of n * n, of right * right, and of right * n."""
GROUP_SCALES = (1, 2**20, 1, 4, 2)
"""What each of GROUP_SUMS is stored in, so that it is a whole number."""


def group_fields(votes: str) -> tuple[str, ...]:
    """Return the GROUP_SUMS by some votes, by name."""
    return tuple(f"{votes} {name}" for name in GROUP_SUMS)


@cache
def fields(spec: BenchmarkSpec) -> tuple[str, ...]:
    """Return the FIELDS that a benchmark counts, by name."""
    sums = [name for votes in VOTES for name in group_fields(votes)] if spec.grouped is not None else []
    return (*FIELDS, *(UNREADABLE if spec.tells_ties else ()), *sums)


def slices(spec: BenchmarkSpec) -> tuple[str, ...]:
    """Return the CELLS of a benchmark, by name: sources, tags, lengths; with ties, the sources without them. Where two
    have one name, the first is meant."""
    untied = tuple(f"{key} without ties" for key in spec.source_keys) if spec.ties else ()
    return (*spec.source_keys, *spec.tags, *LENGTHS, *untied)


def untied_start(spec: BenchmarkSpec) -> int:
    """Return the place of the first source without ties among the cells."""
    return len(slices(spec)) - len(spec.source_keys)


def length_index(name: str, spec: BenchmarkSpec) -> int:
    """Return the place of one of LENGTHS among the cells."""
    return len(spec.source_keys) + len(spec.tags) + LENGTHS.index(name)


@dataclass(frozen=True, slots=True)
class Tally:
    """Item counts of one judge under one label revision.

    ``counts``: CELLS x FIELDS. ``n``: items of the label revision. ``agree`` / ``reject``: more than half of all K
    votes are for / against the preferred response; ``undecided``: neither. ``first_...``: the first vote alone.
    ``half_right``: exactly half of an even K are for it; these are undecided.
    Items that the judge's file lacks are in ``n`` only.
    ``agreeing``: CELLS x (K + 1), items by the number of their votes that agree with the label.
    """

    k: int
    counts: IntArray
    agreeing: IntArray
    has_tags: bool
    spec: BenchmarkSpec

    def cell(self, name: str) -> dict[str, int]:
        """Return the FIELDS of one of the CELLS by name."""
        return dict(zip(fields(self.spec), self.counts[slices(self.spec).index(name)].tolist(), strict=True))

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
        return cls(data["k"], counts, agreeing=agreeing, has_tags=data["has_tags"], spec=spec)


def tally(votes: Votes, labels: LabelSet, *, table: ItemTable) -> Tally:
    """Return the counts of one judge."""
    return tally_many(votes.matrix[np.newaxis], labels, table=table)[0]


def tally_many(matrix: Matrix, labels: LabelSet, *, table: ItemTable) -> list[Tally]:
    """Return the counts of many judges with the same K; ``matrix`` is entries x items x K.

    Raises:
        ValueError: the votes are not about the table's items.
    """
    entries, items, k = matrix.shape
    if items != len(table):
        raise ValueError(f"votes about {items} items, but {table.benchmark} has {len(table)}")
    labelled = labels.preferred != NOT_LABELLED
    members = _members(labels, table)
    matrix = resolved(matrix, labels.preferred[:, np.newaxis])
    present = (matrix[:, :, 0] != ABSENT) & labelled
    agree = matrix == labels.preferred[np.newaxis, :, np.newaxis]
    agreeing = count_votes(agree)
    half = present & (2 * agreeing == k)
    flags = _flags(matrix, present, half=half, labels=labels, spec=table.spec)
    by_agreeing = [present & (agreeing == a) for a in range(k + 1)]
    sums = _summed([*flags, *by_agreeing], members)
    sizes = members[labelled].sum(axis=0).astype(np.int64)
    counts = np.concatenate(
        [np.broadcast_to(sizes[:, np.newaxis], (entries, len(sizes), 1)), sums[:, :, : len(flags)]], axis=2
    )
    if table.spec.grouped is not None:
        right, first_right = flags[0], flags[3]
        doubled = [2 * right.astype(np.int8) + half, 2 * first_right.astype(np.int8)]
        counts = np.concatenate([counts, _group_counts(doubled, labels=labels, table=table)], axis=2)
    has_tags = labels.tags is not None and bool(table.spec.tags)
    return [
        Tally(k, counts[e], agreeing=sums[e, :, len(flags) :], has_tags=has_tags, spec=table.spec)
        for e in range(entries)
    ]


def outcomes(matrix: Matrix, labels: LabelSet) -> FloatArray:
    """Return what each item counts under ``strict``, (..., items) of votes (..., items, K): 1 where more than half of
    the votes are right, 1/2 where exactly half are, which is what one vote less counts on average, else 0."""
    label, k = labels.preferred[:, np.newaxis], matrix.shape[-1]
    agreeing = (resolved(matrix, label) == label).sum(axis=-1)
    counted = (2 * agreeing > k) + (2 * agreeing == k) / 2
    return np.where(labels.preferred != NOT_LABELLED, counted, 0.0)


def _summed(flags: list[BoolArray], members: npt.NDArray[np.float32]) -> IntArray:
    """Return entries x CELLS x flags."""
    return np.stack([flag.astype(np.float32) @ members for flag in flags], axis=2).round().astype(np.int64)


def _flags(
    matrix: Matrix, present: BoolArray, *, half: BoolArray, labels: LabelSet, spec: BenchmarkSpec
) -> list[BoolArray]:
    """Return entries x items for each of FIELDS behind ``n``, and of UNREADABLE where ties can be told from it.

    A tie is a readable verdict. Where no label is a tie, it is undecided all the same.
    """
    preferred = labels.preferred[np.newaxis]
    # Which labels are the response that the benchmark's own file has first, wherever that is stored.
    first = labels.preferred != NOT_LABELLED if spec.preferred_is_named else labels.preferred == 0
    results: list[BoolArray] = []
    unreadable: list[BoolArray] = []
    for verdict in (majority(matrix), matrix[:, :, 0]):
        right = present & (verdict == preferred)
        wrong = present & ~right & (verdict >= 0) & (spec.ties | (verdict != TIE))
        results += [right, wrong, present & ~right & ~wrong]
        none = present & (verdict == UNDECIDED)
        unreadable += [none, none & first]
    return [*results, half, *unreadable] if spec.tells_ties else [*results, half]


def _group_counts(doubled: list[Matrix], *, labels: LabelSet, table: ItemTable) -> IntArray:
    """Return entries x CELLS x GROUP_SUMS by each of VOTES, by source alone: of all its pairs, and of those without
    ties. Pairs of one id in two sources are two groups. ``doubled``: entries x items, twice what a pair counts."""
    spec, labelled = table.spec, labels.preferred != NOT_LABELLED
    sources = len(spec.source_keys)
    counts = np.zeros((len(doubled[0]), len(slices(spec)), len(VOTES) * len(GROUP_SUMS)), dtype=np.int64)
    cells = {0: labelled, untied_start(spec): labelled & (labels.preferred != TIE)} if spec.ties else {0: labelled}
    for start, held in cells.items():
        places = table.group_index[held] * sources + table.source_index[held]
        sums = [_group_sums(right[:, held], places, sources=sources) for right in doubled]
        counts[:, start : start + sources] = np.concatenate(sums, axis=2)
    return counts


def _group_sums(doubled: Matrix, places: IntArray, *, sources: int) -> IntArray:
    """Return entries x sources x GROUP_SUMS, scaled. ``places``: group and source of each item, as one number."""
    known, group, sizes = np.unique(places, return_inverse=True, return_counts=True)
    inside = np.zeros((len(places), len(known)), dtype=np.float32)
    inside[np.arange(len(places)), group] = 1
    right, halves, wrong = (
        (values.astype(np.float32) @ inside).round().astype(np.int64)
        for values in (doubled, doubled == 1, doubled == 0)
    )
    products = np.where(wrong == 0, GROUP_SCALES[1] / 2.0**halves, 0).astype(np.int64)
    of_source = np.zeros((len(known), sources), dtype=np.int64)
    of_source[np.arange(len(known)), known % sources] = 1
    groups, squares = (np.broadcast_to(values, right.shape) for values in (np.ones_like(sizes), sizes**2))
    return np.stack([values @ of_source for values in (groups, products, squares, right**2, right * sizes)], axis=2)


def _members(labels: LabelSet, table: ItemTable) -> npt.NDArray[np.float32]:
    """Return items x CELLS, 1 where the item belongs to the cell. Sums of up to 2^24 ones are exact in float32."""
    spec, preferred = table.spec, labels.preferred
    members = np.zeros((len(table), len(slices(spec))), dtype=np.float32)
    members[np.arange(len(table)), table.source_index] = 1
    if labels.tags is not None and spec.tags:
        tag_index = {tag: len(spec.source_keys) + place for place, tag in enumerate(spec.tags)}
        for index, tags in enumerate(labels.tags):
            for tag in tags:
                members[index, tag_index[tag]] = 1
    if spec.ties:
        untied = np.flatnonzero((preferred != NOT_LABELLED) & (preferred != TIE))
        members[untied, untied_start(spec) + table.source_index[untied].astype(np.int64)] = 1
    chosen = np.flatnonzero((preferred == 0) | (preferred == 1))
    response = preferred[chosen]
    more = np.sign(table.word_counts[chosen, response] - table.word_counts[chosen, 1 - response])
    longer, shorter, equal = (length_index(name, spec) for name in LENGTHS)
    members[chosen, np.array([shorter, equal, longer])[more + 1]] = 1
    return members
