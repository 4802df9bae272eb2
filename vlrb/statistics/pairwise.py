"""Pairwise statistics of judges: paired counts, rank ranges, agreement, and item difficulty.

Computed by the worker, for it needs labels and everybody's votes; read by the web process, which has neither. Two
results: a small *summary* (JSON, part of the snapshot) and the *relations* themselves (compressed arrays, stored once).

Layout of the stored relations: zlib over MAGIC, one line of JSON (the header), and the header's ``arrays`` one after
the other, little-endian, in C order. ``arrays`` lists [name, numpy type, shape]; a missing one is not disclosed:

* ``sizes`` int32 (sources): labelled items by source, in the order of the definition;
* ``right`` int16 (sources, entries): items right under ``strict``;
* ``both`` int16 (sources, pairs): items that both entries are right on, pairs (i, j) with i < j, row by row;
* ``agreement`` int16 (pairs of the first AGREEMENT_AT_MOST entries): corrected for a random order, in thousandths,
  _UNDEFINED where there is none;
* ``group_differences``, ``group_products`` int32 (sources, pairs): where pairs come in groups, sums over the groups of
  d * d and d * n, where d is right of i minus right of j and n the pairs of the group; ``group_sizes`` int32 (sources,
  2): sum of n * n, and groups;
* ``bands`` int8 (items): 0..9 for the tenth in which the share of right judges lies, -1 with too few judges.

A label set that is not public gets rank ranges under the official grouping and the label-free agreement only.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from vlrb.arrays import Array, BoolArray, FloatArray, Int8Array, Int16Array, IntArray
from vlrb.benchmarks.baselines import board_majority
from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.labels import NOT_LABELLED, LabelSet
from vlrb.benchmarks.spec import MEAN, MICRO, BenchmarkSpec
from vlrb.protocols import accuracies, ratios
from vlrb.scoring import tally_many
from vlrb.statistics.clustered_intervals import (
    DifferenceSums,
    GroupedDifference,
    grouped_difference,
    grouped_p,
    grouped_reach,
    mean_difference,
)
from vlrb.statistics.judge_agreement import agreement_matrix, error_consistency
from vlrb.statistics.ranking import (
    RANK_RANGE_LIMIT,
    PairTests,
    best_set,
    best_set_limit,
    grouped_rank_ranges,
    normal_draws,
    parts_of,
    rank_ranges,
    tests_of_counts,
)
from vlrb.statistics.selection import Selection, select_best
from vlrb.statistics.uncertainty import Z, discordant_counts, macro_difference, mcnemar_exact, paired_interval
from vlrb.votes import ABSENT, Matrix, resolved

VERSION = "4"  # of everything computed here; a change makes the workers compute all of it again
MAGIC = b"relations/1\n"
COMPARED_AT_MOST = RANK_RANGE_LIMIT
AGREEMENT_AT_MOST = 200
BANDS = 10
BAND_JUDGES = 5  # fewer would show what single judges got right
_UNDEFINED = -32768
_COMPRESSION = 3  # 6 takes three times as long for 2% less

_OrderParts = Mapping[str, Mapping[str, list[BoolArray]]]  # by grouping and order
_Selections = Mapping[str, Mapping[str, Selection]]
_PairCount = tuple[int, int, int]  # only the first is right, only the second, items


class ComparableJudges(NamedTuple):
    """Entries to compare, best first."""

    chosen: list[str]  # at most COMPARED_AT_MOST
    judges: int  # how many there were to choose from
    version_of: dict[str, str]  # every other entry -> the best of its judge


class RankRange(NamedTuple):
    """Range of ranks of an entry among those compared."""

    best: int  # 1 of who could be first, and of no other
    worst: int


@dataclass(frozen=True, slots=True)
class PairedCounts:
    """Two judges on the same items. ``delta`` (first minus second) and its 95% interval are fractions."""

    n: int
    only_first: int | None  # items only the first is right on; None for the macro average, which is no count
    only_second: int | None
    delta: float
    low: float
    high: float
    p: float  # two-sided: exact McNemar; for the macro average the paired macro test


@dataclass(frozen=True, slots=True, eq=False)
class GroupedPairs:
    """Sums over groups for every two entries: ``differences``, ``products`` (sources, entries, entries), ``sizes``
    (sources, 2): sum of n * n, and groups."""

    differences: npt.NDArray[np.int32]
    products: npt.NDArray[np.int32]
    sizes: npt.NDArray[np.int32]

    @classmethod
    def count(cls, correct: BoolArray, members: Sequence[BoolArray], *, groups: IntArray) -> GroupedPairs:
        """Return the sums of judges' right answers (entries, items), of the items of each source."""
        differences, products, sizes = [], [], []
        for member in members:
            names, index = np.unique(groups[member], return_inverse=True)
            inside = np.zeros((index.size, names.size), dtype=np.int64)
            inside[np.arange(index.size), index] = 1
            right, held = correct[:, member].astype(np.int64) @ inside, inside.sum(axis=0)
            both, weighted = right @ right.T, right @ held
            own = np.diag(both)
            differences.append(own[:, np.newaxis] + own[np.newaxis] - 2 * both)
            products.append(weighted[:, np.newaxis] - weighted[np.newaxis])
            sizes.append((int(held @ held), names.size))
        return cls(*(np.array(values, dtype=np.int32) for values in (differences, products, sizes)))

    def of(self, kept: Sequence[int]) -> GroupedPairs:
        """Return the sums of some entries."""
        return GroupedPairs(self.differences[:, kept][:, :, kept], self.products[:, kept][:, :, kept], sizes=self.sizes)

    def tests(self, only: IntArray, parts: Sequence[Sequence[int]], *, sizes: IntArray) -> PairTests:
        """Return every two entries by the cluster-robust test of the mean over parts. ``only``: only the row right."""
        first, second = np.triu_indices(self.differences.shape[1], k=1)
        counts = [(only[part].sum(axis=0), int(sizes[part].sum())) for part in map(list, parts)]
        result = mean_difference(
            [
                self.difference(first, second, places=part, count=(b[first, second], b[second, first], n))
                for part, (b, n) in zip(parts, counts, strict=True)
            ]
        )
        p = grouped_p(result.delta, result.variance, freedom=result.freedom)
        return PairTests(first, second, delta=result.delta, variance=result.variance, p=p)

    def difference(
        self, first: Any, second: Any, *, places: Sequence[int], count: tuple[Any, Any, int]
    ) -> GroupedDifference:
        """Return the difference of two entries over some sources; of several pairs where places are arrays."""
        b, c, n = count
        differences, products = (
            values[places][:, first, second].sum(axis=0, dtype=np.float64)
            for values in (self.differences, self.products)
        )
        squares, groups = self.sizes[places].sum(axis=0).astype(np.float64)
        return grouped_difference(
            DifferenceSums(differences, products, squares=squares, groups=groups, net=b - c, discordant=b + c, total=n)
        )


