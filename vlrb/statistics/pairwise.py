"""Pairwise statistics of judges: paired counts, rank ranges, agreement, and item difficulty.

Computed by the worker, for it needs labels and everybody's votes; read by the web process, which has neither. Two
results: a small *summary* (JSON, part of the snapshot) and the *relations* themselves (compressed arrays, stored once).

Relations are stored as compressed arrays of numpy: those of ``PairwiseArrays``, of squares the upper half; a missing
one is not disclosed. ``agreement`` is in thousandths, _UNDEFINED where there is none.

A label set that is not public gets rank ranges under the official grouping and the label-free agreement only.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from math import ceil
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from vlrb.arrays import Array, BoolArray, FloatArray, Int8Array, IntArray
from vlrb.benchmarks.baselines import board_majority
from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.labels import NOT_LABELLED, LabelSet
from vlrb.benchmarks.spec import MEAN, MICRO, TIE, BenchmarkSpec
from vlrb.protocols import accuracies, ratios
from vlrb.scoring import outcomes, tally_many
from vlrb.statistics.clustered_intervals import (
    DifferenceSums,
    GroupedDifference,
    grouped_difference,
    grouped_p,
    grouped_reach,
    mean_difference,
)
from vlrb.statistics.judge_agreement import agreement_matrix, error_consistency
from vlrb.statistics.lengths import preferred_lengths
from vlrb.statistics.ranking import (
    RANK_RANGE_LIMIT,
    PairTests,
    best_set,
    best_set_limit,
    influence,
    membership,
    normal_draws,
    paired_tests,
    parts_of,
    rank_ranges,
    selected_p,
    tests_of_sums,
)
from vlrb.statistics.reliability import majority
from vlrb.statistics.selection import Selection, select_best
from vlrb.statistics.self_preference import self_preference_json
from vlrb.statistics.uncertainty import PairedSums, Z, macro_difference, mcnemar_exact, paired_interval, paired_sums
from vlrb.votes import ABSENT, Matrix, resolved

VERSION = "8"  # of everything computed here; a change makes the workers compute all of it again
COMPARED_AT_MOST = RANK_RANGE_LIMIT
AGREEMENT_AT_MOST = 200
BANDS = 10
BAND_JUDGES = 5  # fewer would show what single judges got right
_UNDEFINED = -32768

_OrderParts = Mapping[str, Mapping[str, list[BoolArray]]]  # by grouping and order
_Selections = Mapping[str, Mapping[str, Selection]]


class _PairSums(NamedTuple):
    """Sums over n items of d and of d * d, where d is the outcome of the first of two entries minus that of the
    second; ``whole``: no outcome of the two is one half."""

    net: Any
    squares: Any
    n: int
    whole: bool

    @property
    def only(self) -> tuple[int, int] | tuple[None, None]:
        """Items that only the first is right on, and only the second."""
        if not self.whole:
            return None, None
        return round(self.squares + self.net) // 2, round(self.squares - self.net) // 2


class _SourceSums(NamedTuple):
    """``_PairSums`` of every two of some entries over each source: (sources, entries, entries); ``whole``: (sources,
    entries)."""

    net: FloatArray
    squares: FloatArray
    whole: BoolArray

    def over(self, places: Sequence[int]) -> PairedSums:
        """Return the sums over several sources."""
        return PairedSums(self.net[places].sum(axis=0), self.squares[places].sum(axis=0))


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
    only_first: int | None  # items only the first is right on; None for a mean of categories, or where some count half
    only_second: int | None
    delta: float
    low: float
    high: float
    p: float  # two-sided: exact McNemar where there are such counts, else the paired test of the mean difference


@dataclass(frozen=True, slots=True, eq=False)
class GroupedPairs:
    """Sums over groups for every two entries: ``differences`` times four, ``products`` doubled (sources, entries,
    entries); ``sizes`` (sources, 2): sum of n * n, and groups."""

    differences: npt.NDArray[np.int32]
    products: npt.NDArray[np.int32]
    sizes: npt.NDArray[np.int32]

    @classmethod
    def count(cls, outcomes: Array, members: Sequence[BoolArray], *, groups: IntArray) -> GroupedPairs:
        """Return the sums of judges' outcomes (entries, items), of the items of each source."""
        differences, products, sizes = [], [], []
        for member in members:
            names, index = np.unique(groups[member], return_inverse=True)
            inside = np.zeros((index.size, names.size), dtype=np.int64)
            inside[np.arange(index.size), index] = 1
            right, held = (2 * outcomes[:, member]).astype(np.int64) @ inside, inside.sum(axis=0)
            both, weighted = right @ right.T, right @ held
            own = np.diag(both)
            differences.append(own[:, np.newaxis] + own[np.newaxis] - 2 * both)
            products.append(weighted[:, np.newaxis] - weighted[np.newaxis])
            sizes.append((int(held @ held), names.size))
        return cls(*(np.array(values, dtype=np.int32) for values in (differences, products, sizes)))

    def of(self, kept: Sequence[int]) -> GroupedPairs:
        """Return the sums of some entries."""
        return GroupedPairs(self.differences[:, kept][:, :, kept], self.products[:, kept][:, :, kept], sizes=self.sizes)

    def tests(self, counts: Sequence[tuple[PairedSums, int]], parts: Sequence[Sequence[int]]) -> PairTests:
        """Return every two entries by the cluster-robust test of the mean over parts. ``counts``: of each part the sums
        over items, and how many."""
        first, second = np.triu_indices(self.differences.shape[1], k=1)
        sums = [_PairSums(net[first, second], squares[first, second], n, whole=False) for (net, squares), n in counts]
        result = mean_difference(
            [
                self.difference(first, second, places=part, sums=one)
                for part, one in zip(map(list, parts), sums, strict=True)
            ]
        )
        p = grouped_p(result.delta, result.variance, freedom=result.freedom)
        return PairTests(first, second, delta=result.delta, variance=result.variance, p=p)

    def difference(self, first: Any, second: Any, *, places: Sequence[int], sums: _PairSums) -> GroupedDifference:
        """Return the difference of two entries over some sources; of several pairs where places are arrays."""
        squares, groups = self.sizes[places].sum(axis=0).astype(np.float64)
        differences, products = (
            values[places][:, first, second].sum(axis=0, dtype=np.float64)
            for values in (self.differences, self.products)
        )
        return grouped_difference(
            DifferenceSums(
                differences / 4,
                products / 2,
                squares=squares,
                groups=groups,
                net=sums.net,
                discordant=sums.squares,
                total=sums.n,
            )
        )


