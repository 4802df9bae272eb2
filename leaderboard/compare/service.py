"""Comparison of two to five entries: paired differences, significance, and the items where they differ most.

Entries scored here are compared pair by pair of the benchmark (vlrb/statistics/pairwise.py); where that is not
possible their intervals are, which needs a larger difference to tell them apart, and the page says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from leaderboard.compare.separation import separation_json
from leaderboard.ranking.anonymity import anonymous_entries
from leaderboard.ranking.differences import Pair, ScoreDifference, adjust
from leaderboard.ranking.names import listed
from leaderboard.ranking.parameters import MOST_COMPARED
from leaderboard.ranking.reported_results import ReportedFigures, find
from leaderboard.ranking.rows import Board, BoardRow
from leaderboard.site.cache import BoardVersion
from vlrb.benchmarks.spec import BenchmarkSpec, capital
from vlrb.common.messages import _, joined, ngettext
from vlrb.common.rounding import points, tenths
from vlrb.numbers.reported import UNCHECKED
from vlrb.statistics.pairwise import COMPARED_AT_MOST, PairedCounts, PairwiseArrays
from vlrb.statistics.uncertainty import unpaired_bounds

MOST = MOST_COMPARED
AXES = (0.2, 0.3, 0.4, 0.6, 1.0)  # of drawn differences, to either side


@dataclass(frozen=True, slots=True)
class Comparison:
    """Entries in the order asked for, and every two of them, the clearest difference first."""

    board: Board
    rows: tuple[BoardRow, ...]
    pairs: tuple[Pair, ...]

    @property
    def has_halves(self) -> bool:
        """Whether some score was tested by a mean difference because pairs count one half."""
        return any(
            pair.paired and difference.only_first is None and not pair.spec.is_mean(difference.name)
            for pair in self.pairs
            for difference in pair.differences
        )


def compare(
    board_version: BoardVersion,
    ids: Sequence[str],
    *,
    relations: PairwiseArrays | None,
    grouping: str = "",
    revision: str = "",
) -> Comparison:
    """Compare the entries that there are; unknown ids are passed over, baselines, and all beyond MOST.

    Within a pair the entry with the higher macro average is first.
    """
    board = board_version.board(grouping=grouping, revision=revision)
    by_id = {row.id: row for row in board.rows if row.tier != "baseline"}
    rows = tuple(by_id[name] for name in dict.fromkeys(ids) if name in by_id)[:MOST]
    order = {row.id: place for place, row in enumerate(board.rows)}
    ordered = sorted(rows, key=lambda row: order[row.id])
    pairs = [
        _pair(board_version, board, first=first, second=second, relations=relations)
        for first, second in combinations(ordered, 2)
    ]
    return Comparison(board, rows, pairs=tuple(sorted(_over_page(pairs), key=_clearness)))


def _over_page(pairs: Sequence[Pair]) -> list[Pair]:
    """Return the pairs with p values adjusted over all of them: scores and categories are one family, sources another.

    However many judges are on a page, one in twenty pages of equal ones has a difference that is said to be one.
    """
    whole, sources = (
        iter(adjust([one for pair in pairs for one in pair.differences if one.of_source is of_source]))
        for of_source in (False, True)
    )
    return [
        replace(
            pair,
            differences=_ordered([next(sources if one.of_source else whole) for one in pair.differences], pair.spec),
        )
        for pair in pairs
    ]


def _clearness(pair: Pair) -> tuple[float, float]:
    headline = pair.of(pair.spec.headline)
    if headline is None:
        return (2.0, 0.0)
    return (0.0 if headline.separable else 1.0, -abs(headline.delta))


def _pair(
    board_version: BoardVersion, board: Board, *, first: BoardRow, second: BoardRow, relations: PairwiseArrays | None
) -> Pair:
    spec = board.spec
    unled = [row for row in (first, second) if not row.leads]
    if unled:
        return Pair(first, second, reason=_about_unled(unled), differences=(), spec=spec)
    reason = not_paired(board_version, first, second=second, relations=relations)
    if not reason and relations is not None:
        counted = relations.pair(first.id, second.id, spec, board.grouping)
        if counted is not None:
            differences = [_counted(name, counts, spec=spec) for name, counts in counted.items()]
            return Pair(first, second, reason="", differences=_ordered(differences, spec), spec=spec)
    if spec.synthetic and {first.tier, second.tier} == {"scored", "reported"}:
        return Pair(first, second, reason=reason, differences=(), spec=spec)
    comparable = all(_same_categories(board_version, row, grouping=board.grouping) for row in (first, second))
    names = spec.headline_first if comparable else (spec.pooled,)
    results = [_unpaired(board, name, first=first, second=second) for name in names]
    return Pair(
        first,
        second,
        reason=reason,
        differences=_ordered([result for result in results if result is not None], spec),
        spec=spec,
    )


def _counted(name: str, paired_counts: PairedCounts, *, spec: BenchmarkSpec) -> ScoreDifference:
    of_source = name in spec.shown_sources
    category = name if name in spec.category_keys else spec.source_category[name] if of_source else ""
    return ScoreDifference(
        name,
        paired_counts.delta,
        category=category,
        n=paired_counts.n,
        only_first=paired_counts.only_first,
        only_second=paired_counts.only_second,
        low=paired_counts.low,
        high=paired_counts.high,
        p=paired_counts.p,
        of_source=of_source,
        title=name if of_source else spec.title_of(name),
    )


def _ordered(score_differences: Sequence[ScoreDifference], spec: BenchmarkSpec) -> tuple[ScoreDifference, ...]:
    """Overall numbers, the headline first, then categories, then sources; among those the clearest first."""
    overalls = spec.headline_first[: len(spec.overalls)]

    def key(score_difference: ScoreDifference) -> tuple[int, float, float]:
        if score_difference.name in overalls:
            return (overalls.index(score_difference.name), 0.0, 0.0)
        return (
            len(overalls) + score_difference.of_source,
            1.0 if score_difference.p is None else score_difference.p,
            -abs(score_difference.delta),
        )

    return tuple(sorted(score_differences, key=key))


def _unpaired(board: Board, name: str, *, first: BoardRow, second: BoardRow) -> ScoreDifference | None:
    """Return a difference from two separate intervals; None without both accuracies."""
    x, y = first.value(name), second.value(name)
    if x is None or y is None:
        return None
    low, high = unpaired_bounds(x, y, bounds=first.interval.get(name), others=second.interval.get(name))
    spec = board.spec
    n = board.sizes.get(spec.pooled if spec.is_mean(name) else name) if first.tier == second.tier == "scored" else None
    category = name if name in spec.category_keys else ""
    return ScoreDifference(name, x - y, category=category, n=n, low=low, high=high, title=spec.title_of(name))


def _same_categories(board_version: BoardVersion, row: BoardRow, *, grouping: str) -> bool:
    """Return whether the row's categories are those of the grouping; a reported row keeps the ones it was published
    with."""
    if row.tier == "scored":
        return True
    result = find(board_version.published, row.id)
    return result is None or result.check.verdict == UNCHECKED or result.check.grouping == grouping


def own_grouping(board_version: BoardVersion, row: BoardRow) -> str | None:
    """Return the grouping that a reported row's figures follow, where that is known and not the official one."""
    reported_figures: ReportedFigures | None = find(board_version.published, row.id)
    grouping = None if reported_figures is None else reported_figures.check.grouping
    return grouping if grouping != board_version.spec.official else None


