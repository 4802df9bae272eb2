"""Estimates behind the charts: values with intervals, findings in words, and downloadable rows.

Pure. A figure's title is a finding about the entries chosen, or the plain name of what is drawn where there is none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from leaderboard.ranking.disclosure import entry_behaviour
from vlrb.behaviour import Behaviour
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.protocols import category_counts, counts_under, has_interval, has_unread_replies, protocols, ratios
from vlrb.scorecard import score_row, scorecard
from vlrb.scoring import Tally, slices
from vlrb.statistics.uncertainty import unpaired_bounds, wilson

SnapshotEntry = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A share in percent, the number of pairs behind it, and its 95% interval where the rule has one."""

    value: float
    n: int
    bounds: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Judge:
    """An entry chosen for a figure: how people call it, and its counts under the labels chosen."""

    name: str
    tally: Tally
    behaviour: Behaviour
    id: str = ""
    type: str = ""

    def under(self, protocol: str) -> Tally:
        """Return the counts as a protocol takes them."""
        unread = has_unread_replies(self.behaviour.parse_rate, self.behaviour.first_shown_rate)
        counts = counts_under(protocols(self.tally.spec)[protocol], self.tally.counts, unread=unread)
        return replace(self.tally, counts=counts)


def drawn_scores(spec: BenchmarkSpec) -> tuple[str, ...]:
    """Return the scores of a figure: the headline, then the categories."""
    return (spec.headline, *spec.category_keys)


def buckets(spec: BenchmarkSpec) -> tuple[str, ...]:
    """Return the kinds of error: the tags, and the categories whose pairs carry none."""
    return (*spec.tags, *spec.untagged)


def display_name(entry: SnapshotEntry) -> str:
    """Model and version as one name; plain text, whatever the submitter wrote."""
    return " ".join(f"{entry['model']} {entry.get('version') or ''}".split())


def judges(
    entries: Sequence[SnapshotEntry], label_revision: str, *, spec: BenchmarkSpec
) -> tuple[list[Judge], list[str]]:
    """Return the entries that have counts under `label_revision`, and the names of those that have none."""
    result, missing = [], []
    for entry in entries:
        counts = (entry.get("tallies") or {}).get(label_revision)
        if counts is None:
            missing.append(display_name(entry))
        else:
            behaviour = entry_behaviour(entry, label_revision)
            name, kind = display_name(entry), str(entry.get("judge_type") or "")
            result.append(
                Judge(name, Tally.from_json(counts, spec), behaviour=behaviour, id=str(entry["id"]), type=kind)
            )
    return result, missing


def category_estimates(judge: Judge, protocol: str, *, grouping: str) -> dict[str, Estimate | None]:
    """Return agreement for each of ``drawn_scores``; None where nothing was counted."""
    spec = judge.tally.spec
    row = score_row(judge.under(protocol), protocol, grouping=grouping)
    sizes = category_counts(judge.tally.counts, spec, grouping=grouping)[:, 0].tolist()
    by_category = dict(zip(spec.category_keys, sizes, strict=True))
    pairs = {name: sum(by_category[key] for key in spec.parts_of(name)) for name in drawn_scores(spec)}
    intervals = row.get("interval") or {}
    return {name: _estimate(row[name], intervals.get(name), n=pairs[name]) for name in pairs}


def bucket_estimates(judge: Judge, protocol: str) -> dict[str, Estimate | None]:
    """Error rate for each error tag, and for the categories whose pairs carry no tag, as further buckets."""
    spec, counts = judge.tally.spec, judge.under(protocol).counts
    rows = [counts[slices(spec).index(tag)] for tag in spec.tags]
    categories = category_counts(counts, spec)
    rows += [categories[spec.category_keys.index(key)] for key in spec.untagged]
    agreement = _shares(np.stack(rows), protocol, spec=spec)
    return {name: _opposite(share) for name, share in zip(buckets(spec), agreement, strict=True)}


def cell_estimates(judge: Judge, cells: Sequence[str], *, protocol: str) -> dict[str, Estimate | None]:
    """Return agreement for each of some CELLS."""
    spec, counts = judge.tally.spec, judge.under(protocol).counts
    rows = np.stack([counts[slices(spec).index(cell)] for cell in cells])
    return dict(zip(cells, _shares(rows, protocol, spec=spec), strict=True))


def vote_curve(judge: Judge) -> tuple[list[tuple[int, float]], Estimate | None]:
    """Return the expected headline score (percent) of a majority of each odd number of votes, and the score itself with
    its interval: at an even K it is that of one vote less."""
    spec = judge.tally.spec
    card = scorecard(judge.tally, judge.behaviour, benchmark="", label_revision="")
    values = [(point["k"], point.get(spec.headline)) for point in card["k_curve"]]
    points = [(k, 100 * value) for k, value in values if value is not None]
    return points, category_estimates(judge, spec.ranking, grouping=spec.official)[spec.headline]


def _estimate(value: float | None, interval: Sequence[float] | None, *, n: int) -> Estimate | None:
    return None if value is None else Estimate(100 * value, n, in_percent(interval))


def in_percent(bounds: Sequence[float] | None) -> tuple[float, float] | None:
    """Return the limits of an interval of shares in percent; None without one."""
    return (100 * bounds[0], 100 * bounds[1]) if bounds else None


def _shares(rows: np.ndarray[Any, np.dtype[np.int64]], protocol: str, *, spec: BenchmarkSpec) -> list[Estimate | None]:
    """Return agreement in each row (cells x FIELDS). A cell posing as the first source is all there is, hence the
    pooled score."""
    tallies = np.zeros((len(rows), len(slices(spec)), rows.shape[1]), dtype=np.int64)
    tallies[:, 0] = rows
    counted, at = ratios(tallies, spec, protocol=protocol), spec.index(spec.pooled)
    pairs = zip(counted.right[:, at].tolist(), counted.total[:, at].tolist(), strict=True)
    bounded = has_interval(protocol, spec)
    return [_estimate(k / n, wilson(k, n) if bounded else None, n=round(n)) if n else None for k, n in pairs]


def _opposite(agreement: Estimate | None) -> Estimate | None:
    if agreement is None:
        return None
    bounds = agreement.bounds and (100 - agreement.bounds[1], 100 - agreement.bounds[0])
    return Estimate(100 - agreement.value, agreement.n, bounds)


def difference(first: Estimate, second: Estimate) -> Estimate:
    """Return the difference of two independent shares, with limits from their intervals where both have one."""
    low, high = unpaired_bounds(first.value, second.value, bounds=first.bounds, others=second.bounds)
    bounds = None if low is None or high is None else (low, high)
    return Estimate(first.value - second.value, first.n + second.n, bounds)
