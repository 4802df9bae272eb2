"""Gradio's page names the benchmark that was asked for in the HTML that is served, not after a call."""

from __future__ import annotations

import orjson

from leaderboard.site.render import FOOTER_ID, HEADER_ID
from leaderboard.site.render_context import contexts_of
from submissions.submit.render import INTRODUCTION_ID
from tests.factories.specs import VL
from vlrb.benchmarks.spec_file import load_spec
from vlrb.common.translations import languages
from web.page_values import page_title, page_values, with_noscript, with_values

FIRST, OTHER = contexts_of([VL, load_spec("mm-rlhf-rewardbench")])
CONFIG = {"title": "x", "components": [{"props": {"elem_id": "a", "value": "old"}}, {"props": {"value": "kept"}}]}
PAGE = b"<html><head></head><script>window.gradio_config = " + orjson.dumps(CONFIG) + b";</script><body></body></html>"
LINKS = "".join(f'<link rel="alternate" hreflang="{tag}" href="?lang={tag}">' for tag in languages()).encode()


def test_title_and_values_are_in_the_page_and_nothing_ends_its_script() -> None:
    said = with_values(PAGE, "A & B", values={"a": "<b>'new'</b></script>"}, language="en")
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
    assert with_values(b"<html><head>", "x", values={}, language="en") == b"<html><head>", "there are no components"


def test_the_page_names_its_benchmark_and_leads_back_to_it() -> None:
    found = page_values(OTHER, 64)
    assert "MM-RLHF-RewardBench:" in found[INTRODUCTION_ID]
    assert not any("VL-RewardBench:" in value for value in found.values())
    for name in (HEADER_ID, FOOTER_ID, INTRODUCTION_ID):
        assert "/b/mm-rlhf-rewardbench/" in found[name]
    assert page_title(OTHER) == "Submit predictions · MM-RLHF-RewardBench leaderboard"
    assert page_title(FIRST.in_language("zh-CN")).endswith("VL-RewardBench 榜单")


def test_without_a_script_a_sentence_begins_the_body_and_the_head_names_the_languages() -> None:
    plain = b'<html lang="en"><head><title>x</title></head><body class="a">drawn</body></html>'
    page = with_noscript(plain, "en")
    start, end = page.index(b"<noscript>"), page.index(b"</noscript>") + len(b"</noscript>")
    assert page[:start].endswith(b'<body class="a">')
    assert page.count(LINKS + b"</head>") == 1
    assert (page[:start] + page[end:]).replace(LINKS, b"") == plain