def not_paired(
    board_version: BoardVersion, first: BoardRow, *, second: BoardRow, relations: PairwiseArrays | None
) -> str:
    """Return why two entries cannot be compared pair by pair, as a sentence; "" if they can."""
    reported = [row for row in (first, second) if row.tier == "reported"]
    if reported:
        return _about_reported(board_version, reported)
    if relations is None:
        return _("Counts pair by pair follow some seconds after a score; until then only the intervals are compared.")
    if relations.outcomes is None:
        return _("The labels are not public, so no counts of single pairs are shown; only the intervals are compared.")
    anonymous = anonymous_entries(board_version.snapshot).intersection({first.id, second.id})
    if anonymous:
        return _(
            "{judge} is shown without its owner. Counts pair by pair would reveal other entries of the same owner, so "
            "only the intervals are compared.",
            judge=listed([row.model for row in (first, second) if row.id in anonymous]),
        )
    absent = [row.model for row in (first, second) if row.id not in relations.entries]
    if not absent:
        return ""
    return ngettext(
        "Pair by pair only the best version of each judge is compared, and at most the first {most:,}; {judges} is "
        "not among them. So only the intervals are compared.",
        "Pair by pair only the best version of each judge is compared, and at most the first {most:,}; {judges} are "
        "not among them. So only the intervals are compared.",
        len(absent),
        most=COMPARED_AT_MOST,
        judges=listed(absent),
    )


def _about_unled(unled: Sequence[BoardRow]) -> str:
    row = unled[0]
    if row.oracle:
        return _("{judge} was given the answer, so its result is compared with no other.", judge=row.model)
    return _("The votes of {judge} need no judge, so its score is compared with no other.", judge=row.model)


