"""Rows of the board, from a snapshot and the reported results, under any protocol, grouping and label revision.

Facts in (tallies), opinions out (accuracies, intervals, ranks). Everything numeric is done for all entries at once:
ten thousand of them take a fraction of a second.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from dataclasses import fields as fields_of
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from leaderboard.ranking.columns import Column, columns_of
from leaderboard.ranking.filter_judges import MARK, is_filter_judge
from leaderboard.ranking.names import phrases
from leaderboard.ranking.rank_info import RankInfo, order_of, shared_ranks, standings, with_bands
from leaderboard.ranking.reported_results import ORACLE, ReportedFigures, by_judge
from storage.metadata import COLUMNS as METADATA_COLUMNS
from vlrb.arrays import FloatArray
from vlrb.baselines import BASELINES
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.messages import Message, _, ngettext
from vlrb.common.rounding import percent
from vlrb.disclosure import PUBLIC, STEPS, rounded_scores, shown_names
from vlrb.file_remarks import board_remark
from vlrb.judges import judge_name, judge_slug
from vlrb.protocols import (
    Ratios,
    accuracies,
    category_counts,
    counts_under,
    group_sums,
    has_interval,
    has_unread_replies,
    protocols,
    ratios,
)
from vlrb.scoring import FIELDS, Tally, fields, slices
from vlrb.statistics.pairwise import RankRange, rank_ranges_of
from vlrb.statistics.ranking import RankingEntry, display_order
from vlrb.statistics.ranking import standings as places
from vlrb.statistics.uncertainty import mover_macro, wilson

Tier = Literal["scored", "reported", "baseline"]
Bounds = tuple[float, float]

WELL_COVERED = 0.95
"""A row that has decided fewer pairs says so."""
_TIERS: Mapping[Tier, int] = MappingProxyType({"scored": 0, "reported": 1, "baseline": 2})  # order among equals
_BASELINES: Mapping[str, str] = MappingProxyType({baseline.id: baseline.source for baseline in BASELINES})


@dataclass(frozen=True, slots=True)
class BestOf:
    """That a row is the best of several variants of one judge. ``gain``: what luck is expected to add to each accuracy.

    ``interval``: 95%, as the row's own, with lower limits that hold whichever of the variants had been chosen.
    """

    variants: int
    gain: Mapping[str, float]
    interval: Mapping[str, Bounds]
    headline: str

    @property
    def words(self) -> str:
        """A short phrase for the row, about the headline score."""
        gain, bounds = self.gain.get(self.headline), self.interval.get(self.headline)
        if not gain or not bounds:
            return _("best of {variants} variants", variants=self.variants)
        return _(
            "best of {variants} variants, {low}–{high}, luck +{gain}",
            variants=self.variants,
            low=percent(bounds[0]),
            high=percent(bounds[1]),
            gain=percent(gain),
        )


@dataclass(frozen=True, slots=True)
class BoardRow:
    """One line of the board. Accuracies and rates are fractions 0..1; None is "not known", never zero."""

    id: str
    model: str
    tier: Tier
    scores: Mapping[str, float | None]  # by name, in the order of ``score_names``
    interval: Mapping[str, Bounds]  # 95%, of those values that have one
    # by the headline, shared by equal counts; None for all but the best version of a judge scored here
    rank: int | None = None
    rank_range: tuple[int, int] | None = None  # by the headline
    version: str = ""
    organisation: str = ""
    judge_type: str = ""
    decided_rate: float | None = None
    votes_per_item: int | None = None
    date: str = ""  # ISO; the day of submission, or of publication
    submitted_at: str = ""  # ISO with time for scored rows, "" for reported ones
    source: str = ""
    url: str = ""
    note: str = ""  # short phrases of warning: "fits 631/301/318", "3 pairs missing", "90.2% answered"
    base_model: str = ""
    parameters_b: float | None = None
    open_weights: bool | None = None
    judge: str = ""  # slug that joins the rows of one judge; of baselines none
    judge_name: str = ""
    about: str = ""  # short phrases about the attempt: "attempt 2 of 3", "file v0", "verified"
    # attempt number of its account under the label revision of that time; None for reported rows
    attempt: int | None = None
    attempts: int | None = None  # how many it has made at those; None where the account is not told
    best_of: BestOf | None = None  # None where it was not chosen among variants
    stated: Mapping[str, Any] = field(default_factory=dict)  # fields of storage.metadata.COLUMNS that were stated
    oracle: bool = False  # of a reported result: the judge was given a part of the answer
    inconsistent: bool = False  # of a reported result: arithmetic speaks against its figures
    annotation: str = ""  # of a reported result: what maintainers say of it
    annotation_url: str = ""  # where that can be checked
    filter_judge: bool = False  # whether the judge filtered the pairs: its score is biased downward
    remark: str = ""  # why it leads nothing: given the answer, votes that need no judge
    version_of: str | None = None  # the ranked version of the same judge
    both_orders: float | None = None  # of files that hold each pair in both orders
    ece: float | None = None  # calibration error; None for one vote per pair, and for labels that are not public

    def value(self, key: str) -> Any:
        """Return the value of a column by its key."""
        if key in self.scores:
            return self.scores[key]
        stated = METADATA_COLUMNS.get(key)
        if stated is None:
            return getattr(self, key)
        value = self.stated.get(key)
        if stated.storage in ("number", "whole"):
            return value
        return "" if value is None else stated.text(value)

    def with_values(self, values: Mapping[str, float | None]) -> BoardRow:
        """Return the row with these accuracies and no others; intervals of those alone."""
        interval = {name: bounds for name, bounds in self.interval.items() if name in values}
        return replace(self, scores={**dict.fromkeys(self.scores), **values}, interval=interval)

    @property
    def name(self) -> str:
        """Model and version as one name."""
        return " ".join(f"{self.model} {self.version}".split())

    @property
    def leads(self) -> bool:
        """Whether it may be first: of a result with a remark nothing says that a judge is good."""
        return not self.remark

    @property
    def is_ranked(self) -> bool:
        """Whether it stands for its judge."""
        return self.leads and self.version_of is None

    @property
    def provenance(self) -> str:
        """Who says so, and what it is, for the line below its name."""
        if self.tier == "baseline":
            return self.source
        weights = {True: _("open weights"), False: _("closed weights"), None: ""}[self.open_weights]
        size = f"{self.parameters_b:g}B" if self.parameters_b else ""
        whose = (self.version, self.organisation) if self.tier == "scored" else (self.source,)
        return phrases(*whose, weights, size, self.about)


@dataclass(frozen=True)
class Board:
    """All rows in display order (headline, pooled, earlier), with what is needed to read them."""

    snapshot_id: str
    as_of: str
    spec: BenchmarkSpec
    label_revision: str
    label_revisions: tuple[str, ...]
    protocol: str
    grouping: str
    sizes: Mapping[str, int]  # pairs per category, and overall
    rows: tuple[BoardRow, ...]
    ranges: Mapping[str, Mapping[str, RankRange]] = field(default_factory=dict)  # order -> entry; none untested
    unpublished: int = 0  # scored entries that their owners hold back
    reports: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # judge -> its rows, the leading first
    level: str = PUBLIC  # benchmark.disclosure: of scores under these labels
    stated: frozenset[str] = frozenset()  # overall numbers of reported results
    _kept: dict[Hashable, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def benchmark(self) -> str:
        """Id of the benchmark."""
        return self.spec.id

    @property
    def identity(self) -> dict[str, str]:
        """What its figures depend on, as JSON has it."""
        rules = {name: getattr(self, name) for name in ("as_of", "benchmark", "label_revision", "protocol", "grouping")}
        return {"snapshot": self.snapshot_id, **rules}

    def standings(self, sort: str = "") -> Mapping[str, RankInfo]:
        """id -> where the entry is among those scored here, when the board is ordered by a column."""
        order = order_of(sort, self.spec)
        result: Mapping[str, RankInfo] = self.kept(("standings", order), lambda: self._standings(order))
        return result

    def _standings(self, order: str) -> Mapping[str, RankInfo]:
        scored = [row for row in self.rows if row.tier == "scored"]
        if order == self.spec.headline or self.headline != self.spec.headline:
            ranks = {row.id: row.rank for row in scored if row.rank is not None}
        else:
            ranks = shared_ranks((row.id, row.value(order)) for row in scored if row.is_ranked)
        versions = {row.id: row.version_of for row in scored if row.version_of}
        return with_bands(standings(ranks, self.ranges.get(order, {}), versions=versions))

    def kept(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Return what follows from the rows alone, made once."""
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]

    @property
    def headline(self) -> str:
        """The accuracy that orders the board."""
        return self.spec.headline if self.level == PUBLIC else self.spec.pooled

    @cached_property
    def values(self) -> tuple[str, ...]:
        """The accuracies that are shown, in the order of the columns."""
        disclosed = set(shown_names(self.level, self.spec)) - self._uncounted
        return tuple(name for name in self.spec.headline_first if name in disclosed)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns that can be shown. Where the overall is the one accuracy, it is drawn with its interval."""
        columns = tuple(column for column in columns_of(self.spec) if column.key not in self._uncounted)
        if self.level == PUBLIC:
            return columns
        hidden = set(self.spec.score_names).difference(self.values)
        return tuple(
            replace(column, kind="interval") if column.key == self.spec.pooled else column
            for column in columns
            if column.key not in hidden
        )

    @property
    def _uncounted(self) -> frozenset[str]:
        """The scores that need pairs which are not there, where a benchmark is served in part; an overall number that
        a source states is none of them."""
        if self.level != PUBLIC or not self.sizes.get(self.spec.pooled):
            return frozenset()
        return frozenset(name for name in self.spec.score_names if not self._is_counted(name)) - self.stated

    def _is_counted(self, name: str) -> bool:
        overall, held = self.spec.overall(name), [self.sizes.get(key, 0) > 0 for key in self.spec.parts_of(name)]
        asked = overall.pairs if overall is not None else None
        return asked in (None, self.sizes[self.spec.pooled]) and (all(held) if self.spec.is_mean(name) else any(held))

    @property
    def part(self) -> tuple[int, int] | None:
        """How many pairs the board has, and how many the smallest released edition, where that has more."""
        pairs = sum(self.sizes.get(key, 0) for key in self.spec.category_keys)
        released = min((edition.pairs for edition in self.spec.editions if edition.pairs), default=0)
        return (pairs, released) if 0 < pairs < released else None

    @property
    def scored(self) -> int:
        """How many rows have a score that was counted here and is shown."""
        return sum(row.tier == "scored" and row.rank is not None for row in self.rows)

    def find(self, row_id: str) -> BoardRow | None:
        """Return the row with this id."""
        return next((row for row in self.rows if row.id == row_id), None)


@dataclass(frozen=True, slots=True)
class _Numbers:
    """What the tallies say, entry by entry: arrays (entries,) or (entries, ...)."""

    shares: FloatArray  # (entries, scores), NaN where nothing was counted
    counted: Ratios
    low: FloatArray  # as shares; NaN without an interval
    high: FloatArray
    decided: FloatArray
    missing: npt.NDArray[np.int64]


def build_board(
    snapshot: Mapping[str, Any],
    spec: BenchmarkSpec,
    *,
    protocol: str | None = None,
    grouping: str | None = None,
    revision: str | None = None,
    published: Sequence[ReportedFigures] = (),
) -> Board:
    """Return the board of a snapshot; None is the ranking protocol, the official grouping, the snapshot's current
    revision.

    Raises:
        KeyError: an unknown protocol, grouping or label revision.
    """
    protocol, grouping = protocol or spec.ranking, grouping or spec.official
    if protocol not in protocols(spec) or grouping not in spec.groupings:
        raise KeyError(f"no protocol {protocol} with grouping {grouping}")
    wanted = revision or snapshot["label_revision"]
    known = tuple(snapshot["label_revisions"])
    if wanted not in known and wanted != snapshot["label_revision"]:
        raise KeyError(f"no label revision {wanted}; there are {', '.join(known)}")
    entries = [entry for entry in snapshot["entries"] if wanted in entry["tallies"]]
    counts = _counts(entries, wanted, spec=spec)
    level = (snapshot.get("disclosure") or {}).get(wanted, PUBLIC)
    per_source = _source_sizes(snapshot, wanted, counts=counts, spec=spec)
    sizes = _sizes(per_source, grouping, level=level, spec=spec) | _other_sizes(counts, level, spec=spec)
    unread = np.array([has_unread_replies(*map(entry.get, _READING)) for entry in entries], dtype=bool)
    rules, summary = _Rules(protocol, grouping, spec=spec), relations_summary(snapshot, wanted)
    numbers = _numbers(counts, rules, unread=unread)
    if level != PUBLIC:
        numbers = _as_shown(numbers, counts, level=level, spec=spec)
        scored = _scored_rows(entries, wanted, numbers=numbers, spec=spec)
        contenders = _rounded_contenders(scored, spec.pooled)
    else:
        chosen = _selections(summary, rules)
        unranked = zip(_scored_rows(entries, wanted, numbers=numbers, spec=spec), _independent(numbers), strict=True)
        scored = [_best_of(row, chosen, sizes=independent, spec=spec) for row, independent in unranked]
        contenders = _contenders(scored, numbers.counted)
    rows = _placed(scored, contenders, judges=(summary or snapshot).get("versions") or {})
    baselines = _baseline_rows(snapshot.get("baselines") or (), wanted, rules=rules)
    if level != PUBLIC:
        baselines = [
            row.with_values({name: row.scores[name] for name in shown_names(level, spec)}) for row in baselines
        ]
    ranges = _ranges(summary, rules)
    reports = by_judge(published)
    names = {slug: same[0].judge_name for slug, same in reports.items()}
    rows = [_marked(row, spec) for row in _completed(rows, ranges.get(spec.headline, {}), judges=names)]
    reported = [_marked(_reported_row(result, names[result.judge]), spec) for result in published]
    return Board(
        "",
        snapshot["created_at"],
        spec=spec,
        label_revision=wanted,
        label_revisions=known,
        protocol=protocol,
        grouping=grouping,
        sizes=MappingProxyType(sizes),
        rows=_merge(spec.tie_breaks if level == PUBLIC else (spec.pooled,), [*rows, *reported, *baselines], spec=spec),
        ranges=ranges,
        unpublished=snapshot.get("unpublished") or 0,
        reports=MappingProxyType({slug: tuple(row.id for row in same) for slug, same in reports.items()}),
        level=level,
        stated=frozenset(name for row in reported for name in spec.overall_keys if row.scores.get(name) is not None),
    )


_READING = ("parse_rate", "first_shown_rate")


@dataclass(frozen=True, slots=True)
class _Rules:
    """How pairs are counted."""

    protocol: str
    grouping: str
    spec: BenchmarkSpec


def relations_summary(snapshot: Mapping[str, Any], revision: str) -> Mapping[str, Any]:
    """Return what a snapshot says of the pairwise statistics under a label revision; empty without them."""
    return (snapshot.get("relations") or {}).get(revision) or {}


def _ranges(summary: Mapping[str, Any], rules: _Rules) -> Mapping[str, Mapping[str, RankRange]]:
    """order -> entry -> range. The tests compare what is right under the ranking rule; other rules have no ranges."""
    if rules.protocol != rules.spec.ranking or not summary:
        return MappingProxyType({})
    result = {order: rank_ranges_of(summary, rules.grouping, order=order) for order in rules.spec.headline_first}
    return MappingProxyType({order: ranges for order, ranges in result.items() if ranges})


Selections = Mapping[str, tuple[int, Mapping[str, Sequence[float]]]]


def _selections(summary: Mapping[str, Any], rules: _Rules) -> Selections:
    """Map entries to how many variants each is the best of, and by order to what luck adds and the lower limit.

    Empty under other rules than the ranking one, as rank ranges are.
    """
    result = (summary.get("variants") or {}) if rules.protocol == rules.spec.ranking else {}
    return {name: (selection["variants"], selection.get(rules.grouping, {})) for name, selection in result.items()}


def _best_of(row: BoardRow, chosen: Selections, *, sizes: Mapping[str, float], spec: BenchmarkSpec) -> BoardRow:
    """Return the row, and where it is the best of several variants what that means for it."""
    if row.id not in chosen:
        return row
    variants, orders = chosen[row.id]
    bounds = {
        name: (_lower(row, (name, z), sizes=sizes, spec=spec), row.interval[name][1])
        for name, (_, z) in orders.items()
        if name in row.interval
    }
    gain = {name: orders[name][0] for name in bounds}
    best_of = BestOf(variants, MappingProxyType(gain), interval=MappingProxyType(bounds), headline=spec.headline)
    return replace(row, best_of=best_of, about=phrases(best_of.words, row.about))


def _lower(row: BoardRow, score: tuple[str, float], *, sizes: Mapping[str, float], spec: BenchmarkSpec) -> float:
    """Return the lower limit of a score with its own quantile."""
    name, z = score
    counts = {category: ((row.value(category) or 0.0) * n, n) for category, n in sizes.items()}
    if spec.is_mean(name):
        return mover_macro([counts[part] for part in spec.parts_of(name)], z).low
    return wilson(*counts[name], z).low


def _counts(entries: Sequence[Mapping[str, Any]], revision: str, *, spec: BenchmarkSpec) -> npt.NDArray[np.int64]:
    """Return entries x CELLS x FIELDS."""
    if not entries:
        return np.zeros((0, len(slices(spec)), len(fields(spec))), dtype=np.int64)
    return np.array([entry["tallies"][revision]["counts"] for entry in entries], dtype=np.int64)


def _source_sizes(
    snapshot: Mapping[str, Any], revision: str, *, counts: npt.NDArray[np.int64], spec: BenchmarkSpec
) -> Mapping[str, int]:
    """Return the pairs of each source: as counted, or without an entry as the snapshot says."""
    if len(counts):
        return dict(zip(spec.source_keys, counts[0, : len(spec.sources), 0].tolist(), strict=True))
    return dict(snapshot.get("sizes") or {}) if revision == snapshot["label_revision"] else {}


def _sizes(per_source: Mapping[str, int], grouping: str, *, level: str, spec: BenchmarkSpec) -> dict[str, int]:
    """Return the pairs behind each counted score, the pooled one first."""
    sizes = {
        category: sum(per_source.get(source, 0) for source in sources)
        for category, sources in spec.groupings[grouping].items()
    }
    total = sum(sizes.values())
    overalls = {overall.key: overall for overall in spec.overalls if not spec.is_mean(overall.key)}
    pooled = {
        name: sum(sizes[key] for key in overalls[name].categories) if overalls[name].pairs in (None, total) else 0
        for name in dict.fromkeys((spec.pooled, *overalls))
    }
    every = {**pooled, **sizes}
    return every if level == PUBLIC else {name: every[name] for name in shown_names(level, spec)}


def _other_sizes(counts: npt.NDArray[np.int64], level: str, *, spec: BenchmarkSpec) -> dict[str, int]:
    """Return the pairs behind the scores that leave out ties, and the groups behind the one that counts them."""
    if level != PUBLIC:
        return {}
    one = counts[:1].sum(axis=0)  # the same for every entry
    untied = category_counts(one, spec, untied=True)[:, FIELDS.index("n")]
    sizes = {
        name: sum(int(untied[spec.category_keys.index(key)]) for key in spec.parts_of(name))
        for name in filter(spec.is_without_ties, spec.counted_names)
    }
    if spec.grouped is None:
        return sizes
    groups = group_sums(one[: len(spec.sources)], spec, votes="majority")[0]
    return {**sizes, spec.grouped.key: int(groups.sum())}


def _independent(numbers: _Numbers) -> Sequence[Mapping[str, float]]:
    """Return, entry by entry, of how many independent pairs each counted score has the interval."""
    names = numbers.counted.spec.counted_names
    return [dict(zip(names, row, strict=True)) for row in numbers.counted.independent[1].tolist()]


def _numbers(counts: npt.NDArray[np.int64], rules: _Rules, *, unread: bool | npt.NDArray[np.bool_] = False) -> _Numbers:
    protocol, spec = rules.protocol, rules.spec
    given = counts_under(protocols(spec)[protocol], counts, unread=unread)
    counted = ratios(given, spec, protocol=protocol, grouping=rules.grouping)
    shares = accuracies(counted)
    low, high = np.full_like(shares, np.nan), np.full_like(shares, np.nan)
    if has_interval(protocol, spec):
        some = counted.total > 0
        right, total = counted.independent
        k, n = np.where(some, right, 0), np.where(some, total, 1)
        bounds, whole = wilson(k, n), slice(len(spec.counted_names))
        low[:, whole], high[:, whole] = np.where(some, bounds.low, np.nan), np.where(some, bounds.high, np.nan)
        for at, name in enumerate(spec.score_names[whole.stop :], start=whole.stop):
            parts = [spec.index(key) for key in spec.parts_of(name)]
            mean = mover_macro([(k[:, c], n[:, c]) for c in parts])
            complete = some[:, parts].all(axis=1)
            low[:, at], high[:, at] = np.where(complete, mean.low, np.nan), np.where(complete, mean.high, np.nan)
    totals = category_counts(counts, spec).sum(axis=-2)
    n, agree, reject, undecided = (totals[:, FIELDS.index(name)] for name in ("n", "agree", "reject", "undecided"))
    present = agree + reject + undecided  # a pair that the file's revision lacks was not left unanswered
    decided = np.where(present > 0, (agree + reject) / np.maximum(present, 1), np.nan)
    return _Numbers(shares, counted, low=low, high=high, decided=decided, missing=n - present)


def _as_shown(numbers: _Numbers, counts: npt.NDArray[np.int64], *, level: str, spec: BenchmarkSpec) -> _Numbers:
    """Return the scores that a level shows, as it rounds them, with intervals that follow from that; nothing else."""
    shares, low, high = (np.full_like(figures, np.nan) for figures in (numbers.shares, numbers.low, numbers.high))
    for entry, count in enumerate(counts):
        for name, score in rounded_scores(count, level, spec=spec).items():
            at = entry, spec.index(name)
            shares[at], low[at], high[at] = score
    return replace(numbers, shares=shares, low=low, high=high)


def _scored_rows(
    entries: Sequence[Mapping[str, Any]], revision: str, *, numbers: _Numbers, spec: BenchmarkSpec
) -> list[BoardRow]:
    decided, missing = numbers.decided.tolist(), numbers.missing.tolist()
    measured = _measured(numbers, spec.score_names)
    if spec.public_labels:  # a file has an edition, no label revision, and all of a board have the same
        entries = [{**entry, "revision": ""} for entry in entries]
    return [
        _scored_row(entry, revision, values=values, bounds=bounds, decided=decided[i], missing=missing[i])
        for i, (entry, (values, bounds)) in enumerate(zip(entries, measured, strict=True))
    ]


def _measured(numbers: _Numbers, names: Sequence[str]) -> list[tuple[dict[str, float | None], dict[str, Bounds]]]:
    """Return values and intervals by name, entry by entry. NaN differs from itself: so nothing was counted."""
    shares, low, high = numbers.shares.tolist(), numbers.low.tolist(), numbers.high.tolist()
    return [
        (
            {name: value if value == value else None for name, value in zip(names, shares[i], strict=True)},
            {name: (low[i][at], high[i][at]) for at, name in enumerate(names) if low[i][at] == low[i][at]},
        )
        for i in range(len(shares))
    ]


_TEXTS = ("version", "organisation", "judge_type", "base_model")
_NUMBERS = ("votes_per_item", "parameters_b", "open_weights", "attempt", "attempts")


def _scored_row(
    entry: Mapping[str, Any],
    revision: str,
    *,
    values: Mapping[str, float | None],
    bounds: Mapping[str, Bounds],
    decided: float,
    missing: int,
) -> BoardRow:
    facts: dict[str, Any] = {name: entry.get(name) or "" for name in _TEXTS}
    facts |= {name: entry.get(name) for name in _NUMBERS}
    known = decided if decided == decided else None  # as above
    judge = judge_name(entry["model"], entry.get("judge"))
    return BoardRow(
        id=entry["id"],
        model=entry["model"],
        tier="scored",
        **facts,
        scores=values,
        interval=bounds,
        decided_rate=known,
        date=entry["submitted_at"][:10],
        submitted_at=entry["submitted_at"],
        url=entry.get("link") or "",
        note=_warnings(entry, known, missing=missing),
        judge=judge_slug(judge),
        judge_name=judge,
        about=_about(entry, revision),
        remark=unranked_for(entry),
        stated={name: entry[name] for name in METADATA_COLUMNS if entry.get(name) is not None},
        both_orders=(behaviour := entry["tallies"][revision].get("behaviour") or {}).get("both_orders"),
        ece=(sure := behaviour.get("calibration")) and sure["ece"],
    )


def unranked_for(entry: Mapping[str, Any]) -> str:
    """Return why an entry has no rank: votes that need no judge, unless a maintainer has verified it; "" with one."""
    remarks = entry.get("remarks") or ()
    return "" if entry.get("verified_at") else board_remark(remarks)


def _warnings(entry: Mapping[str, Any], decided: float | None, *, missing: int) -> str:
    return phrases(
        entry.get("flag"),
        board_remark(entry.get("remarks") or ()),
        ngettext("{n:,} pair missing", "{n:,} pairs missing", missing) if missing > 0 else "",
        _("{share}% answered", share=percent(decided)) if decided is not None and decided < WELL_COVERED else "",
    )


def _about(entry: Mapping[str, Any], revision: str) -> str:
    """Return what there is to know about this attempt of a judge, beyond its name."""
    file, until = entry.get("revision") or revision, entry.get("anonymous_until")
    return phrases(
        _("verified") if entry.get("verified_at") else "",
        _attempt(entry, revision),
        _("file {file}", file=file) if file != revision else "",
        _("anonymous until {day}", day=until[:10]) if until else "",
    )


def _attempt(entry: Mapping[str, Any], revision: str) -> str:
    """Return which one of its account's it is; labels are named where they are not those of the board."""
    attempt, attempts = entry.get("attempt"), entry.get("attempts")
    if not attempt:
        return ""
    words = (
        _("attempt {attempt} of {attempts}", attempt=attempt, attempts=attempts)
        if attempts
        else _("attempt {attempt}", attempt=attempt)
    )
    labels = entry.get("attempt_revision") or revision
    return words + _(" at {labels}", labels=labels) if labels != revision else words


