"""A benchmark that nobody wrote code for, two categories without sources or tags, added by a folder alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from benchmark.items import build_table
from benchmark.scoring import tally_many
from benchmark.spec import BenchmarkSpec, load_spec
from leaderboard import api, routes
from leaderboard.cache import BoardCache
from leaderboard.render_context import RenderContext
from tests.factories.snapshots import FixedSource
from workers.labels.loader import label_set

DEFINITION = """
id = "weather"
title = "Weather in pictures"
brand = "Weather"
dataset = "https://example.org/weather"
citation = "@misc{weather2026, title = {Weather in pictures}, year = {2026}}"
verdict_format = "double-brackets"
headline = "all"

[[categories]]
key = "rain"
title = "Rain"
colour = "#1b7f6b"

[[categories]]
key = "snow"
title = "Snow"
colour = "#1f5fbf"

[[category_rules]]
id_prefix = "rain-"
category = "rain"

[[category_rules]]
id_prefix = "snow-"
category = "snow"

[[protocols]]
key = "strict"
title = "More than half of the votes"
unreadable = "wrong"
votes = "majority"

[[overalls]]
key = "all"
title = "All pairs alike"
kind = "micro"
"""
PAIRS = [
    {"id": f"{'rain' if n < 25 else 'snow'}-{n}", "query": f"Question {n}", "response": [f"yes {n}", f"no {n}"]}
    for n in range(40)
]


@pytest.fixture(scope="module")
def spec(tmp_path_factory: pytest.TempPathFactory) -> BenchmarkSpec:
    root: Path = tmp_path_factory.mktemp("definitions")
    (root / "weather").mkdir()
    (root / "weather" / "spec.toml").write_text(DEFINITION)
    spec = load_spec("weather", root)
    (root / "weather" / "items.json").write_text(json.dumps(build_table(spec, {"v1": PAIRS}).to_json()))
    return spec


def entry(number: int, wrong: int, spec: BenchmarkSpec) -> dict[str, Any]:
    table = build_table(spec, {"v1": PAIRS})
    labels = label_set([{"id": row["id"], "human_ranking": [0, 1]} for row in PAIRS], "v1", table)
    votes = np.zeros((1, 40, 1), dtype=np.int8)
    votes[0, :wrong] = 1
    return {
        "id": f"e{number:011d}",
        "model": f"Judge {number}",
        **dict.fromkeys(("version", "organisation", "base_model", "link", "paper", "code", "hub_id"), ""),
        **dict.fromkeys(("parameters_b", "open_weights", "temperature", "self_consistency")),
        **{"judge_type": "generative-pairwise", "prompt": "", "notes": "", "format": "native", "revision": "v1"},
        **{"submitted_at": "2026-10-02T12:00:00Z", "votes_per_item": 1, "parse_rate": 1.0, "first_shown_rate": 0.5},
        "tallies": {"v1": tally_many(votes, labels, table)[0].to_json()},
    }


@pytest.fixture(scope="module")
def client(spec: BenchmarkSpec) -> Iterator[TestClient]:
    body = {
        **{"created_at": "2026-11-21T22:00:00Z", "benchmark": "weather", "label_revision": "v1"},
        **{"scorer_version": "1", "label_revisions": ["v1"], "sizes": {"rain": 25, "snow": 15}},
        "entries": [entry(1, 5, spec), entry(2, 10, spec)],
    }
    site = BoardCache(FixedSource(body), check_every=0.0, context=RenderContext(spec))
    app = FastAPI(docs_url=None)
    app.include_router(routes.build(site))
    app.include_router(api.build(site))
    app.add_exception_handler(404, routes.ErrorPages(site.context).not_found)
    with TestClient(app) as client:
        yield client


def test_its_scores_have_the_names_of_its_definition(spec: BenchmarkSpec) -> None:
    assert spec.score_names == ("rain", "snow", "all")
    assert not spec.has_sources
    assert spec.source_keys == ("rain", "snow")


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/about",
        "/explore",
        "/entries/e00000000001",
        "/compare?a=e00000000001&b=e00000000002",
        "/api/v1/leaderboard",
        "/api/v1/entries/e00000000001",
        "/export/board.csv",
        "/export/board.json",
        "/export/board.tex",
        "/entries/e00000000001/badge.svg",
        "/feed.xml",
    ],
)
def test_its_pages_name_its_categories_and_no_others(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 200, answer.text[:500]
    for foreign in ("allucination", "VLFeedback", "RLAIF"):
        assert foreign not in answer.text


def test_its_board_shows_the_shares_that_were_counted(client: TestClient) -> None:
    page = client.get("/").text
    assert "Rain" in page
    assert "Snow" in page
    assert "87.5" in page  # 35 of 40
    assert "80.0" in page  # 20 of 25