@dataclass(frozen=True, slots=True, eq=False)
class PairwiseArrays:
    """Arrays over the compared entries under one label revision, best strict macro first.

    ``only_right``: int16 (sources, entries, entries), items of a source on which the row is right and the column is
    wrong, under ``strict``. ``right``: int16 (sources, entries). ``agreement``: (m, m) of the majority verdicts of the
    first m entries, corrected for a random order, in thousandths, NaN where undefined. ``bands``: int8 per item of the
    table.
    """

    label_revision: str
    entries: tuple[str, ...]
    sizes: IntArray
    right: Int16Array | None
    only_right: Int16Array | None
    agreement: FloatArray
    bands: Int8Array | None
    grouped: GroupedPairs | None = None

    def without(self, names: Collection[str]) -> PairwiseArrays:
        """Return the same without some entries: no figure about two judges of which one is named here."""
        kept = [index for index, name in enumerate(self.entries) if name not in names]
        if len(kept) == len(self.entries):
            return self
        alike = [index for index in kept if index < len(self.agreement)]
        return replace(
            self,
            entries=tuple(self.entries[index] for index in kept),
            right=None if self.right is None else self.right[:, kept],
            only_right=None if self.only_right is None else self.only_right[:, kept][:, :, kept],
            agreement=self.agreement[np.ix_(alike, alike)],
            grouped=None if self.grouped is None else self.grouped.of(kept),
        )

    def pair(
        self, first: str, second: str, spec: BenchmarkSpec, grouping: str | None = None
    ) -> dict[str, PairedCounts] | None:
        """Paired differences of two entries by name: means, counted scores, then the sources; empty parts are left
        out. None where an entry is not among those compared, or where the counts are not disclosed.

        Raises:
            KeyError: an unknown grouping.
        """
        if self.only_right is None or first not in self.entries or second not in self.entries:
            return None
        i, j = self.entries.index(first), self.entries.index(second)
        b, c = self.only_right[:, i, j].astype(np.int64), self.only_right[:, j, i].astype(np.int64)
        members = spec.groupings[grouping or spec.official]
        counted = [name for name in spec.overall_first if not spec.is_mean(name) and not spec.counts_groups(name)]
        groups = {name: [source for key in spec.parts_of(name) for source in members[key]] for name in counted}
        groups |= {source: [source] for source in spec.shown_sources}
        counts = {name: _sum(sources, (b, c, self.sizes), spec=spec) for name, sources in groups.items()}
        asked = {
            name: count for name, count in counts.items() if count[2] and _fits_overall(name, self.sizes, spec=spec)
        }
        if self.grouped is not None:
            return self._grouped_pair((i, j), groups, counts=asked, spec=spec)
        result = {name: _paired(b, c, n=n) for name, (b, c, n) in asked.items()}
        means = {name: [counts[key] for key in spec.parts_of(name)] for name in spec.overall_keys if spec.is_mean(name)}
        complete = {name: parts for name, parts in means.items() if min(n for _, _, n in parts) >= 2}
        return {**{name: _paired_macro(parts) for name, parts in complete.items()}, **result}

    def best_set(
        self, names: Sequence[str], order: str, *, spec: BenchmarkSpec, grouping: str, tried: Mapping[str, int]
    ) -> frozenset[str] | None:
        """Return which of some entries could be first by a score; None where that cannot be tested.

        ``tried``: of how many variants an entry is the best. It beats a rival by p times that number (Bonferroni).
        """
        tests = self.tests(names, order, spec=spec, grouping=grouping)
        if tests is None:
            return None
        better = np.where(tests.delta > 0, tests.first, tests.second)
        p = tests.p * np.array([tried.get(name, 1) for name in names])[better]
        first = best_set(len(names), tests, clear=p < best_set_limit(len(names)))
        return frozenset(name for name, known in zip(names, first.tolist(), strict=True) if known)

    def tests(self, names: Sequence[str], order: str, *, spec: BenchmarkSpec, grouping: str) -> PairTests | None:
        """Return every two of some entries by the test of a score; None where one was not compared, or counts are not
        disclosed."""
        places = {name: index for index, name in enumerate(self.entries)}
        parts = self._parts(order, spec=spec, grouping=grouping)
        if self.only_right is None or not parts or not names or not places.keys() >= set(names):
            return None
        kept = [places[name] for name in names]
        only = self.only_right[:, kept][:, :, kept].astype(np.int64)
        if self.grouped is not None:
            return self.grouped.of(kept).tests(only, parts, sizes=self.sizes)
        counts = [(only[part].sum(axis=0), int(self.sizes[part].sum())) for part in parts]
        return tests_of_counts(counts, exact=not spec.is_mean(order))

    def _parts(self, order: str, *, spec: BenchmarkSpec, grouping: str) -> list[list[int]]:
        """Return the sources of each category that a score averages, or of all its pairs; [] of too few pairs."""
        members = spec.groupings[grouping]
        parts = [[spec.source_keys.index(source) for source in members[name]] for name in spec.parts_of(order)]
        if not spec.is_mean(order):
            parts = [[source for part in parts for source in part]]
        counted = all(self.sizes[part].sum() >= 2 for part in parts) and _fits_overall(order, self.sizes, spec=spec)
        return parts if counted and not spec.counts_groups(order) else []

    def error_consistency(self, first: str, second: str) -> float | None:
        """Return whether two entries err on the same items; None where that is undefined, or not disclosed."""
        if self.right is None or self.only_right is None:
            return None
        i, j = self.entries.index(first), self.entries.index(second)
        right, other, only = (
            int(counts.sum()) for counts in (self.right[:, i], self.right[:, j], self.only_right[:, i, j])
        )
        return error_consistency(right - only, right, second_right=other, items=int(self.sizes.sum()))

    def _grouped_pair(
        self,
        pair: tuple[int, int],
        members: Mapping[str, Sequence[str]],
        *,
        counts: Mapping[str, _PairCount],
        spec: BenchmarkSpec,
    ) -> dict[str, PairedCounts]:
        """Return the same by cluster-robust tests; ``members``: the sources of each score."""
        assert self.grouped is not None
        differences = {}
        for name, (b, c, n) in counts.items():
            places = [spec.source_keys.index(source) for source in members[name]]
            differences[name] = self.grouped.difference(*pair, places=places, count=(b, c, n))
        result = {name: _grouped(differences[name], counts[name]) for name in counts}
        for name in filter(spec.is_mean, spec.overall_keys):
            parts = spec.parts_of(name)
            if all(part in counts for part in parts):
                total = sum(counts[part][2] for part in parts)
                result[name] = _grouped(mean_difference([differences[part] for part in parts]), (None, None, total))
        return result


