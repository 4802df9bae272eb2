"""Counts of the about page, and its sample file, which is accepted."""

import json

import pytest
from starlette.testclient import TestClient

from leaderboard.about import pages as about
from leaderboard.site.cache import BoardCache
from tests.factories.board_app import board_app
from tests.factories.labels import SIZES, table
from tests.factories.snapshots import FixedSource, entry, snapshot
from tests.factories.specs import VL
from tests.pair_files import mmrb_items
from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.pairs import pair_table, read_pairs
from vlrb.benchmarks.spec_file import load_spec
from vlrb.predictions.parse import parse_predictions


def test_the_table_of_sizes_is_the_one_of_the_benchmark() -> None:
    lines = {line.source or line.category: line.counts for line in about.sizes(ItemTable.load(VL))}
    assert lines["Total"] == (1250, 1250, 1247)
    assert lines["General"] == (183, 183, 181)
    assert lines["Hallucination"] == (749, 749, 749)
    assert lines["Reasoning"] == (318, 318, 317)
    assert {source: lines[source][0] for source in SIZES} == SIZES


@pytest.mark.parametrize("revision", ["v0", "v1", "v2"])
def test_the_sample_file_passes_the_check_under_every_revision(revision: str) -> None:
    items = ItemTable.load(VL)
    upload = parse_predictions(about.sample_file(items, revision), items)
    assert (upload.format, upload.items, upload.votes.k) == ("native", len(items.in_revision(revision)), 3)
    assert not [notice for notice in upload.warnings if notice.code == "repeated-id-by-order"]


def test_the_sample_file_of_an_unknown_revision_is_that_of_the_first() -> None:
    items = table(3)
    assert about.sample_file(items, "") == about.sample_file(items, "r1")
    first = json.loads(about.sample_file(items, "r1").split(b"\n")[0])
    assert set(first) == {"id", "votes"}


def test_the_page_says_all_that_a_newcomer_needs_and_leads_to_it() -> None:
    client = TestClient(board_app(BoardCache(FixedSource(snapshot([entry(1, 0.7)])))))
    page = client.get("/about").text
    for address in ("/policy", "/red-team", "/decisions", "/sample-predictions.jsonl", "/check-numbers", "/app/submit"):
        assert f'href="{address}"' in page, address
    for harness in ("inference_hf.py", "--log_samples", "PRED_FORMAT", '"scores"', '"votes"', '"judgements"'):
        assert harness in page.replace("&#34;", '"'), harness
    for rule in ("strict", "paper", "VLMEvalKit", "lmms-eval", "Romano", "MOVER", "631/301/318", "484/448/318"):
        assert rule in page, rule
    sample = client.get("/sample-predictions.jsonl")
    assert "attachment" in sample.headers["content-disposition"]


def test_categories_without_a_pair_are_not_listed() -> None:
    part = [row for row in mmrb_items(60, seed=1) if row["Category"] in ("knowledge", "vqa")]
    items = pair_table([read_pairs(part, load_spec("multimodal-rewardbench"))])
    assert [line.category for line in about.sizes(items)] == ["Knowledge", "Visual question answering", "Total"]


def test_the_about_page_says_once_what_an_overall_is_called() -> None:
    spec = load_spec("mm-rlhf-rewardbench")
    acc, mean, *_ = spec.overalls
    assert acc.about and not mean.about
    assert about.explained(spec, acc.key) == acc.about
    assert about.explained(spec, mean.key).startswith("Mean of the five")
