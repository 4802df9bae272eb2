"""Pairwise statistics of judges: paired differences, rank ranges, agreement, and item difficulty.

Computed by the worker, for it needs labels and everybody's votes; read by the web process, which has neither. Two
results: a small *summary* (JSON, part of the snapshot) and the *relations* themselves (compressed arrays, stored once).

A label set that is not public gets rank ranges under the official grouping and the label-free agreement only.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from io import BytesIO
from math import ceil
from typing import Any, NamedTuple

import numpy as np

from vlrb.arrays import Array, BoolArray, FloatArray, Int8Array, IntArray
from vlrb.baselines import board_majority
from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.labels import NOT_LABELLED, LabelSet
from vlrb.benchmarks.spec import TIE, BenchmarkSpec
from vlrb.scoring import outcomes, tally_many
from vlrb.statistics.clustered_intervals import membership
from vlrb.statistics.lengths import preferred_lengths
from vlrb.statistics.ranking import (
    best_set,
    best_set_limit,
    influence,
    normal_draws,
    paired_tests,
    rank_ranges,
    selected_p,
)
from vlrb.statistics.reliability import agreement_matrix, error_consistency
from vlrb.statistics.selection import Selection, select_best
from vlrb.statistics.self_preference import self_preference_json
from vlrb.statistics.uncertainty import PairTests, Z, mcnemar_exact, paired_interval
from vlrb.votes import ABSENT, Matrix, majority, resolved

VERSION = "10"  # of everything computed here; a change makes the workers compute all of it again
COMPARED_AT_MOST = 500  # beyond it every rank range is meaninglessly wide, and the work quadratic
AGREEMENT_AT_MOST = 200
BANDS = 10
BAND_JUDGES = 5  # fewer would show what single judges got right

_OrderParts = Mapping[str, Mapping[str, list[BoolArray]]]  # by grouping and order
_Selections = Mapping[str, Mapping[str, Selection]]


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
class PairwiseArrays:
    """Arrays over the compared entries under one label revision, best strict macro first, and its ``pairs`` of items.

    ``outcomes``: int8 (entries, pairs) under ``strict``, doubled; ``items``: of each pair, its item index; ``sources``:
    its place in the definition; ``groups``: where pairs of one group are right or wrong together. None: not disclosed.
    ``agreement``: (m, m) of the majority verdicts of the first m entries, corrected for a random order, rounded to
    thousandths, NaN where undefined. ``bands``: int8 per item of the table.
    """

    label_revision: str
    entries: tuple[str, ...]
    pairs: int
    agreement: FloatArray
    outcomes: Int8Array | None = None
    items: IntArray | None = None
    sources: Int8Array | None = None
    groups: IntArray | None = None
    bands: Int8Array | None = None

    def without(self, names: Collection[str]) -> PairwiseArrays:
        """Return the same without some entries: nothing in it depends on them. Shares of judges that were right are
        those of the others, by their counted outcomes: a pair that a file lacks is wrong."""
        kept = [index for index, name in enumerate(self.entries) if name not in names]
        if len(kept) == len(self.entries):
            return self
        alike = [index for index in kept if index < len(self.agreement)]
        named, agreement = tuple(self.entries[index] for index in kept), self.agreement[np.ix_(alike, alike)]
        if self.outcomes is None or self.items is None or self.bands is None:
            return replace(self, entries=named, agreement=agreement, outcomes=None, bands=None)
        outcomes, bands = self.outcomes[kept], np.full_like(self.bands, -1)
        bands[self.items] = _bands(outcomes / 2, np.ones(outcomes.shape, dtype=bool))
        return replace(self, entries=named, agreement=agreement, outcomes=outcomes, bands=bands)

    def pair(
        self, first: str, second: str, spec: BenchmarkSpec, grouping: str | None = None
    ) -> dict[str, PairedCounts] | None:
        """Paired differences of two entries by name: means, counted scores, then the sources; empty parts are left
        out. None where an entry is not among those compared, or where the outcomes are not disclosed.

        Raises:
            KeyError: an unknown grouping.
        """
        outcomes = self._outcomes((first, second))
        if outcomes is None or self.sources is None:
            return None
        names = sorted(spec.overall_first, key=lambda name: not spec.is_mean(name))
        parts = {name: _parts(self.sources, name, spec=spec, grouping=grouping or spec.official) for name in names}
        sources = {key: self.sources == spec.source_keys.index(key) for key in spec.shown_sources}
        parts |= {key: [held] for key, held in sources.items() if held.any()}
        known = {name: masks for name, masks in parts.items() if masks}
        return {name: self._difference(outcomes, masks, mean=spec.is_mean(name)) for name, masks in known.items()}

    def _difference(self, outcomes: FloatArray, parts: Sequence[BoolArray], *, mean: bool) -> PairedCounts:
        """Return the difference of two judges with the interval of its test: it excludes 0 if and only if p is below
        .05. A mean is no count, so nobody is told on which pairs only one is right."""
        n, b, c = sum(int(part.sum()) for part in parts), None, None
        d = (outcomes[0] - outcomes[1])[np.any(parts, axis=0)]
        if not mean and (outcomes[:, parts[0]] != 0.5).all():
            b, c = int((d > 0).sum()), int((d < 0).sum())
            if self.groups is None or not d.any():
                low, high = paired_interval(b, c, n=n)
                return PairedCounts(n, b, c, (b - c) / n, low, high, mcnemar_exact(b, c))
        if self.groups is None and n < 2:  # one pair has no variance
            return PairedCounts(n, None, None, float(d.sum()), -1.0, 1.0, 1.0)
        tests = paired_tests(outcomes, parts, exact=False, groups=self.groups)
        delta, reach = float(tests.delta[0]), tests.reach * float(np.sqrt(tests.variance[0]))
        return PairedCounts(n, b, c, delta, max(delta - reach, -1.0), min(delta + reach, 1.0), float(tests.p[0]))

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
        """Return every two of some entries by the test of a score; None where one was not compared, or outcomes are not
        disclosed."""
        outcomes = self._outcomes(names)
        if outcomes is None or self.sources is None:
            return None
        parts = _parts(self.sources, order, spec=spec, grouping=grouping)
        if min((part.sum() for part in parts), default=0) < 2:
            return None
        return paired_tests(outcomes, parts, exact=not spec.is_mean(order), groups=self.groups)

    def _outcomes(self, names: Sequence[str]) -> FloatArray | None:
        """Return what the pairs of some entries count; None where one was not compared, or it is not disclosed."""
        places = {name: index for index, name in enumerate(self.entries)}
        if self.outcomes is None or not names or not places.keys() >= set(names):
            return None
        return self.outcomes[[places[name] for name in names]] / 2

    def only_right(self, first: str, second: str) -> frozenset[int] | None:
        """Return the item indices of the pairs on which the first entry is right and the second one wrong; None where
        one was not compared, or it is not disclosed."""
        outcomes = self._outcomes((first, second))
        if outcomes is None or self.items is None:
            return None
        return frozenset(self.items[(outcomes[0] == 1) & (outcomes[1] == 0)].tolist())

    def error_consistency(self, first: str, second: str) -> float | None:
        """Return whether two entries err on the same items; None where that is undefined, or not disclosed."""
        outcomes = self._outcomes((first, second))
        return None if outcomes is None else error_consistency(*outcomes)


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
    spec, sources = table.spec, np.where(labelled, table.source_index, -1)
    bands = _bands(right, (verdicts != ABSENT) & labelled) if public else None
    relations = PairwiseArrays(labels.revision, tuple(entries), labels.items, agreement(verdicts[:AGREEMENT_AT_MOST]))
    if public:
        relations = replace(
            relations,
            outcomes=(2 * right[:, labelled]).astype(np.int8),
            items=np.flatnonzero(labelled),
            sources=sources[labelled].astype(np.int8),
            groups=None if spec.grouped is None else table.group_index[labelled],
            bands=bands,
        )
    majority_votes = board_majority(verdicts) if public else None
    parts = {
        grouping: {
            order: masks
            for order in spec.headline_first
            if (masks := _parts(sources, order, spec=spec, grouping=grouping, ties=labels.preferred == TIE))
        }
        for grouping in (spec.groupings if public else (spec.official,))
    }
    tried = {
        index: _selections(np.vstack([right[index], outcomes(selection.votes, labels)]), parts)
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


def agreement(verdicts: Matrix) -> FloatArray:
    """(judges, items) -> (judges, judges) agreement rounded to thousandths; NaN where it is undefined, 1 with
    oneself."""
    result = np.round(agreement_matrix(verdicts), 3)
    np.fill_diagonal(result, 1.0)
    return result


def _bands(right: Array, present: BoolArray) -> Int8Array:
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


def _parts(
    sources: Array, order: str, *, spec: BenchmarkSpec, grouping: str, ties: BoolArray | None = None
) -> list[BoolArray]:
    """Return the items of each category that an order averages, or all that it counts, as masks; [] where there is
    nothing, or too little, to count. ``sources``: of each item its place in the definition, -1 where the label revision
    lacks it; ``ties``: whose label is one, None where that is not known."""
    overall, members = spec.overall(order), spec.groupings[grouping]
    if spec.counts_groups(order) or (overall is not None and overall.pairs not in (None, (sources >= 0).sum())):
        return []
    if spec.is_without_ties(order):
        if ties is None:
            return []
        sources = np.where(ties, -1, sources)
    parts = [np.isin(sources, [spec.source_keys.index(key) for key in members[name]]) for name in spec.parts_of(order)]
    if not spec.is_mean(order):
        parts = [np.any(parts, axis=0)]
    return parts if min(part.sum() for part in parts) >= (2 if spec.is_mean(order) else 1) else []


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
            key = np.packbits(masks).tobytes()
            if key not in known:
                chosen = {index: own[grouping].get(order) for index, own in selections.items()}
                tried = {index: one.near for index, one in chosen.items() if one is not None}
                tests = paired_tests(right, masks, exact=not table.spec.is_mean(order), groups=groups)
                tests = tests if held is not None else tests._replace(p=selected_p(tests, tried))
                scores = influence(right, masks)
                ranges = rank_ranges(len(right), tests, scores=scores if held is None else scores @ held, draws=draws)
                known[key] = {"best": ranges.best.tolist(), "worst": ranges.worst.tolist()}
            result[grouping][order] = known[key]
    return result


def _selections(right: Array, parts: _OrderParts) -> _Selections:
    """Return the selection gain of the first of several variants, in every order. ``right``: variants x items."""
    known: dict[bytes, Selection] = {}  # groupings share parts, and overall
    result: dict[str, dict[str, Selection]] = {grouping: {} for grouping in parts}
    for grouping, orders in parts.items():
        for order, masks in orders.items():
            if min(int(mask.sum()) for mask in masks) >= 2:
                key = np.packbits(masks).tobytes()
                if key not in known:
                    known[key] = select_best(right, masks)
                result[grouping][order] = known[key]
    return result


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


def pack(relations: PairwiseArrays) -> bytes:
    """Return relations as they are stored. Nothing but what may be shown is in them, and so in their digest: that of
    labels that are not public would let people test guesses."""
    known = {field.name: getattr(relations, field.name) for field in fields(relations)}
    arrays = {name: value for name, value in known.items() if value is not None}
    file = BytesIO()
    np.savez_compressed(file, **arrays | {"entries": np.array(relations.entries, dtype=np.str_)})
    return file.getvalue()


def unpack(body: bytes) -> PairwiseArrays:
    """Return the relations of ``pack``."""
    with np.load(BytesIO(body)) as arrays:
        known: dict[str, Any] = dict(arrays)
    revision, entries, pairs = (known.pop(name).tolist() for name in ("label_revision", "entries", "pairs"))
    return PairwiseArrays(revision, tuple(entries), pairs, **known)