def _baseline_rows(baselines: Sequence[Mapping[str, Any]], revision: str, *, rules: _Rules) -> list[BoardRow]:
    """Return judges that cannot judge. Labels that are not public leave only those whose accuracy needs no counting."""
    rows = []
    values: Mapping[str, Any]
    bounds: Mapping[str, Bounds]
    for baseline in baselines:
        tally = baseline["tallies"].get(revision)
        if tally is not None:
            counts = Tally.from_json(tally, rules.spec).counts[np.newaxis]
            numbers = _numbers(counts, rules)
            ((values, bounds),) = _measured(numbers, rules.spec.score_names)
        elif baseline["expected"] is not None:
            spec = rules.spec
            values = {name: None if spec.counts_groups(name) else spec.chance(name) for name in spec.score_names}
            bounds = {}
        else:
            continue
        rows.append(
            BoardRow(
                id=baseline["id"],
                model=Message(baseline["name"], {}),
                tier="baseline",
                scores=values,
                interval=bounds,
                source=_BASELINES.get(baseline["id"], ""),
            )
        )
    return rows


def _completed(
    rows: Sequence[BoardRow], ranges: Mapping[str, RankRange], *, judges: Mapping[str, str]
) -> list[BoardRow]:
    """Return the rows with what follows from all of them: the range of the rank, the ranked version of the judge, and
    one name for it, which is that of a reported result (``judges``), or else the earliest row's."""
    versions = {row.id: row.version_of for row in rows if row.version_of}
    best = {row.id: phrases(row.model, row.version) for row in rows if row.is_ranked}
    ranks = {row.id: row.rank for row in rows if row.rank is not None}
    tested = standings(ranks, ranges, versions=versions) if ranges else {}
    earliest = sorted(rows, key=lambda row: row.submitted_at)
    names = {**{row.judge: row.judge_name for row in reversed(earliest)}, **judges}
    result = []
    for row in rows:
        at = tested.get(row.id)
        ranked_as = _("ranked as {version}", version=best[row.version_of]) if row.version_of is not None else ""
        result.append(
            replace(
                row,
                judge_name=names[row.judge],
                rank_range=(at.best, at.worst) if at and at.best and at.worst else None,
                about=phrases(ranked_as, row.about),
            )
        )
    return result


