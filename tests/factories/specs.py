"""Definitions of benchmarks for tests, and the names that the one of VL-RewardBench gives to things."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from leaderboard.board.api import columns as api_columns
from leaderboard.charts.estimates import buckets, drawn_scores
from leaderboard.ranking.columns import by_key, columns_of, usual
from leaderboard.share import exports
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.benchmarks.spec_file import load_spec
from vlrb.numbers import figures
from vlrb.numbers.figures import Figures
from vlrb.numbers.reported import ReportedCheck, check_reported
from vlrb.protocols import protocols
from vlrb.scoring import slices

VL = load_spec("vl-rewardbench")
DEMO = load_spec("demo")
INVENTED = VL
"""For tables of a few invented items."""

CATEGORIES, SOURCES, TAGS = VL.category_keys, VL.source_keys, VL.tags
GROUPINGS, SLICES, PROTOCOLS = VL.groupings, slices(VL), protocols(VL)
SCORES, ORDERS, VALUES = VL.overall_first, VL.headline_first, VL.headline_first
COLUMNS, BY_KEY, USUAL = columns_of(VL), by_key(VL), usual(VL)
MACRO, OVERALL = VL.headline, VL.pooled
SPLITS = VL.splits
SIZES = {
    **{"VLFeedback": 10, "WildVision": 173},
    **{"POVID": 448, "RLAIF-V": 233, "RLHF-V": 68},
    **{"MathVerse": 167, "MMMU-Pro": 151},
}
"""Pairs of each source."""


def spec_of(benchmark: str) -> BenchmarkSpec:
    """Return the definition of a benchmark; of an unknown one that of VL-RewardBench under its id."""
    known = {VL.id: VL, DEMO.id: DEMO}
    return known.get(benchmark) or replace(VL, id=benchmark)


def source_from_id(row: Mapping[str, Any]) -> str:
    """Return the source of a row under the definition of VL-RewardBench."""
    return VL.source_of("", str(row["id"]))


def read_figures(*values: str | float | None, **named: str | float | None) -> Figures:
    """Return published percentages of VL-RewardBench: by name, or the categories, overall and macro in order."""
    return figures.read_figures({**dict(zip(VL.score_names, values, strict=False)), **named}, VL)


def verdict(*values: float | None, **named: float | None) -> ReportedCheck:
    """Return the verdict on figures, given as in `read_figures`."""
    return check_reported({**dict(zip(VL.score_names, values, strict=False)), **named}, VL)


EXPORT_FIELDS = exports.fields(VL)
API_COLUMNS = api_columns(VL)
BUCKETS, CHART_SCORES = buckets(VL), drawn_scores(VL)