def _grouped(difference: GroupedDifference, count: tuple[int | None, int | None, int]) -> PairedCounts:
    """Return counts with the interval of the t test: it excludes 0 if and only if p is below .05."""
    b, c, n = count
    if b is not None and c is not None and b + c == 0:
        return _paired(b, c, n=n)
    delta, reach = float(difference.delta), float(grouped_reach(difference))
    p = float(grouped_p(difference.delta, difference.variance, freedom=difference.freedom))
    return PairedCounts(
        n, b, only_second=c, delta=delta, low=max(delta - reach, -1.0), high=min(delta + reach, 1.0), p=p
    )


def _fits_overall(name: str, sizes: IntArray, *, spec: BenchmarkSpec) -> bool:
    """Return whether a score is given for as many items."""
    overall = spec.overall(name)
    return overall is None or overall.pairs in (None, int(sizes.sum()))


def _sum(sources: Sequence[str], arrays: tuple[IntArray, IntArray, IntArray], *, spec: BenchmarkSpec) -> _PairCount:
    indices = [spec.source_keys.index(source) for source in sources]
    b, c, n = (int(array[indices].sum()) for array in arrays)
    return b, c, n


def _paired(b: int, c: int, *, n: int) -> PairedCounts:
    """Return counts whose interval agrees with the test: it excludes 0 if and only if p is below .05."""
    return PairedCounts(n, b, c, (b - c) / n, *paired_interval(b, c, n=n), mcnemar_exact(b, c))