@dataclass(frozen=True, slots=True, eq=False)
class PairwiseArrays:
    """Arrays over the compared entries under one label revision, best strict macro first.

    ``right``: (sources, entries), sums of outcomes under ``strict``, doubled. ``both``: (sources, entries, entries),
    sums of products of two outcomes, times four; on the diagonal those of squares. ``agreement``: (m, m) of the
    majority verdicts of the first m entries, corrected for a random order, in thousandths, NaN where undefined.
    ``bands``: int8 per item of the table.
    """

    label_revision: str
    entries: tuple[str, ...]
    sizes: IntArray
    right: Array | None
    both: Array | None
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
            both=None if self.both is None else self.both[:, kept][:, :, kept],
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
        if first not in self.entries or second not in self.entries:
            return None
        pair = self.entries.index(first), self.entries.index(second)
        source_sums = self._sums(pair)
        if source_sums is None:
            return None
        members = spec.groupings[grouping or spec.official]
        counted = [name for name in spec.overall_first if not spec.is_mean(name) and not _is_apart(name, spec)]
        groups = {name: [source for key in spec.parts_of(name) for source in members[key]] for name in counted}
        groups |= {source: [source] for source in spec.shown_sources}
        places = {name: [spec.source_keys.index(source) for source in own] for name, own in groups.items()}
        sums = {name: self._of_pair(source_sums, own) for name, own in places.items()}
        given = {name: one for name, one in sums.items() if one.n and _fits_overall(name, self.sizes, spec=spec)}
        if self.grouped is not None:
            return self._grouped_pair(pair, places, sums=given, spec=spec)
        result = {name: _paired(one) for name, one in given.items()}
        means = {name: [sums[key] for key in spec.parts_of(name)] for name in spec.overall_keys if spec.is_mean(name)}
        complete = {name: parts for name, parts in means.items() if min(part.n for part in parts) >= 2}
        return {**{name: _paired_macro(parts) for name, parts in complete.items()}, **result}

    def _of_pair(self, sums: _SourceSums, places: Sequence[int]) -> _PairSums:
        """Return the sums of two entries over some sources."""
        net, squares = (float(values[0, 1]) for values in sums.over(places))
        return _PairSums(net, squares, int(self.sizes[places].sum()), whole=bool(sums.whole[places].all()))

    def best_set(
        self, names: Sequence[str], order: str, *, spec: BenchmarkSpec, grouping: str, tried: Mapping[str, int]
    ) -> frozenset[str] | None:
        """Return which of some entries could be first by a score; None where that cannot be tested.

        ``tried``: of how many variants an entry is the best. It beats a rival by p times that number (Bonferroni).
        """
        tests = self.tests(names, order, spec=spec, grouping=grouping)
        if tests is None:
            return None
        p = selected_p(tests, {place: tried[name] for place, name in enumerate(names) if name in tried})
        first = best_set(len(names), tests, clear=p < best_set_limit(len(names)))
        return frozenset(name for name, known in zip(names, first.tolist(), strict=True) if known)

    def tests(self, names: Sequence[str], order: str, *, spec: BenchmarkSpec, grouping: str) -> PairTests | None:
        """Return every two of some entries by the test of a score; None where one was not compared, or sums are not
        disclosed."""
        places = {name: index for index, name in enumerate(self.entries)}
        parts = self._parts(order, spec=spec, grouping=grouping)
        if not parts or not names or not places.keys() >= set(names):
            return None
        kept = [places[name] for name in names]
        sums = self._sums(kept)
        if sums is None:
            return None
        counts = [(sums.over(part), int(self.sizes[part].sum())) for part in parts]
        if self.grouped is not None:
            return self.grouped.of(kept).tests(counts, parts)
        whole = np.all(sums.whole[[place for part in parts for place in part]], axis=0, keepdims=True)[0]
        return tests_of_sums(counts, whole=None if spec.is_mean(order) else whole)

    def _parts(self, order: str, *, spec: BenchmarkSpec, grouping: str) -> list[list[int]]:
        """Return the sources of each category that a score averages, or of all its pairs; [] of too few pairs."""
        members = spec.groupings[grouping]
        parts = [[spec.source_keys.index(source) for source in members[name]] for name in spec.parts_of(order)]
        if not spec.is_mean(order):
            parts = [[source for part in parts for source in part]]
        counted = all(self.sizes[part].sum() >= 2 for part in parts) and _fits_overall(order, self.sizes, spec=spec)
        return parts if counted and not _is_apart(order, spec) else []

    def error_consistency(self, first: str, second: str) -> float | None:
        """Return whether two entries err on the same items; None where that is undefined, or not disclosed."""
        if self.right is None or self.both is None:
            return None
        i, j = self.entries.index(first), self.entries.index(second)
        right, other = (float(self.right[:, entry].sum()) / 2 for entry in (i, j))
        both = float(self.both[:, i, j].sum()) / 4
        return error_consistency(both, right, second_right=other, items=int(self.sizes.sum()))

    def _sums(self, kept: Sequence[int]) -> _SourceSums | None:
        """Return the sums over each source of every two of some entries; None where they are not disclosed."""
        if self.right is None or self.both is None:
            return None
        right, both = self.right[:, kept].astype(np.int64), self.both[:, kept][:, :, kept].astype(np.int64)
        own = np.diagonal(both, axis1=1, axis2=2)
        return _SourceSums(
            (right[:, :, np.newaxis] - right[:, np.newaxis]) / 2,
            (own[:, :, np.newaxis] + own[:, np.newaxis] - 2 * both) / 4,
            whole=own == 2 * right,
        )

    def _grouped_pair(
        self,
        pair: tuple[int, int],
        places: Mapping[str, Sequence[int]],
        *,
        sums: Mapping[str, _PairSums],
        spec: BenchmarkSpec,
    ) -> dict[str, PairedCounts]:
        """Return the same by cluster-robust tests; ``places``: the sources of each score."""
        assert self.grouped is not None
        differences = {
            name: self.grouped.difference(*pair, places=places[name], sums=one) for name, one in sums.items()
        }
        result = {name: _grouped(differences[name], one) for name, one in sums.items()}
        for name in filter(spec.is_mean, spec.overall_keys):
            parts = spec.parts_of(name)
            if all(part in sums for part in parts):
                # A mean is no count, so nobody is told on which pairs only one is right.
                mean = _PairSums(0.0, 0.0, sum(sums[part].n for part in parts), whole=False)
                result[name] = _grouped(mean_difference([differences[part] for part in parts]), mean)
        return result


