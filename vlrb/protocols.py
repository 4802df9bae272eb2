"""Scoring protocols: counts become scores. The only place that knows a denominator.

An item of the label revision that the judge's file lacks is wrong, except where undecided pairs leave the denominator,
which then has no such item. A protocol is declared in the definition of its benchmark and nowhere else: selects, pages,
scorecards, the API and the docs read it there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from vlrb.arrays import Array, BoolArray, FloatArray, IntArray
from vlrb.benchmarks.spec import MEAN, BenchmarkSpec, Protocol
from vlrb.common.messages import _
from vlrb.scoring import FIELDS, GROUP_SCALES, UNREADABLE, Tally, fields, group_fields, untied_start
from vlrb.statistics.clustered_intervals import GroupSums, effective_share

_PLACES = {name: place for place, name in enumerate((*FIELDS, *UNREADABLE))}
_N, _HALF_RIGHT = _PLACES["n"], _PLACES["half_right"]


@dataclass(frozen=True, slots=True)
class Ratios:
    """Right answers over what they are counted against: arrays (..., scores) for the counted names of a benchmark.

    ``effective``: by what a total is multiplied for an interval, where pairs of one group are right or wrong together.
    """

    right: FloatArray
    total: FloatArray
    spec: BenchmarkSpec
    effective: FloatArray | None = None

    @property
    def independent(self) -> tuple[FloatArray, FloatArray]:
        """Right and total as of independent pairs with the same accuracies: what intervals are computed from."""
        if self.effective is None:
            return self.right, self.total
        return self.right * self.effective, self.total * self.effective


UNREAD_REPLIES = _(
    "The tools that rules are named after have a language model read replies that the official pattern does not read. "
    "This file has such replies, so it has no number under their names."
)


def has_unread_replies(parse_rate: float | None, first_shown_rate: float | None) -> bool:
    """Return whether a file has replies that the official pattern does not read.

    A file that tells no order has votes or scores, and no replies that somebody else could read.
    """
    return parse_rate is not None and parse_rate < 1 and first_shown_rate is not None


def counts_under(rule: Protocol, counts: IntArray, *, unread: bool | BoolArray) -> IntArray:
    """Return counts (..., CELLS, FIELDS) as a rule takes them: none where replies are ``unread`` (...) that the tool of
    its name would read."""
    return np.where(np.asarray(unread)[..., np.newaxis, np.newaxis], 0, counts) if rule.rereads else counts


def has_interval(protocol: str, spec: BenchmarkSpec) -> bool:
    """Return whether a rule counts the majority of whole items, so that a 95% interval is valid."""
    rule = protocols(spec)[protocol]
    return spec.tells_ties or (rule.votes == "majority" and rule.unreadable != "half")


def _counted(rows: FloatArray, rule: Protocol, spec: BenchmarkSpec) -> tuple[FloatArray, FloatArray]:
    """Return right and total of counts (..., FIELDS) under a rule."""
    prefix = "first_" if rule.votes == "first" else ""
    agree, reject, as_first = (_PLACES[prefix + name] for name in ("agree", "reject", "unreadable_first"))
    undecided = _PLACES[prefix + ("unreadable" if spec.tells_ties else "undecided")]  # ties are undecided, but read
    if rule.unreadable == "excluded":
        return rows[..., agree], rows[..., agree] + rows[..., reject]
    if rule.unreadable == "first":
        return rows[..., agree] + rows[..., as_first], rows[..., _N]
    # One half is the expectation of a random choice; and of one vote less, where exactly half of all are right.
    halves = undecided if rule.unreadable == "half" else _HALF_RIGHT if rule.votes == "majority" else None
    right = rows[..., agree] if halves is None else rows[..., agree] + rows[..., halves] / 2
    return right, rows[..., _N]


@cache
def protocols(spec: BenchmarkSpec) -> Mapping[str, Protocol]:
    """Return the protocols of a benchmark that counts of pairs decide, by key; the first orders the board.

    Where an unreadable verdict counts as the first response, the label decides what it is worth: of benchmarks without
    labelled pairs, a tally does not know.
    """
    return {rule.key: rule for rule in spec.protocols if rule.unreadable != "first" or spec.tells_ties}


def category_counts(
    counts: IntArray, spec: BenchmarkSpec, *, grouping: str | None = None, untied: bool = False
) -> IntArray:
    """(..., CELLS, fields) summed to (..., categories, fields). ``grouping`` None: the official one.

    ``untied``: of the pairs whose label is no tie.

    Raises:
        KeyError: an unknown grouping.
    """
    members = spec.groupings[grouping or spec.official]
    start = untied_start(spec) if untied and spec.ties else 0
    sources = [[start + spec.source_keys.index(source) for source in members[key]] for key in spec.category_keys]
    return np.stack([counts[..., indices, :].sum(axis=-2) for indices in sources], axis=-2)


def ratios(
    counts: IntArray, spec: BenchmarkSpec, *, protocol: str | None = None, grouping: str | None = None
) -> Ratios:
    """Numerators and denominators from tally counts (..., CELLS, FIELDS), for one entry or thousands.

    ``protocol`` None: the one that orders the board; ``grouping`` None: the official one.

    Raises:
        KeyError: an unknown protocol or grouping.
    """
    rule = protocols(spec)[protocol or spec.ranking]
    categories = category_counts(counts, spec, grouping=grouping).astype(np.float64)
    untied = (
        category_counts(counts, spec, grouping=grouping, untied=True).astype(np.float64) if spec.ties else categories
    )
    rows = [categories[..., index, :] for index in range(len(spec.categories))]
    rows += [_pooled(categories, untied, name=name, spec=spec) for name in spec.counted_names[len(rows) :]]
    stacked = np.stack(rows, axis=-2)
    right, total = _counted(stacked, rule, spec)
    if spec.grouped is None:
        return Ratios(right, total, spec=spec)
    groups, groups_right, *sums = group_sums(stacked, spec, votes=rule.votes)
    # Effective pairs over pairs (statistics/clustered_intervals.py).
    effective = effective_share(right, total, sums=GroupSums(groups, *sums))
    for place in (place for place, name in enumerate(spec.counted_names) if spec.counts_groups(name)):
        right[..., place], total[..., place] = groups_right[..., place], groups[..., place]
        effective[..., place] = 1.0
    return Ratios(right, total, spec=spec, effective=effective)


def group_sums(rows: Array, spec: BenchmarkSpec, *, votes: str) -> list[FloatArray]:
    """Return GROUP_SUMS of counts (..., fields), each (...). ``votes``: those that a rule takes."""
    known = fields(spec)
    return [rows[..., known.index(name)] / scale for name, scale in zip(group_fields(votes), GROUP_SCALES, strict=True)]


def _pooled(categories: FloatArray, untied: FloatArray, *, name: str, spec: BenchmarkSpec) -> FloatArray:
    """(..., categories, fields) summed over the categories of an overall number; nothing where it asks for other
    pairs than there are."""
    overall = spec.overall(name)
    assert overall is not None
    held = untied if overall.without_ties else categories
    pooled: FloatArray = held[..., spec.category_places(name), :].sum(axis=-2)
    if overall.pairs is not None:
        pooled = pooled * (categories[..., _N].sum(axis=-1) == overall.pairs)[..., np.newaxis]
    return pooled


def accuracies(value: Ratios) -> FloatArray:
    """(..., scores) in the order of ``score_names``; NaN where nothing was counted."""
    with np.errstate(invalid="ignore"):
        shares = np.where(value.total > 0, value.right / np.where(value.total > 0, value.total, 1), np.nan)
    means = [
        shares[..., value.spec.category_places(overall.key)].mean(axis=-1, keepdims=True)
        for overall in value.spec.overalls
        if overall.kind == MEAN
    ]
    return np.concatenate([shares, *means], axis=-1)


def ranking_keys(counts: IntArray, spec: BenchmarkSpec) -> list[tuple[float, ...]]:
    """Return by what entries are ordered, the smallest key is the best: headline score, then the pooled one.

    ``counts``: entries x CELLS x FIELDS, as in Tally. Where a score does not exist it counts as the lowest.
    """
    shares = np.nan_to_num(accuracies(ratios(counts, spec)), nan=-1.0)
    keys = -shares[:, [spec.index(name) for name in spec.tie_breaks]]
    return [tuple(key) for key in keys.tolist()]


def scores(tally: Tally, protocol: str | None = None, *, grouping: str | None = None) -> dict[str, float | None]:
    """Return the scores of one judge by name, as fractions; None where nothing was counted ("no data" is not zero)."""
    values = accuracies(ratios(tally.counts, tally.spec, protocol=protocol, grouping=grouping)).tolist()
    return {name: None if value != value else value for name, value in zip(tally.spec.score_names, values, strict=True)}