def _contenders(rows: Sequence[BoardRow], counted: Ratios) -> list[RankingEntry]:
    """Return the rows that lead, with what orders them."""
    by = counted.spec.tie_breaks
    fractions = np.concatenate([counted.right, counted.total], axis=-1).tolist()
    return [
        RankingEntry(row.id, tuple(row.scores[name] for name in by), counts=tuple(numbers), submitted=row.submitted_at)
        for row, numbers in zip(rows, fractions, strict=True)
        if row.leads
    ]


def _rounded_contenders(rows: Sequence[BoardRow], pooled: str) -> list[RankingEntry]:
    """Return the rows that lead, where equal values share a rank, for the numbers behind them are not public."""
    values = [(row, row.scores[pooled]) for row in rows if row.leads]
    return [
        RankingEntry(row.id, (value,), counts=(round((value or 0.0) * STEPS),), submitted=row.submitted_at)
        for row, value in values
    ]


def _placed(
    rows: Sequence[BoardRow], contenders: Sequence[RankingEntry], *, judges: Mapping[str, str]
) -> list[BoardRow]:
    """Return the rows with their ranks: of each judge its best version has one. Those that lead nothing have none."""
    best: dict[str, str] = {}
    for index in display_order(contenders):
        name = contenders[index].id
        best.setdefault(judges.get(name, name), name)
    version_of = {
        name: first for name in (entry.id for entry in contenders) if (first := best[judges.get(name, name)]) != name
    }
    known = [replace(row, version_of=version_of.get(row.id)) for row in rows if row.leads]
    counted = [replace(entry, counts=None) if entry.id in version_of else entry for entry in contenders]
    ranked = [replace(known[index], rank=rank) for index, rank in places(counted).items()]
    return [*ranked, *(row for row in rows if not row.leads)]