def _about_reported(board_version: BoardVersion, reported: Sequence[BoardRow]) -> str:
    if board_version.spec.synthetic and len(reported) == 1:
        return _(
            "{judge} is a published result on the real benchmark and cannot be compared with a judge of synthetic "
            "pairs.",
            judge=reported[0].model,
        )
    return ngettext(
        "{judges} is a reported result: there are no votes to compare pair by pair. Only the intervals are compared, "
        "which detects larger differences only.",
        "{judges} are reported results: there are no votes to compare pair by pair. Only the intervals are compared, "
        "which detects larger differences only.",
        len(reported),
        judges=listed(list(dict.fromkeys(row.model for row in reported))),
    )


# Words ---------------------------------------------------------------------------------------------------------------


def letters(comparison: Comparison) -> dict[str, str]:
    """Return a letter for each chosen entry, in the order asked for: pages call them so where names are long."""
    return {row.id: chr(ord("A") + place) for place, row in enumerate(comparison.rows)}


def sentence(pair: Pair, called: Mapping[str, str] | None = None) -> str:
    """Return what the comparison says, in plain words. ``called``: names by id; None for the models'.

    It is about the two alone: of judges that share first place on a board, one may be ahead here.
    """
    a, b = pair.names if called is None else (called[pair.first.id], called[pair.second.id])
    if not pair.differences:
        return _("{a} and {b} cannot be compared here.", a=a, b=b)
    parts = [difference for difference in pair.differences if difference.name in pair.spec.category_keys]
    categories = _categories(a, b, parts=parts, spec=pair.spec) if parts else ""
    sentences = (_("This compares the two alone."), categories, _whole(a, b, pair=pair))
    return joined(filter(None, sentences), " ")


def _categories(a: str, b: str, *, parts: Sequence[ScoreDifference], spec: BenchmarkSpec) -> str:
    """Return the sentence about categories.

    “A agrees with people more often than B on hallucination (+3.1 points, p = .004); on general and reasoning they
    cannot be separated.”
    """
    ahead = [part for part in parts if part.separable and part.delta > 0]
    behind = [part for part in parts if part.separable and part.delta < 0]
    open_ = [_(spec.category_text(part.name)) for part in parts if not part.separable]
    if not ahead and not behind:
        return _("There is no significant difference between {a} and {b} in any category.", a=a, b=b)
    clauses = [
        _ahead(x, y, score_differences=leads, spec=spec) for x, y, leads in ((a, b, ahead), (b, a, behind)) if leads
    ]
    text = clauses[0] if len(clauses) == 1 else _("{first}, but {second}", first=clauses[0], second=clauses[1])
    if not open_:
        return _("{text}.", text=text)
    return _("{text}; no significant difference on {categories}.", text=text, categories=listed(open_))


def _ahead(first: str, second: str, *, score_differences: Sequence[ScoreDifference], spec: BenchmarkSpec) -> str:
    where = [
        _(
            "{category} (+{points} points{evidence})",
            category=_(spec.category_text(part.name)),
            points=points(abs(part.delta)),
            evidence=_evidence(part, behind=_(", {p}")),
        )
        for part in score_differences
    ]
    return _("{a} agrees with people more often than {b} on {where}", a=first, b=second, where=listed(where))


def _evidence(score_difference: ScoreDifference, *, behind: str = _(" ({p})")) -> str:
    return "" if score_difference.p_adjusted is None else _(behind, p=p_text(score_difference.p_adjusted))


def _whole(a: str, b: str, *, pair: Pair) -> str:
    """About the headline, or the pooled score where the categories are not the same ones."""
    whole = pair.of(pair.spec.headline) or pair.of(pair.spec.pooled)
    if whole is None:
        return ""
    mean = pair.spec.is_mean(whole.name)
    name = _(pair.spec.name_of(whole.name))
    what = _("{name} average", name=name) if mean else name if name == whole.name else _("{name} value", name=name)
    if not whole.separable:
        if not tenths(abs(whole.delta)):
            return _("Their {what}s are the same to a tenth of a point.", what=what)
        values = {"what": what, "gap": points(abs(whole.delta)), "evidence": _evidence(whole)}
        if whole.low is None:
            return _(
                "Their {what}s, {gap} points apart, have no interval that could be computed{evidence}.",
                **values,
            )
        return _("Their {what}s differ by {gap} points, which is not significant{evidence}.", **values)
    return _(
        "{where} {judge} is ahead by {points} points{evidence}.",
        where=_("On the {what}", what=what) if mean else capital(what),
        judge=a if whole.delta > 0 else b,
        points=points(abs(whole.delta)),
        evidence=_evidence(whole),
    )


