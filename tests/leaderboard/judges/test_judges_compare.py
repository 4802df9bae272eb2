"""Judges on several benchmarks, and benchmarks by the order of their judges."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from leaderboard.charts.layout import Page
from leaderboard.judges import pages
from leaderboard.judges.agreement import agreement_verdict, agreements, headline
from leaderboard.judges.agreement_figure import agreement_chart
from leaderboard.judges.table import judge_lines
from leaderboard.ranking.reported_results import load_published
from leaderboard.site.cache import BoardCache, BoardVersion
from leaderboard.site.render_context import RenderContext, contexts_of
from tests.factories.snapshots import FixedSource, entry, snapshot
from tests.factories.specs import VL
from tests.factories.three_benchmarks import SERVED, application, board_of
from vlrb.benchmarks.spec_file import load_spec
from vlrb.common.rounding import percent

SPECS = [load_spec(name) for name in SERVED]


def served(bodies: Sequence[dict[str, Any]], *, reported: bool = False) -> list[BoardCache]:
    contexts = contexts_of(SPECS)
    return [
        BoardCache(FixedSource(body), context=context, published=None if reported else ())
        for body, context in zip(bodies, contexts, strict=True)
    ]


@pytest.fixture(scope="module")
def board_versions() -> list[BoardVersion]:
    skills = {SERVED[0]: [0.9, 0.5, 0.7], SERVED[1]: [0.9, 0.88], SERVED[2]: [0.2, 0.95]}
    return [board.refresh() for board in served([board_of(spec, skills[spec.id]) for spec in SPECS])]


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/judges/compare?judge=judge-0", 200, "Add at least one more judge."),
        ("/judges/compare?judge=judge-0&judge=judge-1", 200, "Are these judges really different?"),
        ("/judges/compare?a=judge-0&b=nobody", 200, "Add at least one more judge."),
        ("/agreement", 200, "at least 5 judges on both."),
        ("/judges/judge-0", 200, "Its position."),
        ("/judges/carevl", 200, "no number could be found"),
    ],
)
def test_the_pages_answer_what_was_asked(
    board_versions: list[BoardVersion], path: str, status: int, words: str
) -> None:
    answer = TestClient(application(served([dict(version.snapshot) for version in board_versions]))).get(path)
    assert (answer.status_code, words in answer.text) == (status, True)


def test_a_judge_with_several_votes_has_their_curve(board_versions: list[BoardVersion]) -> None:
    first, *others = (dict(version.snapshot) for version in board_versions)
    page = TestClient(application(served([{**first, "entries": [entry(0, 0.9)]}, *others]))).get("/judges/judge-0").text
    assert page.count("/analyse.json?chart=votes") == 3, "wide, narrow, file"


@pytest.fixture(scope="module")
def client(board_versions: list[BoardVersion]) -> TestClient:
    return TestClient(application(served([dict(version.snapshot) for version in board_versions])))


def test_judges_are_compared_by_their_results_on_one_benchmark_which_leads_to_the_others(client: TestClient) -> None:
    page = client.get("/judges/compare?a=judge-0&b=judge-1").text
    others = re.findall(r'href="(/judges/compare\?benchmark=[^"]*)"', page)
    assert [client.get(html.unescape(address)).url.path for address in others] == [
        f"/b/{name}/compare" for name in SERVED[1:]
    ]
    data = client.get("/api/v1/judges/compare?a=judge-0&b=judge-1", follow_redirects=False).headers["location"]
    assert data.startswith(f"/api/v1/compare?benchmark={SERVED[0]}&entries=e")
    missing = client.get(f"/judges/compare?a=judge-0&b=judge-2&benchmark={SERVED[1]}")
    assert "at least one more" in missing.text


def test_a_program_gets_a_judge_with_its_composite(client: TestClient) -> None:
    table = client.get("/api/v1/judges?sort=composite").json()
    values = [line["composite"] and line["composite"]["value"] for line in table["judges"]]
    assert values[:2] == sorted(values[:2], reverse=True) and values[2] is None, "a judge without all has none"
    judge = client.get("/api/v1/judges/judge-0").json()
    assert judge in table["judges"]
    figures = [judge["benchmarks"][name]["scored"]["figures"][0]["value"] for name in SERVED]
    assert judge["composite"]["value"] == pytest.approx(sum(figures) / 3)
    assert f"{percent(judge['composite']['value'])}</b>" in client.get("/judges").text


def test_a_program_gets_the_agreement_of_the_page(client: TestClient) -> None:
    said = client.get("/api/v1/agreement").json()
    assert said["verdict"] in client.get("/agreement").text
    assert [(one["benchmarks"], one["n"], one["correlation"]) for one in said["pairs"]] == [
        ([SERVED[0], SERVED[1]], 2, None),
        ([SERVED[0], SERVED[2]], 2, None),
        ([SERVED[1], SERVED[2]], 2, None),
    ]


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("judges/nobody", 404, "unknown-judge"),
        ("judges?sort=%00&page=0&tier=x", 200, None),
    ],
)
def test_a_program_that_asks_for_nothing_known_gets_a_problem(
    client: TestClient, path: str, status: int, code: str | None
) -> None:
    answer = client.get(f"/api/v1/{path}")
    assert (answer.status_code, answer.json().get("code")) == (status, code)


def test_benchmarks_are_compared_over_the_judges_that_both_have() -> None:
    skills = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4]
    board_versions = [board.refresh() for board in served([board_of(spec, skills) for spec in SPECS])]
    boards = [board_version.board() for board_version in board_versions]
    found = agreements(judge_lines(boards), boards)
    assert [len(one.judges) for one in found] == [6, 6, 6]
    assert all(one.correlation is not None and one.correlation.rho > 0.7 for one in found)
    assert not any(judge.hollow for one in found for judge in one.judges)
    alike = sum(one.correlation.interval.low > 0 for one in found if one.correlation)
    said = agreement_verdict(found)
    assert f"{alike} order judges alike" in said
    assert not re.search("most|least", said), "which is the largest was not tested"
    chart = agreement_chart(found, Page(VL))
    assert chart.figure is not None and len(chart.rows) == 3 * 6
    assert {link for trace in chart.figure.data for link in trace.customdata} == {f"judges/judge-{n}" for n in range(6)}
    few = agreements(judge_lines(boards)[:4], boards)
    assert all(one.correlation is None for one in few)
    assert "No two benchmarks have 5 judges" in agreement_verdict(few)


def test_a_version_of_another_judge_and_a_figure_that_does_not_add_up_are_in_no_order() -> None:
    first = served([board_of(spec, [0.9, 0.8]) for spec in SPECS])[0].refresh()
    cell = judge_lines([first.board()])[0].cells[0]
    assert cell is not None and cell.scored is not None
    assert headline(cell) is not None
    assert headline(replace(cell, scored=replace(cell.scored, version_of="another"))) is None
    reported = replace(cell.scored, tier="reported")
    assert headline(replace(cell, scored=None, reported=(reported,))) is not None
    assert headline(replace(cell, scored=None, reported=(replace(reported, inconsistent=True),))) is None


def test_a_figure_of_another_definition_is_in_no_order() -> None:
    board_versions = [board.refresh() for board in served([snapshot([], name) for name in SERVED], reported=True)]
    boards = [board_version.board() for board_version in board_versions]
    for one in agreements(judge_lines(boards), boards):
        assert all(judge.hollow for judge in one.judges)
        named = {row.judge for row in load_published(one.second.spec) if row.figures[one.second.headline] is not None}
        assert {judge.slug for judge in one.judges} <= named


@pytest.mark.parametrize("synthetic", [True, False])
def test_a_demo_says_above_all_its_judges_that_reported_rows_are_real(synthetic: bool) -> None:
    context = RenderContext(spec=replace(VL, synthetic=synthetic))
    app = FastAPI()
    app.include_router(pages.build([BoardCache(FixedSource(snapshot([])), context=context)]))
    assert ('class="notice"' in TestClient(app).get("/judges").text) is synthetic
