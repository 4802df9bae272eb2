"""Results reported in papers, each with its source and an arithmetic check."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

from leaderboard.ranking.names import phrases
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.messages import _
from vlrb.judges import judge_name, judge_slug
from vlrb.numbers.definition_check import GROUPED, OVERALL
from vlrb.numbers.definition_report import needed_definitions
from vlrb.numbers.reported import ADDS_UP, ReportedCheck, check_reported, stated_overall

RESULTS = "reported.json"
"""The results that come with a definition, in its folder."""
REPORTERS = ("authors", "benchmark", "others")
"""Who reported a result: the judge's authors, the benchmark's, anybody else. So they lead a judge's reports."""
SECOND_HAND = _("second hand")
ORACLE = _("was given the answer")


@dataclass(frozen=True, slots=True)
class ReportedFigures:
    """One published result; ``figures`` in percent as printed, None where the source has none."""

    id: str
    name: str
    figures: Mapping[str, float | None]
    source: str
    url: str
    check: ReportedCheck
    spec: BenchmarkSpec
    organisation: str = ""
    judge_type: str = ""
    base_model: str = ""
    parameters_b: float | None = None
    open_weights: bool | None = None
    votes_per_item: int | None = None
    date: str = ""
    place: str = ""  # where in the source
    notes: str = ""
    stated_judge: str = ""  # its name, where the result's says more or less
    reported_by: str = "others"  # one of REPORTERS
    corrected_by: str = ""  # id of the result with which its own authors replaced this one
    second_hand: bool = False  # read in somebody's notes on the source, not in the source itself
    oracle: bool = False  # the judge was given a part of the answer, such as critiques that people wrote
    annotation: str = ""  # what maintainers say of it
    annotation_url: str = ""  # where that can be checked

    @property
    def judge_name(self) -> str:
        """The name of the judge that this is a result of."""
        return judge_name(self.name, self.stated_judge)

    @property
    def judge(self) -> str:
        """The slug that joins the results of one judge."""
        return judge_slug(self.judge_name)

    @property
    def remark(self) -> str:
        """The short phrases for the board."""
        return phrases(self.check.remark, ORACLE if self.oracle else "", SECOND_HAND if self.second_hand else "")

    @property
    def stated_overall(self) -> str:
        """The overall over pairs or categories that it states; "" without one."""
        return stated_overall(self.figures, self.spec)

    @property
    def asked_figures(self) -> Mapping[str, float | str | None]:
        """The figures by the names that the benchmark's check of numbers takes."""
        printed = self.check.definition
        return self.figures if printed is None else {name: str(figure) for name, figure in printed.figures.items()}

    @property
    def printed(self) -> Mapping[str, str]:
        """The figures by score, as the source prints them."""
        known = {name: str(value) for name, value in self.figures.items() if value is not None}
        if self.check.definition is None:
            return known
        grouped = self.spec.grouped.key if self.spec.grouped is not None else ""
        scores = {OVERALL: self.stated_overall, GROUPED: grouped}
        printed = self.check.definition.figures.items()
        return known | {scores.get(name, name): str(figure) for name, figure in printed}

    @property
    def official_overall(self) -> float | None:
        """The overall that its categories give with the official sizes, in percent, where it states another."""
        sizes = next((split.sizes for split in self.spec.splits if split.grouping == self.spec.official), ())
        parts = [self.figures.get(key) for key in self.spec.category_keys]
        if not sizes or None in parts or self.figures.get(self.spec.pooled) is None or self.check.verdict == ADDS_UP:
            return None
        return sum(n * (part or 0.0) for n, part in zip(sizes, parts, strict=True)) / sum(sizes)


@cache
def shipped_rows(spec: BenchmarkSpec) -> Mapping[str, Mapping[str, Any]]:
    """Return the results shipped with a definition by id, as its file has them; of one that imitates another, those of
    the other."""
    content = spec.read(RESULTS) or b'{"results": []}'
    return {row["id"]: row for row in json.loads(content)["results"]}


@cache
def load_published(spec: BenchmarkSpec) -> tuple[ReportedFigures, ...]:
    """Return the results shipped with a definition."""
    return tuple(_read(row, spec) for row in shipped_rows(spec).values())