def _grouped(difference: GroupedDifference, sums: _PairSums) -> PairedCounts:
    """Return counts with the interval of the t test: it excludes 0 if and only if p is below .05."""
    if sums.whole and not sums.squares:
        return _paired(sums)
    delta, reach = float(difference.delta), float(grouped_reach(difference))
    p = float(grouped_p(difference.delta, difference.variance, freedom=difference.freedom))
    b, c = sums.only
    return PairedCounts(
        sums.n, b, only_second=c, delta=delta, low=max(delta - reach, -1.0), high=min(delta + reach, 1.0), p=p
    )


def _is_apart(name: str, spec: BenchmarkSpec) -> bool:
    """Return whether a score does not follow from sums over sources: it counts groups, or leaves out pairs."""
    return spec.counts_groups(name) or spec.is_without_ties(name)


def _fits_overall(name: str, sizes: IntArray, *, spec: BenchmarkSpec) -> bool:
    """Return whether a score is given for as many items."""
    overall = spec.overall(name)
    return overall is None or overall.pairs in (None, int(sizes.sum()))


def _paired(sums: _PairSums) -> PairedCounts:
    """Return counts whose interval agrees with the test: it excludes 0 if and only if p is below .05."""
    b, c = sums.only
    if b is not None and c is not None:
        return PairedCounts(sums.n, b, c, (b - c) / sums.n, *paired_interval(b, c, n=sums.n), mcnemar_exact(b, c))
    if sums.n < 2:  # one pair has no variance
        return PairedCounts(sums.n, None, None, sums.net / sums.n, -1.0, 1.0, 1.0)
    return _paired_macro([sums])