def interval(score_difference: ScoreDifference, sign: int = 1) -> str:
    """Return the 95% interval of a difference, in points; ``sign`` -1 turns it round."""
    if score_difference.low is None or score_difference.high is None:
        return ""
    low, high = sorted((sign * score_difference.low, sign * score_difference.high))
    return _("{low} to {high}", low=points(low, signed=True), high=points(high, signed=True))


def reach(groups: Iterable[Sequence[ScoreDifference]]) -> float:
    """Return how far the axis of a page's drawings goes to either side: the shortest that every interval fits on."""
    differences = [difference for group in groups for difference in group]
    ends = [
        end
        for difference in differences
        for end in (difference.low, difference.delta, difference.high)
        if end is not None
    ]
    most = max(map(abs, ends), default=0.0)
    return next((axis for axis in AXES if most <= axis), AXES[-1])


def place(difference: float, axis: float) -> str:
    """Return where a difference is on the axis from -axis to +axis, in percent of its width."""
    return f"{min(max(50 + 48 * difference / axis, 2), 98):.1f}"


def p_text(p: float) -> str:
    """Return a p value as papers print it: p = .004, p < .001, p = .32."""
    if p < 0.001:
        return "p < .001"
    decimals = 4 if 0.0495 <= p < 0.0505 else 3 if p < 0.01 or 0.045 <= p < 0.055 else 2
    digits = f"{p:.{decimals}f}"
    return f"p = {digits.removeprefix('0')}" if p < 0.995 else "p = 1"


# For programs --------------------------------------------------------------------------------------------------------


def to_json(comparison: Comparison) -> dict[str, Any]:
    """Return the comparison; accuracies and differences are fractions."""
    board = comparison.board
    return {
        **board.identity,
        "entries": [_row_json(row, board.spec.headline_first) for row in comparison.rows],
        "pairs": [_pair_json(pair) for pair in comparison.pairs],
    }


def _row_json(row: BoardRow, names: Sequence[str]) -> dict[str, Any]:
    return {
        **{name: row.value(name) for name in ("id", "rank", "model", "version", "tier", *names)},
        "interval": {name: list(bounds) for name, bounds in row.interval.items()},
    }


def _pair_json(pair: Pair) -> dict[str, Any]:
    return {
        "first": pair.first.id,
        "second": pair.second.id,
        "paired": pair.paired,
        "reason": pair.reason or None,
        "sentence": sentence(pair),
        "separation": separation_json(pair),
        "differences": {difference.name: difference_json(difference) for difference in pair.differences},
    }


def difference_json(score_difference: ScoreDifference) -> dict[str, Any]:
    """Return a difference as programs get it, as fractions."""
    return {
        "n": score_difference.n,
        "only_first": score_difference.only_first,
        "only_second": score_difference.only_second,
        "difference": score_difference.delta,
        "interval": None if score_difference.low is None else [score_difference.low, score_difference.high],
        "p": score_difference.p,
        "p_adjusted": score_difference.p_adjusted,
        "separable": score_difference.separable,
    }


# Others to compare with ----------------------------------------------------------------------------------------------


def offered(comparison: Comparison, rows: Iterable[BoardRow]) -> list[BoardRow]:
    """Return the rows that can be compared with the chosen ones, those scored here first."""
    chosen = {row.id for row in comparison.rows}
    tiers = {row.tier for row in comparison.rows} if comparison.board.spec.synthetic else set()
    usable = [row for row in rows if row.leads and row.id not in chosen and (not tiers or row.tier in tiers)]
    return sorted(usable, key=lambda row: row.tier != "scored")


# Nearest entries -----------------------------------------------------------------------------------------------------


def nearest(
    board_version: BoardVersion, entry_id: str, *, relations: PairwiseArrays | None, revision: str = "", count: int = 4
) -> tuple[Pair, ...]:
    """Return the ranked entries next to one by what orders the board, in the order of the board, each compared with it.

    In these pairs the entry itself is first, whichever is ahead. What leads nothing is compared with none.
    """
    board = board_version.board(revision=revision)
    scored = [row for row in board.rows if row.tier == "scored" and row.leads]
    known = [row for row in scored if row.value(board.headline) is not None]
    own = next((row.version_of for row in known if row.id == entry_id), None)
    rows = [row for row in known if row.id == entry_id or (row.is_ranked and row.id != own)]
    place = next((index for index, row in enumerate(rows) if row.id == entry_id), None)
    if place is None:
        return ()
    start = max(0, min(place - count // 2, len(rows) - 1 - count))
    return tuple(
        _pair(board_version, board, first=rows[place], second=row, relations=relations)
        for row in rows[start : start + count + 1]
        if row.id != entry_id
    )