_STATED = frozenset(field.name for field in fields(ReportedFigures)) - {"figures", "check", "spec", "stated_judge"}


def _read(row: Mapping[str, Any], spec: BenchmarkSpec) -> ReportedFigures:
    figures = {name: row.get(name) for name in spec.score_names}
    combined = {name: row.get(name) for name in spec.combined_keys}
    return ReportedFigures(
        **{name: value for name, value in row.items() if name in _STATED and value is not None},
        figures=figures,
        check=check_reported({**figures, **combined}, spec),
        spec=spec,
        stated_judge=row.get("judge_name") or "",
    )


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A publication that is about a benchmark and has no figure of it. ``why``: a sentence."""

    name: str
    source: str
    url: str
    why: str


@cache
def left_out(spec: BenchmarkSpec) -> tuple[LeftOut, ...]:
    """Return what was looked through in vain when the results of a definition were collected."""
    return tuple(LeftOut(**row) for row in json.loads(spec.read(RESULTS) or b"{}").get("left_out", ()))


def mixed_definitions(result: ReportedFigures, published: Sequence[ReportedFigures]) -> tuple[str, ...]:
    """Return the definitions of overall that the column of a result's table mixes; none where it has one."""
    same = [row for row in published if (row.source, row.place) == (result.source, result.place)]
    needed = needed_definitions(row.check.definition for row in same if row.check.definition is not None)
    return needed if len(needed) > 1 else ()


def by_judge(rows: Sequence[ReportedFigures]) -> dict[str, tuple[ReportedFigures, ...]]:
    """Return the results of each judge by its slug, the one that leads first.

    None leads whose judge was given the answer, or that its own authors have replaced. Then the judge's authors before
    the benchmark's before others, the more figures before the fewer, fewer votes before more, the newest first.
    """
    result: dict[str, list[ReportedFigures]] = {}
    for row in sorted(rows, key=lambda row: (row.date, row.id), reverse=True):
        result.setdefault(row.judge, []).append(row)
    return {judge: tuple(sorted(same, key=_precedence)) for judge, same in result.items()}


def _precedence(row: ReportedFigures) -> tuple[Any, ...]:
    figures = sum(value is not None for value in row.figures.values())
    return (row.oracle, bool(row.corrected_by), REPORTERS.index(row.reported_by), -figures, row.votes_per_item or 1)


def merge_imported(
    shipped: Sequence[ReportedFigures], snapshot: Mapping[str, Any], *, spec: BenchmarkSpec
) -> tuple[ReportedFigures, ...]:
    """Return the shipped results as maintainers had decided when a snapshot was made, and those that they had imported;
    nothing twice."""
    removed = {stub["id"] for stub in snapshot.get("stubs") or () if stub.get("reported")}
    changed = {row["id"]: row for row in snapshot.get("reported") or ()}
    known, rows = {result.id for result in shipped}, shipped_rows(spec)
    there = [
        _read({**rows[result.id], **changed[result.id]}, spec) if result.id in changed else result
        for result in shipped
        if result.id not in removed
    ]
    numbers = {_numbers(result.name, result.figures) for result in there}
    others = (row for name, row in changed.items() if name not in known)
    imported = (_read(row, spec) for row in others if "source" in row)  # not of a shipped one that is gone
    return (*there, *(result for result in imported if _numbers(result.name, result.figures) not in numbers))


def bundled_results(spec: BenchmarkSpec) -> list[dict[str, Any]]:
    """Return the shipped results, for those who decide about them and must not repeat or imitate them."""
    judges = {result.id: result.judge_name for result in load_published(spec)}
    return [{**row, "judge_name": judges[name]} for name, row in shipped_rows(spec).items()]


def _numbers(name: str, figures: Mapping[str, float | None]) -> tuple[Any, ...]:
    return (" ".join(name.casefold().split()), *(value for _, value in sorted(figures.items())))


def find(rows: Sequence[ReportedFigures], row_id: str) -> ReportedFigures | None:
    """Return the published result with this id."""
    return next((row for row in rows if row.id == row_id), None)