def _paired_macro(parts: Sequence[_PairSums]) -> PairedCounts:
    """Return counts with the interval of the test: it excludes 0 if and only if p is below .05."""
    delta, error, p = macro_difference([(part.net, part.squares, part.n) for part in parts])
    return PairedCounts(
        sum(part.n for part in parts),
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


def comparable(ranked: Sequence[str], judges: Mapping[str, str]) -> ComparableJudges:
    """Return of each judge its best entry. ``ranked``: entries, best first; ``judges``: the judge of each; variants of
    one judge are compared with others only by their best."""
    best: dict[str, str] = {}
    for name in ranked:
        best.setdefault(judges[name], name)
    others = {name: best[judges[name]] for name in ranked if best[judges[name]] != name}
    return ComparableJudges(list(best.values())[:COMPARED_AT_MOST], len(best), version_of=others)


class Variants(NamedTuple):
    """The other variants of an entry that is the best of several."""

    total: int  # how many there are, the entry included
    votes: Matrix  # (others, items, K) of those that come next to it
    known: dict[bytes, Selection] | None = None  # selections computed before, by digest; new ones are added


class PairwiseSummary(NamedTuple):
    """Stored results of the worker: the relations, and the summary for the snapshot."""

    relations: PairwiseArrays
    summary: dict[str, Any]


def compare_all(
    entries: Sequence[str],
    votes: Matrix,
    *,
    labels: LabelSet,
    table: ItemTable,
    public: bool = True,
    variants: Mapping[str, Variants] | None = None,
) -> PairwiseSummary:
    """Return everything about the entries together.

    ``entries``: ids, best first; ``votes``: (entries, items, K), condensed where entries have several numbers of votes.
    ``public``: whether the labels are public, so that counts may be. ``variants``: the other variants of entries that
    are the best of several.

    Raises:
        ValueError: not one row of votes per entry, or not one group of votes per item.
    """
    if votes.shape[:2] != (len(entries), len(table)):
        raise ValueError(f"votes are entries x items x K, not {votes.shape}")
    verdicts = majority(resolved(votes, labels.preferred[:, np.newaxis]))
    labelled = labels.preferred != NOT_LABELLED
    right = outcomes(votes, labels)
    spec = table.spec
    members = [labelled & (table.source_index == index) for index in range(len(spec.sources))]
    sizes = np.array([member.sum() for member in members], dtype=np.int64)
    bands = _bands(right, (verdicts != ABSENT) & labelled) if public else None
    relations = PairwiseArrays(
        labels.revision,
        tuple(entries),
        sizes=sizes,
        right=_stored(np.stack([2 * right[:, member].sum(axis=1) for member in members]), sizes) if public else None,
        both=_stored(np.stack([_products(right[:, member]) for member in members]), sizes) if public else None,
        agreement=agreement(verdicts[:AGREEMENT_AT_MOST]),
        bands=bands,
        grouped=GroupedPairs.count(right, members, groups=table.group_index)
        if public and spec.grouped is not None
        else None,
    )
    majority_votes = board_majority(verdicts) if public else None
    parts = {
        grouping: {
            order: masks
            for order in spec.headline_first
            if (masks := _parts(labels, table, grouping=grouping, order=order))
        }
        for grouping in (spec.groupings if public else (spec.official,))
    }
    tried = {
        index: _selections(np.vstack([right[index], outcomes(selection.votes, labels)]), parts, known=selection.known)
        for name, selection in (variants or {}).items()
        for index in [entries.index(name)]
    }
    summary = {
        "entries": list(entries),
        "ranges": _ranges(right, parts, selections=tried, public=public, table=table),
        "variants": {
            name: _variants_json(selection.total, tried[entries.index(name)], public=public)
            for name, selection in (variants or {}).items()
        },
        "difficulty": None if bands is None else _difficulty(bands, table),
        "lengths": preferred_lengths(labels, table) if public else {},
        "self_preference": self_preference_json(entries, verdicts, labels=labels, table=table) if public else {},
        "majority": None
        if majority_votes is None
        else tally_many(majority_votes[np.newaxis], labels, table=table)[0].to_json(),
    }
    return PairwiseSummary(relations, summary)


def _products(right: Array) -> Array:
    """(entries, items) outcomes -> (entries, entries) sums of products, times four."""
    doubled = (2 * right).astype(np.float32)  # sums of up to 2^24 are exact
    return np.asarray(doubled @ doubled.T)


def _stored(sums: Array, sizes: IntArray) -> Array:
    """Return sums of at most four an item in the type in which they are stored."""
    return np.asarray(sums.round().astype("<i2" if 4 * int(sizes.max()) < 1 << 15 else "<i4"))


def agreement(verdicts: Matrix) -> FloatArray:
    """(judges, items) -> (judges, judges) agreement rounded to thousandths; NaN where it is undefined, 1 with
    oneself."""
    result = np.round(agreement_matrix(verdicts), 3)
    np.fill_diagonal(result, 1.0)
    return result


def _bands(right: Array, present: npt.NDArray[np.bool_]) -> Int8Array:
    """(entries, items) twice -> per item the tenth in which the share of right judges lies, all of them in the last.

    The share is of the judges whose file has the item; -1 where these are fewer than BAND_JUDGES.
    """
    judges = present.sum(axis=0)
    tenth = np.minimum(BANDS * right.sum(axis=0) // np.maximum(judges, 1), BANDS - 1)
    return np.where(judges >= BAND_JUDGES, tenth, -1).astype(np.int8)


def _difficulty(bands: Int8Array, table: ItemTable) -> dict[str, list[int]] | None:
    """Return items per band, by category; None where no item has enough judges."""
    if not (bands >= 0).any():
        return None
    return {
        name: np.bincount(bands[(bands >= 0) & (table.category_index == index)], minlength=BANDS).tolist()
        for index, name in enumerate(table.spec.category_keys)
    }


def _parts(labels: LabelSet, table: ItemTable, *, grouping: str, order: str) -> list[BoolArray]:
    """Return the items of an order as masks; [] where there is nothing, or too little, to count."""
    spec, labelled = table.spec, labels.preferred != NOT_LABELLED
    members, wanted = spec.groupings[grouping], spec.parts_of(order)
    if not _fits_overall(order, np.array(labelled.sum()), spec=spec) or spec.counts_groups(order):
        return []
    if spec.is_without_ties(order):
        labelled &= labels.preferred != TIE
    code = {source: number for number, name in enumerate(wanted) for source in members[name]}
    category = np.where(labelled, np.array([code.get(key, -1) for key in spec.source_keys])[table.source_index], -1)
    if not spec.is_mean(order):
        return parts_of(category, MICRO)
    parts = parts_of(category, MEAN)
    return parts if len(parts) == len(wanted) and min(part.sum() for part in parts) >= 2 else []


def _ranges(
    right: Array, parts: _OrderParts, *, selections: Mapping[int, _Selections], public: bool, table: ItemTable
) -> dict[str, Any]:
    """Return grouping -> order -> arrays over the entries. Orders that nothing is counted for are left out.

    Where pairs come in groups, tests and draws are of whole groups, and selection among variants is not looked at.
    """
    result: dict[str, Any] = {grouping: {} for grouping in parts}
    known: dict[bytes, dict[str, Any]] = {}  # groupings share parts, and overall
    groups = None if table.spec.grouped is None else table.group_index
    held = None if groups is None else membership(groups)
    draws = normal_draws(right.shape[1] if held is None else held.shape[1], len(right)) if public else None
    for grouping, orders in parts.items() if len(right) else ():
        for order, masks in orders.items():
            key = b"".join(np.packbits(mask).tobytes() for mask in masks)
            if key not in known:
                chosen = {index: own[grouping].get(order) for index, own in selections.items()}
                tried = {index: one.near for index, one in chosen.items() if one is not None}
                tests = _tests(right, masks, exact=not table.spec.is_mean(order), groups=groups)
                tests = tests if held is not None else tests._replace(p=selected_p(tests, tried))
                scores = influence(right, masks)
                ranges = rank_ranges(len(right), tests, scores=scores if held is None else scores @ held, draws=draws)
                known[key] = {"best": ranges.best.tolist(), "worst": ranges.worst.tolist()}
            result[grouping][order] = known[key]
    return result


def _tests(right: Array, masks: Sequence[BoolArray], *, exact: bool, groups: IntArray | None) -> PairTests:
    """Return every two entries by the test of an order."""
    if groups is None:
        return paired_tests(right, masks, exact=exact)
    counts = [(paired_sums(right[:, mask]), int(mask.sum())) for mask in masks]
    return GroupedPairs.count(right, masks, groups=groups).tests(counts, [[place] for place in range(len(masks))])


def _selections(right: Array, parts: _OrderParts, *, known: dict[bytes, Selection] | None) -> _Selections:
    """Return the selection gain of the first of several variants, in every order. ``right``: variants x items.

    ``known``: those of earlier calls; a judge without a new variant keeps its own.
    """
    before: dict[bytes, Selection] = {} if known is None else known
    digest = hashlib.sha256(f"{right.shape}".encode() + (2 * right).astype(np.int8).tobytes())
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
    """Relations as they are stored; ``id`` is the SHA-256 of the body."""

    id: str
    body: bytes


def pack(relations: PairwiseArrays) -> Packed:
    """Return nothing but what may be shown goes into the content, and so into the id: a digest of labels that are not
    public would let people test guesses.
    """
    thousandths = np.round(np.triu(relations.agreement) * 1000)
    arrays: dict[str, Any] = {
        "label_revision": relations.label_revision,
        "entries": np.array(relations.entries, dtype=np.str_),
        "sizes": relations.sizes,
        "agreement": np.where(np.isnan(thousandths), _UNDEFINED, thousandths).astype("<i2"),
    }
    if relations.right is not None and relations.both is not None:
        arrays |= {"right": relations.right, "both": np.triu(relations.both)}
    if relations.grouped is not None:
        differences, products = relations.grouped.differences, relations.grouped.products
        arrays |= {
            "differences": np.triu(differences),
            "products": np.triu(products),
            "groups": relations.grouped.sizes,
        }
    if relations.bands is not None:
        arrays["bands"] = relations.bands
    file = BytesIO()
    np.savez_compressed(file, **arrays)
    return Packed(hashlib.sha256(file.getvalue()).hexdigest(), file.getvalue())


def unpack(body: bytes) -> PairwiseArrays:
    """Return the relations of ``pack``."""
    with np.load(BytesIO(body)) as arrays:
        known = dict(arrays)
    thousandths = _whole(known["agreement"])
    grouped = (
        GroupedPairs(_whole(known["differences"]), _whole(known["products"], below=-1), sizes=known["groups"])
        if "groups" in known
        else None
    )
    return PairwiseArrays(
        str(known["label_revision"]),
        tuple(known["entries"].tolist()),
        sizes=known["sizes"],
        right=known.get("right"),
        both=_whole(known["both"]) if "both" in known else None,
        agreement=np.where(thousandths == _UNDEFINED, np.nan, thousandths / 1000),
        bands=known.get("bands"),
        grouped=grouped,
    )


def _whole(upper: Array, *, below: int = 1) -> Array:
    """Return squares of their upper halves; ``below``: the sign below the diagonal."""
    return np.asarray(upper + below * np.triu(upper, 1).swapaxes(-1, -2))
