"""The number check tells which definition of overall a row uses, and which percentages no count gives."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from leaderboard import api, routes
from leaderboard.cache import BoardCache
from leaderboard.render_context import RenderContext, contexts_of
from tests.factories.snapshots import FixedSource
from tests.factories.suite.programs import numbers_main as main
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.benchmarks.spec_file import load_spec
from vlrb.numbers import definition_report as definition_check
from vlrb.numbers.definition_check import figure_names

MM_RLHF, MMRB = load_spec("mm-rlhf-rewardbench"), load_spec("multimodal-rewardbench")
SEVEN = ("correctness", "preference", "knowledge", "math", "coding", "bias", "vqa")
PRINTED = ("overall", *SEVEN)
R1_STYLE = dict(zip(PRINTED, ["70.8", "62.6", "69.0", "72.0", "67.6", "62.1", "74.8", "87.2"], strict=True))
OWN_STYLE = dict(zip(PRINTED, ["68.7", "68.2", "56.3", "64.9", "73.1", "48.6", "72.4", "83.5"], strict=True))


def table_of(spec: BenchmarkSpec) -> definition_check.CheckedTable:
    return next(table for table in definition_check.published_tables(spec) if table.source.startswith("BaseReward"))


@pytest.fixture
def client() -> Iterator[TestClient]:
    cache = BoardCache(FixedSource(None), check_every=0.0, context=RenderContext(MMRB))
    app = FastAPI(docs_url=None)
    app.include_router(routes.build(cache))
    app.include_router(api.build(cache))
    with TestClient(app) as client:
        yield client


@pytest.mark.parametrize(
    ("figures", "definitions"), [(R1_STYLE, ["mean-of-seven"]), (OWN_STYLE, ["micro", "micro-released"])]
)
def test_the_definition_of_an_overall_follows_from_the_categories(
    figures: dict[str, str], definitions: list[str]
) -> None:
    found = definition_check.answer(figures, MMRB)
    assert (found.verdict, list(found.fitting)) == ("fits", definitions)
    names = {"mean-of-seven": "Mean of 7", "micro": "No toxicity"}
    assert f"“{names[definitions[0]]}”" in definition_check.headline(found)
    assert not any(key in sentence for key in MMRB.overall_keys for sentence in definition_check.sentences(found))


def test_a_value_that_no_count_gives_is_named_with_its_neighbours() -> None:
    found = definition_check.answer({"groups": "26.01", "overall": "58.23"}, MM_RLHF)
    assert found.verdict == "impossible"
    assert "12 of 46 is 26.09" in definition_check.sentences(found)[0]


def test_page_and_api_give_the_same_answer(client: TestClient) -> None:
    page = client.get("/check-numbers", params=R1_STYLE)
    assert page.status_code == 200
    assert "The overall is “Mean of 7”." in page.text
    assert not re.search(r">[^<]*(mean-of-seven|micro-)", page.text)
    assert "BaseReward, Table 10" in page.text
    answer = client.get("/api/v1/check-numbers", params=R1_STYLE).json()
    assert [one["key"] for one in answer["definitions"] if one["fits"]] == ["mean-of-seven"]
    assert client.get("/check-numbers?overall=x").status_code == 400
    assert client.get("/api/v1/check-numbers?overall=x").json()["parameter"] == "overall"


def test_a_name_that_is_no_figure_is_refused_with_those_that_are(client: TestClient) -> None:
    for start in ("/check-numbers", "/api/v1/check-numbers"):
        reply = client.get(f"{start}?overall=70.8&mean-of-seven=70.8&lang=en&benchmark=multimodal-rewardbench")
        assert reply.status_code == 400
        assert re.search("mean-of-seven.+ is not .+ overall, correctness, ", reply.text)
    assert (reply.json()["parameter"], reply.json()["known"][:2]) == ("mean-of-seven", ["overall", "correctness"])
    assert client.get("/check-numbers?lang=en").status_code == 200


def test_groups_are_known_by_the_name_of_the_board_too(capsys: pytest.CaptureFixture[str]) -> None:
    by_board, by_check = (definition_check.answer({name: "26.01"}, MM_RLHF) for name in ("acc-plus", "groups"))
    assert by_board == by_check and by_board.verdict == "impossible"
    assert main(["--benchmark", "mm-rlhf-rewardbench", "--acc-plus", "26.01"]) == 1
    assert re.search(r"ACC\+ 26\.01 .+ 46 groups: .+ 12 of 46 is 26\.09", capsys.readouterr().out)


def test_the_api_lists_the_figures_of_every_benchmark_served() -> None:
    specs = [load_spec("vl-rewardbench"), MMRB, MM_RLHF]
    cache = BoardCache(FixedSource(None), check_every=0.0, context=contexts_of(specs)[0])
    app = FastAPI(docs_url=None)
    app.include_router(api.build(cache))
    listed = app.openapi()["paths"]["/api/v1/check-numbers"]["get"]["parameters"]
    names = [parameter["name"] for parameter in listed]
    assert len(names) == len(set(names))
    assert {*figure_names(specs[0]), *figure_names(MMRB), *figure_names(MM_RLHF)} <= set(names)
    (acc_plus,) = (parameter for parameter in listed if parameter["name"] == "acc-plus")
    assert "benchmark=mm-rlhf-rewardbench" in acc_plus["description"]


def test_the_command_takes_the_figures_of_a_benchmark(capsys: pytest.CaptureFixture[str]) -> None:
    options = [part for name, value in R1_STYLE.items() for part in (f"--{name}", value)]
    assert main(["--benchmark", "multimodal-rewardbench", "--json", *options]) == 0
    assert json.loads(capsys.readouterr().out)["verdict"] == "fits"


def test_a_column_of_two_definitions_is_named_though_one_of_them_has_two_names() -> None:
    mixed, alike = table_of(MMRB), table_of(MM_RLHF)
    assert (mixed.definitions, alike.definitions) == (("mean-of-seven", "micro-released"), ("micro",))