def _paired_macro(parts: Sequence[_PairCount]) -> PairedCounts:
    """Return counts with the interval of the test: it excludes 0 if and only if p is below .05."""
    delta, error, p = macro_difference(parts)
    return PairedCounts(
        sum(n for _, _, n in parts),
        None,
        only_second=None,
        delta=delta,
        low=delta - Z * error,
        high=delta + Z * error,
        p=p,
    )


def ranking_keys(counts: IntArray, spec: BenchmarkSpec) -> list[tuple[float, ...]]:
    """Return by what entries are ordered, the smallest key is the best: headline score, then the pooled one.

    ``counts``: entries x CELLS x FIELDS, as in Tally. Where a score does not exist it counts as the lowest.
    """
    shares = np.nan_to_num(accuracies(ratios(counts, spec)), nan=-1.0)
    keys = -shares[:, [spec.index(name) for name in spec.tie_breaks]]
    return [tuple(key) for key in keys.tolist()]


def comparable(
    ranked: Sequence[str], judges: Mapping[str, str], *, at_most: int = COMPARED_AT_MOST
) -> ComparableJudges:
    """Return of each judge its best entry. ``ranked``: entries, best first; ``judges``: the judge of each; variants of
    one judge are compared with others only by their best."""
    best: dict[str, str] = {}
    for name in ranked:
        best.setdefault(judges[name], name)
    others = {name: best[judges[name]] for name in ranked if best[judges[name]] != name}
    return ComparableJudges(list(best.values())[:at_most], len(best), version_of=others)


class Variants(NamedTuple):
    """The other variants of an entry that is the best of several."""

    total: int  # how many there are, the entry included
    verdicts: Matrix  # (others, items) majority verdicts, of those that come next to it
    known: dict[bytes, Selection] | None = None  # selections computed before, by digest; new ones are added


class PairwiseSummary(NamedTuple):
    """Stored results of the worker: the relations, and the summary for the snapshot."""

    relations: PairwiseArrays
    summary: dict[str, Any]


