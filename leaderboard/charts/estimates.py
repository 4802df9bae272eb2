"""Estimates behind the charts: values with intervals, findings in words, and downloadable rows.

Pure. A figure's title is a finding about the entries chosen, or the plain name of what is drawn where there is none.
"""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmark.items import CATEGORIES, SOURCES, UNTAGGED_CATEGORY
from benchmark.labels import TAGS
from benchmark.protocols import PROTOCOLS, category_counts, ratios
from benchmark.scorecard import score_row, scorecard
from benchmark.scoring import SLICES, Tally
from benchmark.uncertainty import wilson
from benchmark.votes import Behaviour
from leaderboard.share import escape

SCORES = ("macro", *CATEGORIES)
BUCKETS = (*TAGS, UNTAGGED_CATEGORY)

Entry = Mapping[str, Any]
Extreme = Callable[[Iterable[float]], float]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A share in percent, its 95% interval where the rule has one, and the number of pairs behind it."""

    value: float
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True, slots=True)
class Judge:
    """An entry chosen for a figure: how people call it, and its counts under the labels chosen."""

    name: str
    tally: Tally
    behaviour: Behaviour
    id: str = ""
    type: str = ""


@dataclass(frozen=True, slots=True)
class Point:
    """One place on a K curve: the expected macro average, in percent, of a majority of `k` votes."""

    k: int
    macro: float


def display_name(entry: Entry) -> str:
    """Model and version as one name; plain text, whatever the submitter wrote."""
    return " ".join(f"{entry['model']} {entry.get('version') or ''}".split())


def judges(entries: Sequence[Entry], label_revision: str) -> tuple[list[Judge], list[str]]:
    """Return the entries that have counts under `label_revision`, and the names of those that have none."""
    found, missing = [], []
    for entry in entries:
        counts = (entry.get("tallies") or {}).get(label_revision)
        if counts is None:
            missing.append(display_name(entry))
        else:
            behaviour = Behaviour(entry["parse_rate"], entry.get("first_shown_rate"), entry.get("self_consistency"))
            name, kind = display_name(entry), str(entry.get("judge_type") or "")
            found.append(Judge(name, Tally.from_json(counts), behaviour, str(entry["id"]), kind))
    return found, missing


def category_estimates(judge: Judge, protocol: str, grouping: str) -> dict[str, Estimate | None]:
    """Return agreement for each of SCORES; None where nothing was counted."""
    row = score_row(judge.tally, protocol, grouping)
    sizes = category_counts(judge.tally.counts, grouping)[:, 0].tolist()
    pairs = {"macro": sum(sizes), **dict(zip(CATEGORIES, sizes, strict=True))}
    intervals = row.get("interval") or {}
    return {name: _estimate(row[name], intervals.get(name), pairs[name]) for name in SCORES}


def bucket_estimates(judge: Judge, protocol: str) -> dict[str, Estimate | None]:
    """Error rate for each error tag, and for reasoning, whose pairs carry no tag, as the sixth bucket."""
    rows = [judge.tally.counts[SLICES.index(tag)] for tag in TAGS]
    rows.append(category_counts(judge.tally.counts)[CATEGORIES.index(UNTAGGED_CATEGORY)])
    agreement = _shares(np.stack(rows), protocol)
    return {name: _opposite(share) for name, share in zip(BUCKETS, agreement, strict=True)}


def source_estimates(judge: Judge, protocol: str) -> dict[str, Estimate | None]:
    """Return agreement for each of the seven SOURCES."""
    return cell_estimates(judge, SOURCES, protocol)


def cell_estimates(judge: Judge, cells: Sequence[str], protocol: str) -> dict[str, Estimate | None]:
    """Return agreement for each of some CELLS."""
    rows = np.stack([judge.tally.counts[SLICES.index(cell)] for cell in cells])
    return dict(zip(cells, _shares(rows, protocol), strict=True))


def vote_curve(judge: Judge) -> tuple[list[Point], Estimate | None]:
    """Return the strict macro average for 1 to K votes, and the estimate at K with its interval."""
    card = scorecard(judge.tally, judge.behaviour, benchmark="", label_revision="")
    points = [Point(p["k"], 100 * p["macro"]) for p in card["k_curve"] if p["macro"] is not None]
    return points, category_estimates(judge, "strict", "official")["macro"]


def category_finding(names: Sequence[str], estimates: Sequence[Mapping[str, Estimate | None]]) -> str:
    """Return which category is hardest for most judges, if it clearly is."""
    key, whom = _shared_extreme(names, estimates, CATEGORIES, min)
    return f"{key.capitalize()} pairs are the hardest {whom}" if key else "Agreement by category"


def bucket_finding(names: Sequence[str], estimates: Sequence[Mapping[str, Estimate | None]]) -> str:
    """On which kind of error most judges err most, if they clearly do."""
    key, whom = _shared_extreme(names, estimates, BUCKETS, max)
    where = f"{key} pairs" if key == UNTAGGED_CATEGORY else f"pairs tagged {key}"
    return f"The error rate is highest on {where} {whom}" if key else "Error rate by kind of error"


def vote_finding(curves: Sequence[Sequence[Point]]) -> str:
    """Return whether a majority of the largest odd number of votes does better than one vote."""
    gains = [odd[-1].macro - odd[0].macro for odd in map(odd_points, curves) if len(odd) > 1]
    if not gains:
        return "Macro average by number of votes"
    if len(gains) == 1:
        return f"A majority of votes moves the macro average by {signed(gains[0])} points"
    better = sum(gain > 0 for gain in gains)
    whom = "every judge" if better == len(gains) else f"{better} of {len(gains)} judges" if better else "no judge"
    return f"A majority does better than a single vote for {whom}"


def odd_points(points: Sequence[Point]) -> list[Point]:
    """Return an even number of votes can tie, and a tie is wrong under `strict`: only odd numbers make a line."""
    return [point for point in points if point.k % 2]


def signed(value: float) -> str:
    """Return one decimal with its sign; a true minus."""
    return f"{value:+.1f}".replace("-", "\u2212")


def as_csv(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Comma separated text; a cell that a spreadsheet would run as a formula is quoted with an apostrophe."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([[_harmless(cell) for cell in row] for row in rows])
    return out.getvalue()


def _harmless(cell: object) -> object:
    if isinstance(cell, str):
        return escape.csv_cell(cell)
    return "" if cell is None else round(cell, 3) if isinstance(cell, float) else cell


def _estimate(value: float | None, interval: Sequence[float] | None, n: int) -> Estimate | None:
    if value is None:
        return None
    low, high = (100 * interval[0], 100 * interval[1]) if interval else (None, None)
    return Estimate(100 * value, low, high, n)


def _shares(rows: np.ndarray[Any, np.dtype[np.int64]], protocol: str) -> list[Estimate | None]:
    """Return agreement in each row (cells x FIELDS). A cell posing as the first source is all there is, hence the
    overall."""
    tallies = np.zeros((len(rows), len(SLICES), rows.shape[1]), dtype=np.int64)
    tallies[:, 0] = rows
    counted = ratios(tallies, protocol)
    pairs = zip(counted.right[:, -1].tolist(), counted.total[:, -1].tolist(), strict=True)
    bounded = PROTOCOLS[protocol].has_interval
    return [_estimate(k / n, wilson(k, n) if bounded else None, round(n)) if n else None for k, n in pairs]


def _opposite(agreement: Estimate | None) -> Estimate | None:
    if agreement is None:
        return None
    low, high = agreement.low, agreement.high
    turned_low = None if high is None else 100 - high
    turned_high = None if low is None else 100 - low
    return Estimate(100 - agreement.value, turned_low, turned_high, agreement.n)


def _shared_extreme(
    names: Sequence[str], estimates: Sequence[Mapping[str, Estimate | None]], keys: Sequence[str], extreme: Extreme
) -> tuple[str, str]:
    """Return the key that is the extreme for more than half of the judges, and for whom; two empty strings if none
    is."""
    shared = Counter(found for judge in estimates if (found := _single_extreme(judge, keys, extreme)))
    key, count = shared.most_common(1)[0] if shared else ("", 0)
    if 2 * count <= len(names):
        return "", ""
    if count == len(names):
        return key, "for every judge" if len(names) > 1 else "for this judge"
    return key, f"for {count} of {len(names)} judges"


def _single_extreme(estimates: Mapping[str, Estimate | None], keys: Sequence[str], extreme: Extreme) -> str | None:
    """Return the key whose value is the extreme, if it differs from every other by more than chance explains."""
    found = {key: estimate for key in keys if (estimate := estimates[key]) is not None}
    if len(found) < len(keys):
        return None
    limit = extreme(estimate.value for estimate in found.values())
    key = next(key for key, estimate in found.items() if estimate.value == limit)
    return key if all(separate(found[key], other) for name, other in found.items() if name != key) else None


def separate(one: Estimate, other: Estimate) -> bool:
    """Return whether the 95% interval of the difference of two independent shares excludes zero.

    MOVER on the Wilson intervals (Newcombe 1998, method 10): the difference against the reach of the upper share
    downwards and of the lower share upwards.
    """
    lower, upper = sorted((one, other), key=lambda estimate: estimate.value)
    if lower.high is None or upper.low is None:
        return False
    return upper.value - lower.value > math.hypot(upper.value - upper.low, lower.high - lower.value)