def _marked(row: BoardRow, spec: BenchmarkSpec) -> BoardRow:
    """Return the row; that of a judge that filtered the pairs says so before its other notes."""
    if not is_filter_judge((row.model, row.judge_name), spec.filtered_by):
        return row
    return replace(row, filter_judge=True, note=phrases(MARK, row.note))


_AS_REPORTED = {one.name for one in fields_of(BoardRow)} & {one.name for one in fields_of(ReportedFigures)}


def _reported_row(reported_figures: ReportedFigures, name: str) -> BoardRow:
    """Figures as published: no protocol, grouping or revision changes what somebody else has counted."""
    percents = {name: reported_figures.figures.get(name) for name in reported_figures.spec.score_names}
    shares = {name: None if value is None else round(value / 100, 6) for name, value in percents.items()}
    return BoardRow(
        **{field: getattr(reported_figures, field) for field in _AS_REPORTED},
        model=reported_figures.name,
        tier="reported",
        scores=shares,
        interval=MappingProxyType(_unpaired_intervals(shares, reported_figures)),
        note=reported_figures.remark,
        judge=reported_figures.judge,
        judge_name=name,
        inconsistent=bool(reported_figures.check.remark),
        remark=ORACLE if reported_figures.oracle else "",
    )


def _unpaired_intervals(shares: Mapping[str, float | None], reported_figures: ReportedFigures) -> dict[str, Bounds]:
    """Wilson and MOVER on the denominators that the figures follow; reported rows have no item data to do better with.

    Figures that fit no sizes in circulation have no denominator that is known, so no interval.
    """
    totals = reported_figures.check.sizes
    mean = reported_figures.spec.mean
    bounds: dict[str, Bounds] = {}
    for name, n in totals.items():
        share = shares[name]
        if share is not None:
            bounds[name] = _kept_wilson(share * n, n)
    # A mean that is not that of its categories has no interval that could be told from them.
    if totals and mean and shares.get(mean) is not None and reported_figures.check.states_mean:
        of = reported_figures.spec.parts_of(mean)
        bounds[mean] = _kept_mover(tuple(((shares[name] or 0.0) * totals[name], totals[name]) for name in of))
    return bounds


# Reported rows are the same on every board; anew, their intervals would take most of the time that a board takes.
_kept_wilson = lru_cache(maxsize=4096)(wilson)
_kept_mover = lru_cache(maxsize=1024)(mover_macro)


def _merge(by: Sequence[str], rows: Sequence[BoardRow], *, spec: BenchmarkSpec) -> tuple[BoardRow, ...]:
    """Return one total order by some scores; among equals the row scored here is first.

    Rows that state none of these scores follow by what they state, each definition by itself. What leads nothing is
    last.
    """

    def key(row: BoardRow) -> tuple[Any, ...]:
        values = tuple((value is None, -(value or 0.0)) for value in map(row.value, by))
        another = _of_another_definition(row, by, spec=spec)
        return (not row.leads, values, _TIERS[row.tier], another, row.submitted_at or row.date, row.id)

    return tuple(sorted(rows, key=key))


def _of_another_definition(row: BoardRow, by: Sequence[str], *, spec: BenchmarkSpec) -> tuple[tuple[bool, float], ...]:
    if row.tier != "reported" or any(row.scores.get(name) is not None for name in by):
        return ()
    return tuple((value is None, -(value or 0.0)) for value in map(row.scores.get, spec.overall_keys))
