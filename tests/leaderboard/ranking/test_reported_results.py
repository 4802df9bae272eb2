"""Published results: their form and the arithmetic."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from leaderboard.ranking.reported_results import REPORTERS, ReportedFigures, by_judge, load_published
from leaderboard.ranking.rows import build_board
from leaderboard.site.cache import empty_snapshot
from leaderboard.site.render import safe_link
from tests.factories.specs import VL, verdict
from vlrb.judges import TYPES, judge_slug
from vlrb.statistics.uncertainty import wilson

RESULTS = load_published(VL)
FIGURES = ("general", "hallucination", "reasoning", "overall", "macro")
OURS = {
    "organisation": "organisation",
    "base_model": "base_model",
    "params_b": "parameters_b",
    "open": "open_weights",
    "date": "date",
    "judge_type": "judge_type",
}


def raw() -> list[dict[str, Any]]:
    path = Path(__file__).parents[3] / "vlrb/benchmarks/vl-rewardbench/reported.json"
    rows: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["results"]
    return rows


@pytest.mark.parametrize("row", raw(), ids=lambda row: row["id"])
def test_every_row_has_a_name_figures_and_a_source_that_can_be_opened(row: dict[str, Any]) -> None:
    required = {"id", "name", *FIGURES, "source", "url", "reported_by", "judge_type"}
    optional = {*OURS.values(), "votes_per_item", "place", "notes", "judge_name", "corrected_by", "second_hand"}
    assert required <= row.keys() <= required | optional
    assert re.fullmatch(r"r-[a-z0-9-]{3,80}", row["id"])
    assert row["name"]
    assert row["source"]
    assert safe_link(row["url"]) == row["url"]
    assert any(row[name] is not None for name in ("overall", "macro"))
    assert all(row[name] is None or 0 <= row[name] <= 100 for name in FIGURES)
    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", row.get("date", "2025-01-01"))
    assert row["judge_type"] in TYPES
    assert row["reported_by"] in REPORTERS
    assert None not in (row[name] for name in row.keys() & optional), "what is not known is left out"


def test_ids_and_names_are_unique() -> None:
    assert len({row.id for row in RESULTS}) == len(RESULTS)
    assert len({row.name for row in RESULTS}) == len(RESULTS)


def test_results_of_one_judge_have_one_slug_anyone_who_reported_them() -> None:
    judges = by_judge(RESULTS)
    assert {row.name for row in judges["omni-rewardmodel-bt"]} == {
        "Omni-RewardModel-BT", "Omni-RewardModel-BT (erratum)", "Omni-RewardModel-BT (rerun by Omni-RRM)",
        "Omni-RewardModel-BT (third-party rerun on NPU)",
    }  # fmt: skip
    assert [len(judges[name]) for name in ("ixc-2-5-reward", "skywork-vl-reward-7b", "r1-reward")] == [3, 2, 3]
    for slug, same in judges.items():
        assert len({row.judge_name for row in same}) == 1, slug
        assert slug == judge_slug(same[0].judge_name)
    assert {row.judge_type for row in RESULTS if row.name.startswith("SPARK")} == {"policy-as-judge"}


def result(name: str, date: str = "2025-01-01", **facts: Any) -> ReportedFigures:
    figures = dict.fromkeys(FIGURES, 50.0) | facts.pop("figures", {})
    known = {"source": "", "url": "", "check": verdict(), "stated_judge": "J", **facts}
    return ReportedFigures(id=name, name=name, date=date, figures=figures, **known, spec=VL)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (result("a", reported_by="authors"), result("b", "2026-01-01", reported_by="benchmark")),
        (result("a", reported_by="benchmark"), result("b", "2026-01-01")),
        (result("a"), result("b", "2026-01-01", figures={"macro": None})),
        (result("a"), result("b", "2026-01-01", votes_per_item=5)),
        (result("a", "2026-01-01"), result("b")),
        (result("a"), result("b", "2026-01-01", reported_by="authors", corrected_by="a")),
    ],
    ids=["authors", "the benchmark", "more figures", "fewer votes", "newer", "not replaced"],
)
def test_which_report_leads(first: ReportedFigures, second: ReportedFigures) -> None:
    assert by_judge([first, second]) == by_judge([second, first]) == {"j": (first, second)}


def test_a_replaced_result_names_one_that_is_there() -> None:
    ids = {row.id for row in RESULTS}
    assert {row.corrected_by for row in RESULTS} - ids == {""}
    assert [row.name for row in RESULTS if row.corrected_by] == ["Omni-RewardModel-BT"]


def test_a_macro_that_is_not_the_mean_of_its_categories_has_no_interval() -> None:
    one = [row for row in RESULTS if row.name == "LLaVA-Critic-8B (as tabulated by IXC-2.5-Reward)"]
    (row,) = build_board(empty_snapshot("vl-rewardbench"), VL, published=one).rows
    assert row.note == "macro average does not match"
    assert "macro" not in row.interval


def test_only_figures_whose_denominators_are_known_have_intervals() -> None:
    board = build_board(empty_snapshot("vl-rewardbench"), VL, published=RESULTS)
    known = {one.id: one.check.sizes for one in RESULTS}
    assert {bool(known[row.id]) for row in board.rows} == {True, False}
    for row in board.rows:
        sizes = known[row.id]
        if not sizes:
            assert row.interval == {}, row.id
        elif row.value("general") is not None:
            assert row.interval["general"] == pytest.approx(
                tuple(wilson(row.value("general") * sizes["general"], sizes["general"]))
            )
