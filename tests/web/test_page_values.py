"""Gradio's pages name the benchmark that was asked for in the HTML that is served, not after a call."""

from __future__ import annotations

from dataclasses import replace

import orjson
import pytest

from leaderboard.render import FOOTER_ID, HEADER_ID
from leaderboard.render_context import contexts_of
from submissions.submit_html import INTRODUCTION_ID
from tests.factories.specs import VL
from vlrb.benchmarks.spec_file import load_spec
from web.page_values import PageValues, page_title, page_values, with_values

FIRST, OTHER = contexts_of([VL, load_spec("mm-rlhf-rewardbench")])
CONFIG = {"title": "x", "components": [{"props": {"elem_id": "a", "value": "old"}}, {"props": {"value": "kept"}}]}
PAGE = b"<html><head></head><script>window.gradio_config = " + orjson.dumps(CONFIG) + b";</script><body></body></html>"


def test_title_and_values_are_in_the_page_and_nothing_ends_its_script() -> None:
    said = with_values(PAGE, PageValues("A & B", {"a": "<b>'new'</b></script>"}))
    script = said.split(b"window.gradio_config = ")[1].split(b";</script>")[0]
    config = orjson.loads(script)
    assert b"<" not in script
    assert (config["title"], [one["props"]["value"] for one in config["components"]]) == (
        "A & B",
        ["<b>'new'</b></script>", "kept"],
    )
    assert b"<title>A &amp; B</title>" in said
    head = said.partition(b"window.gradio_config")[0]
    assert b'"language",{get:()=>"en"}' in head, "the language of the page is set before Gradio begins"


def test_what_has_no_components_stays_as_it_is() -> None:
    assert with_values(b"<html><head>", PageValues("x")) == b"<html><head>"


def test_the_submit_page_names_its_benchmark_and_leads_back_to_it() -> None:
    found = page_values("/app/submit", OTHER, limit_mb=64)
    assert found.title == "Submit predictions · MM-RLHF-RewardBench leaderboard"
    assert "MM-RLHF-RewardBench:" in found.values[INTRODUCTION_ID]
    assert not any("VL-RewardBench:" in value for value in found.values.values())
    for name in (HEADER_ID, FOOTER_ID, INTRODUCTION_ID):
        assert "/b/mm-rlhf-rewardbench/" in found.values[name]


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("/app/", ""),
        ("/app/submit", "Submit predictions · "),
    ],
)
def test_each_page_of_the_first_benchmark_has_its_title(path: str, title: str) -> None:
    assert page_title(path, FIRST) == f"{title}VL-RewardBench leaderboard"
    assert page_title(path, replace(FIRST, language="zh-CN")).endswith("VL-RewardBench 榜单")
