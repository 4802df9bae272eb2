"""A benchmark that nobody wrote code for, two categories without sources or tags: a folder, served and walked."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from leaderboard.cache import BoardCache
from leaderboard.charts.catalog import charts_of
from leaderboard.pages.analyse import analyse_page, read_query
from leaderboard.pages.item_catalog import ItemCatalog
from leaderboard.queries import DatabaseSnapshots
from leaderboard.render_context import RenderContext
from storage.database import open_database
from tests.factories.services.service import Service, running, until
from tests.factories.suite.programs import numbers_main as check_numbers
from tests.factories.suite.programs import run_main, run_maintenance, run_vlrb
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.benchmarks.spec_file import load_spec

pytestmark = pytest.mark.slow

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
RIGHT = [n % 2 for n in range(40)]
WRONG = {"Seven of eight": range(5), "Three of four": range(20, 30)}  # 35 and 30 of 40
FOREIGN = ("allucination", "VLFeedback", "RLAIF", "macro", "vl-rewardbench.github.io")


def lines(rows: list[dict[str, object]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def predictions(wrong: range) -> bytes:
    votes = [right ^ (n in wrong) for n, right in enumerate(RIGHT)]
    return lines([{"id": pair["id"], "votes": [vote]} for pair, vote in zip(PAIRS, votes, strict=True)]).encode()


@dataclass(frozen=True)
class Walk:
    """The benchmark's folder, and two judges that were uploaded, scored and published."""

    definitions: Path
    spec: BenchmarkSpec
    service: Service
    data_dir: Path
    first: str
    second: str

    def get(self, path: str) -> str:
        """Return what stands at an address; ENTRY and BOTH stand for the judges' ids."""
        answer = self.service.http.get(path.replace("ENTRY", self.first).replace("BOTH", f"{self.first},{self.second}"))
        assert answer.status_code == 200, answer.text[:500]
        return answer.text


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walk]:
    root = tmp_path_factory.mktemp("weather")
    folder = root / "definitions" / "weather"
    folder.mkdir(parents=True)
    (folder / "spec.toml").write_text(DEFINITION)
    (root / "pairs.jsonl").write_text(lines(PAIRS))
    labels = [{"id": pair["id"], "human_ranking": [n, 1 - n]} for pair, n in zip(PAIRS, RIGHT, strict=True)]
    (root / "labels.jsonl").write_text(lines(labels))
    own = {"BENCHMARK_DEFINITIONS": str(folder.parent)}
    made = run_maintenance(
        "manifest", "weather", f"v1={root / 'pairs.jsonl'}", "--output", str(folder / "items.json"), environ=own
    )
    assert made.returncode == 0, made.stderr
    own |= {"LABELS": f"weather/v1={root / 'labels.jsonl'}", "HIDDEN_LABELS": "weather/v1:public"}
    with running(root / "data", gradio=True, **own) as service:
        ids = [upload(service, model, data=predictions(wrong)) for model, wrong in WRONG.items()]
        until(lambda: compared(service, ids), 60, what="both are scored and compared")
        yield Walk(folder.parent, load_spec("weather", folder.parent), service, root / "data", *ids)


def compared(service: Service, ids: list[str]) -> bool:
    answer = service.http.get(f"/api/v1/compare?entries={','.join(ids)}")
    pairs = answer.json().get("pairs", []) if answer.status_code == 200 else []
    return bool(pairs) and pairs[0]["differences"]["all"].get("only_first") is not None


def upload(service: Service, model: str, *, data: bytes) -> str:
    answer = service.http.post("/api/v1/submissions", files={"file": ("judge.jsonl", data)}, data={"model": model})
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


def test_every_command_knows_the_definitions_that_the_environment_names(walk: Walk, tmp_path: Path) -> None:
    file, labels = tmp_path / "judge.jsonl", walk.definitions.parent / "labels.jsonl"
    file.write_bytes(predictions(range(5)))
    named, own = ("--benchmark", "weather"), {"BENCHMARK_DEFINITIONS": str(walk.definitions)}
    scored = run_vlrb("score", str(file), *named, "--labels", str(labels), "--json", environ=own)
    assert scored.returncode == 0, scored.stderr
    card = json.loads(scored.stdout)
    assert (card["benchmark"], card["protocols"]["strict"]["all"]) == ("weather", 35 / 40)
    text = run_vlrb("score", str(file), *named, "--labels", str(labels), environ=own)
    assert (text.returncode, "87.5" in text.stdout) == (0, True), text.stderr
    figures = ("--rain", "80", "--snow", "100", "--all", "87.5")
    unknown = run_main(check_numbers, (*named, *figures), environ=own)
    assert (unknown.returncode, "Traceback" in unknown.stderr) == (2, False)
    checked = run_vlrb("check", str(file), *named, "--json", environ=own)
    assert checked.returncode == 0, checked.stderr
    assert (json.loads(checked.stdout)["benchmark"], json.loads(checked.stdout)["items"]) == ("weather", 40)
    helped = run_main(check_numbers, (*named, "--help"), environ=own)
    assert helped.returncode == 0, helped.stderr
    assert "--snow" in helped.stdout


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/about",
        "/explore",
        "/entries/ENTRY",
        "/compare?entries=BOTH",
        "/analyse?entries=BOTH",
        "/api/v1/leaderboard",
        "/api/v1/entries/ENTRY",
        "/api/v1/compare?entries=BOTH",
        "/api/v1/entries/ENTRY/receipts",
        "/export/board.csv",
        "/export/board.json",
        "/export/board.tex",
        "/export/board.md",
        "/entries/ENTRY/badge.svg",
        "/feed.xml",
        "/llms.txt",
    ],
)
def test_its_pages_name_its_categories_and_no_others(walk: Walk, path: str) -> None:
    text = walk.get(path)
    for foreign in FOREIGN:
        assert foreign not in text


def test_every_chart_of_the_analyse_page_draws_it(walk: Walk) -> None:
    database = open_database(f"sqlite:///{walk.data_dir}/leaderboard.db")
    snapshots = DatabaseSnapshots(database, walk.spec)
    board_version = asyncio.run(BoardCache(snapshots, context=RenderContext(walk.spec)).current())
    assert board_version is not None
    items = ItemCatalog(None, None, relations_body=snapshots.relations, spec=walk.spec)
    for name in charts_of(walk.spec):
        query = read_query({"entries": f"{walk.first},{walk.second}", "chart": name}, board_version)
        page = analyse_page(board_version, query, catalog=items)
        for foreign in FOREIGN:
            assert foreign not in page, name
    database.close()


def test_a_benchmark_without_sources_shows_none_beside_its_categories(walk: Walk) -> None:
    page = walk.get("/explore")
    assert ("All categories" in page, "All sources" in page, "Source" in page) == (True, False, False)
    link = re.search(r'href="(/explore/[0-9a-z]+)"', page)
    assert link is not None
    assert "Source" not in walk.get(link[1])