def compare_all(
    entries: Sequence[str],
    verdicts: Matrix,
    *,
    labels: LabelSet,
    table: ItemTable,
    public: bool = True,
    variants: Mapping[str, Variants] | None = None,
) -> PairwiseSummary:
    """Return everything about the entries together.

    ``entries``: ids, best first; ``verdicts``: (entries, items) majority verdicts. ``public``: whether the labels are
    public, so that counts may be. ``variants``: the other variants of entries that are the best of several.

    Raises:
        ValueError: not one row of verdicts per entry, or not one verdict per item.
    """
    if verdicts.shape != (len(entries), len(table)):
        raise ValueError(f"verdicts are entries x items, not {verdicts.shape}")
    verdicts = resolved(verdicts, labels.preferred)
    labelled = labels.preferred != NOT_LABELLED
    correct = outcomes(verdicts, labels)
    spec = table.spec
    members = [labelled & (table.source_index == index) for index in range(len(spec.sources))]
    sizes = np.array([member.sum() for member in members], dtype=np.int64)
    right = np.stack([correct[:, member].sum(axis=1) for member in members]).astype(np.int16)
    only = np.stack([discordant_counts(correct[:, member]) for member in members]).astype(np.int16)
    bands = _bands(correct, (verdicts != ABSENT) & labelled) if public else None
    relations = PairwiseArrays(
        labels.revision,
        tuple(entries),
        sizes=sizes,
        right=right if public else None,
        only_right=only if public else None,
        agreement=agreement(verdicts[:AGREEMENT_AT_MOST]),
        bands=bands,
        grouped=GroupedPairs.count(correct, members, groups=table.group_index)
        if public and spec.grouped is not None
        else None,
    )
    majority = board_majority(verdicts) if public else None
    parts = {
        grouping: {
            order: masks
            for order in spec.headline_first
            if (masks := _parts(labelled, table, grouping=grouping, order=order))
        }
        for grouping in (spec.groupings if public else (spec.official,))
    }
    tried = {
        index: _selections(np.vstack([correct[index], right]), parts, known=selection.known)
        for name, selection in (variants or {}).items()
        for index, right in [(entries.index(name), outcomes(selection.verdicts, labels))]
    }
    summary = {
        "entries": list(entries),
        "ranges": (
            _ranges(correct, parts, selections=tried, public=public, spec=spec)
            if spec.grouped is None
            else _grouped_ranges(correct, parts, table=table, public=public)
        ),
        "variants": {
            name: _variants_json(selection.total, tried[entries.index(name)], public=public)
            for name, selection in (variants or {}).items()
        },
        "difficulty": None if bands is None else _difficulty(bands, table),
        "majority": None if majority is None else tally_many(majority[np.newaxis], labels, table=table)[0].to_json(),
    }
    return PairwiseSummary(relations, summary)


def outcomes(verdicts: Matrix, labels: LabelSet) -> BoolArray:
    """Return whether each judge is right on each item under ``strict``; (judges, items), as the verdicts are."""
    return np.asarray((resolved(verdicts, labels.preferred) == labels.preferred) & (labels.preferred != NOT_LABELLED))


def agreement(verdicts: Matrix) -> FloatArray:
    """(judges, items) -> (judges, judges) agreement rounded to thousandths; NaN where it is undefined, 1 with
    oneself."""
    result = np.round(agreement_matrix(verdicts), 3)
    np.fill_diagonal(result, 1.0)
    return result


