"""The number check as a page and in the API."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from leaderboard.site.cache import BoardCache
from leaderboard.site.render_context import RenderContext, contexts_of
from tests.factories.board_app import board_app
from tests.factories.snapshots import FixedSource
from vlrb.benchmarks.spec_file import load_spec
from vlrb.numbers.definition_check import figure_names

MM_RLHF, MMRB = load_spec("mm-rlhf-rewardbench"), load_spec("multimodal-rewardbench")
SEVEN = ("correctness", "preference", "knowledge", "math", "coding", "bias", "vqa")
PRINTED = ("overall", *SEVEN)

R1_STYLE = dict(zip(PRINTED, ["70.8", "62.6", "69.0", "72.0", "67.6", "62.1", "74.8", "87.2"], strict=True))


@pytest.fixture
def client() -> Iterator[TestClient]:
    cache = BoardCache(FixedSource(None), check_every=0.0, context=RenderContext(MMRB))
    with TestClient(board_app(cache)) as client:
        yield client


def test_page_and_api_give_the_same_answer(client: TestClient) -> None:
    page = client.get("/check-numbers", params=R1_STYLE)
    assert page.status_code == 200
    assert "The overall is “Mean of 7”." in page.text
    assert not re.search(r">[^<]*(mean-of-seven|micro-)", page.text)
    answer = client.get("/api/v1/check-numbers", params=R1_STYLE).json()
    assert [one["key"] for one in answer["definitions"] if one["fits"]] == ["mean-of-seven"]
    assert client.get("/check-numbers?overall=x").status_code == 400
    assert client.get("/api/v1/check-numbers?overall=x").json()["parameter"] == "overall"
    unknown = client.get("/api/v1/check-numbers?mean-of-seven=70.8").json()
    assert (unknown["parameter"], unknown["known"][:2]) == ("mean-of-seven", ["overall", "correctness"])


def test_the_api_lists_the_figures_of_every_benchmark_served() -> None:
    specs = [load_spec("vl-rewardbench"), MMRB, MM_RLHF]
    cache = BoardCache(FixedSource(None), check_every=0.0, context=contexts_of(specs)[0])
    listed = board_app(cache).openapi()["paths"]["/api/v1/check-numbers"]["get"]["parameters"]
    names = [parameter["name"] for parameter in listed]
    assert len(names) == len(set(names))
    assert {*figure_names(specs[0]), *figure_names(MMRB), *figure_names(MM_RLHF)} <= set(names)
    (acc_plus,) = (parameter for parameter in listed if parameter["name"] == "acc-plus")
    assert "mm-rlhf-rewardbench" in acc_plus["description"]