def _bands(correct: npt.NDArray[np.bool_], present: npt.NDArray[np.bool_]) -> Int8Array:
    """(entries, items) twice -> per item the tenth in which the share of right judges lies, all of them in the last.

    The share is of the judges whose file has the item; -1 where these are fewer than BAND_JUDGES.
    """
    judges = present.sum(axis=0)
    tenth = np.minimum(BANDS * correct.sum(axis=0) // np.maximum(judges, 1), BANDS - 1)
    return np.where(judges >= BAND_JUDGES, tenth, -1).astype(np.int8)


def _difficulty(bands: Int8Array, table: ItemTable) -> dict[str, list[int]] | None:
    """Return items per band, by category; None where no item has enough judges."""
    if not (bands >= 0).any():
        return None
    return {
        name: np.bincount(bands[(bands >= 0) & (table.category_index == index)], minlength=BANDS).tolist()
        for index, name in enumerate(table.spec.category_keys)
    }


def _parts(labelled: BoolArray, table: ItemTable, *, grouping: str, order: str) -> list[BoolArray]:
    """Return the items of an order as masks; [] where there is nothing, or too little, to count."""
    spec = table.spec
    members, wanted = spec.groupings[grouping], spec.parts_of(order)
    if not _fits_overall(order, np.array(labelled.sum()), spec=spec) or spec.counts_groups(order):
        return []
    code = {source: number for number, name in enumerate(wanted) for source in members[name]}
    category = np.where(labelled, np.array([code.get(key, -1) for key in spec.source_keys])[table.source_index], -1)
    if not spec.is_mean(order):
        return parts_of(category, MICRO)
    parts = parts_of(category, MEAN)
    return parts if len(parts) == len(wanted) and min(part.sum() for part in parts) >= 2 else []


def _ranges(
    correct: BoolArray,
    parts: _OrderParts,
    *,
    selections: Mapping[int, _Selections],
    public: bool,
    spec: BenchmarkSpec,
) -> dict[str, Any]:
    """Return grouping -> order -> arrays over the entries. Orders that nothing is counted for are left out."""
    result: dict[str, Any] = {grouping: {} for grouping in parts}
    known: dict[bytes, dict[str, Any]] = {}  # groupings share parts, and overall
    draws = normal_draws(correct.shape[1])
    for grouping, orders in parts.items() if len(correct) else ():
        for order, masks in orders.items():
            key = b"".join(np.packbits(mask).tobytes() for mask in masks)
            if key not in known:
                chosen = {
                    index: selection[grouping][order]
                    for index, selection in selections.items()
                    if order in selection[grouping]
                }
                how: dict[str, Any] = {"draws": draws} if public else {"pairwise_only": True}
                ranges = rank_ranges(correct, masks, exact=not spec.is_mean(order), chosen=chosen, **how)
                known[key] = {"best": ranges.best.tolist(), "worst": ranges.worst.tolist()}
            result[grouping][order] = known[key]
    return result


def _grouped_ranges(correct: BoolArray, parts: _OrderParts, *, table: ItemTable, public: bool) -> dict[str, Any]:
    """Return the same where pairs come in groups; the score that counts groups is tested over whole groups."""
    result: dict[str, Any] = {grouping: {} for grouping in parts}
    for grouping, orders in parts.items() if len(correct) else ():
        for order, masks in orders.items():
            ranges = grouped_rank_ranges(correct, masks, groups=table.group_index, pairwise_only=not public)
            result[grouping][order] = {"best": ranges.best.tolist(), "worst": ranges.worst.tolist()}
    return result


def _selections(right: BoolArray, parts: _OrderParts, *, known: dict[bytes, Selection] | None) -> _Selections:
    """Return the selection gain of the first of several variants, in every order. ``right``: variants x items.

    ``known``: those of earlier calls; a judge without a new variant keeps its own.
    """
    before: dict[bytes, Selection] = {} if known is None else known
    digest = hashlib.sha256(f"{right.shape}".encode() + np.packbits(right).tobytes())
    result: dict[str, dict[str, Selection]] = {grouping: {} for grouping in parts}
    for grouping, orders in parts.items():
        for order, masks in orders.items():
            if min(int(mask.sum()) for mask in masks) >= 2:
                key = _with_parts(digest, masks)
                if key not in before:
                    before[key] = select_best(right, masks)
                result[grouping][order] = before[key]
    return result


def _with_parts(digest: Any, masks: Sequence[BoolArray]) -> bytes:
    full = digest.copy()
    for mask in masks:
        full.update(np.packbits(mask).tobytes())
    return bytes(full.digest())


def _variants_json(total: int, selections: _Selections, *, public: bool) -> dict[str, Any]:
    """Return the figures of variants; of hidden labels as coarse as their accuracies, and never too favourable."""
    return {
        "variants": total,
        **{
            grouping: {
                order: [round(variant.gain, 5 if public else 3), _up(variant.z, 3 if public else 1)]
                for order, variant in orders.items()
            }
            for grouping, orders in selections.items()
        },
    }


def _up(value: float, digits: int) -> float:
    return value if value == Z else ceil(value * 10**digits) / 10**digits


def rank_ranges_of(summary: Mapping[str, Any], grouping: str, *, order: str) -> dict[str, RankRange]:
    """Rank ranges by entry id from the summary in a snapshot; empty where there are none for this order."""
    ranges = summary["ranges"].get(grouping, {}).get(order)
    if ranges is None:
        return {}
    return dict(zip(summary["entries"], map(RankRange, ranges["best"], ranges["worst"]), strict=True))


class Packed(NamedTuple):
    """Relations as they are stored; ``id`` is the SHA-256 of the content before compression."""

    id: str
    body: bytes


def pack(relations: PairwiseArrays) -> Packed:
    """Return nothing but what may be shown goes into the content, and so into the id: a digest of labels that are not
    public would let people test guesses.
    """
    arrays: dict[str, Array] = {"sizes": relations.sizes.astype("<i4")}
    if relations.right is not None and relations.only_right is not None:
        i, j = np.triu_indices(len(relations.entries), k=1)
        arrays["right"] = relations.right.astype("<i2")
        arrays["both"] = (relations.right[:, i] - relations.only_right[:, i, j]).astype("<i2")
        if relations.grouped is not None:
            arrays["group_differences"] = relations.grouped.differences[:, i, j].astype("<i4")
            arrays["group_products"] = relations.grouped.products[:, i, j].astype("<i4")
            arrays["group_sizes"] = relations.grouped.sizes.astype("<i4")
    i, j = np.triu_indices(len(relations.agreement), k=1)
    thousandths = np.round(relations.agreement[i, j] * 1000)
    arrays["agreement"] = np.where(np.isnan(thousandths), _UNDEFINED, thousandths).astype("<i2")
    if relations.bands is not None:
        arrays["bands"] = relations.bands.astype("|i1")
    header = {
        "label_revision": relations.label_revision,
        "entries": list(relations.entries),
        "arrays": [[name, array.dtype.str, list(array.shape)] for name, array in arrays.items()],
    }
    content = MAGIC + json.dumps(header).encode() + b"\n" + b"".join(array.tobytes() for array in arrays.values())
    return Packed(hashlib.sha256(content).hexdigest(), zlib.compress(content, _COMPRESSION))


def unpack(body: bytes) -> PairwiseArrays:
    """Return the relations of ``pack``.

    Raises:
        ValueError: the data is something else.
    """
    header, arrays = read_arrays(zlib.decompress(body) if body[:1] == b"\x78" else b"")
    right = arrays.get("right")
    return PairwiseArrays(
        header["label_revision"],
        tuple(header["entries"]),
        sizes=arrays["sizes"].astype(np.int64),
        right=right,
        only_right=None if right is None else _only_right(right, arrays["both"]),
        agreement=_agreement_square(arrays["agreement"], min(len(header["entries"]), AGREEMENT_AT_MOST)),
        bands=arrays.get("bands"),
        grouped=_grouped_pairs(arrays, len(header["entries"])),
    )


def read_arrays(content: bytes) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return the header and the arrays of uncompressed relations.

    Raises:
        ValueError: the content is something else.
    """
    if not content.startswith(MAGIC):
        raise ValueError("these are not stored relations")
    end = content.index(b"\n", len(MAGIC))
    header = json.loads(content[len(MAGIC) : end])
    arrays, offset = {}, end + 1
    for name, kind, shape in header["arrays"]:
        count = int(np.prod(shape, dtype=np.int64))
        arrays[name] = np.frombuffer(content, kind, count, offset).reshape(shape)
        offset += arrays[name].nbytes
    return header, arrays


def _grouped_pairs(arrays: Mapping[str, Array], entries: int) -> GroupedPairs | None:
    if "group_sizes" not in arrays:
        return None
    i, j = np.triu_indices(entries, k=1)
    squares = {}
    for name, sign in (("group_differences", 1), ("group_products", -1)):
        square = np.zeros((len(arrays[name]), entries, entries), dtype=np.int32)
        square[:, i, j], square[:, j, i] = arrays[name], sign * arrays[name]
        squares[name] = square
    return GroupedPairs(squares["group_differences"], squares["group_products"], sizes=arrays["group_sizes"])


def _only_right(right: Int16Array, both: Int16Array) -> Int16Array:
    sources, entries = right.shape
    i, j = np.triu_indices(entries, k=1)
    only = np.zeros((sources, entries, entries), dtype=np.int16)
    only[:, i, j] = right[:, i] - both
    only[:, j, i] = right[:, j] - both
    return only


def _agreement_square(thousandths: Int16Array, entries: int) -> FloatArray:
    i, j = np.triu_indices(entries, k=1)
    square = np.ones((entries, entries))
    square[i, j] = square[j, i] = np.where(thousandths == _UNDEFINED, np.nan, thousandths / 1000)
    return square
