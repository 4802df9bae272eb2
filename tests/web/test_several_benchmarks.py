"""Two invented benchmarks in one service: addresses, submissions, scores, pages and judges of each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.factories.services.service import Service, running, until
from tests.factories.suite.programs import run_maintenance
from vlrb.client.jws import event_of

pytestmark = pytest.mark.slow

CATEGORIES = {"weather": ("rain", "snow"), "traffic": ("lights", "signs")}
DEFINITION = """
id = "{id}"
title = "{title}"
dataset = "https://example.org/{id}"
citation = "@misc{{{id}2026, title = {{{title}}}, year = {{2026}}}}"
verdict_format = "double-brackets"
headline = "all"
public_labels = {public}

[[categories]]
key = "{first}"
title = "{first}"
colour = "#1b7f6b"

[[categories]]
key = "{second}"
title = "{second}"
colour = "#1f5fbf"

[[source_rules]]
id_prefix = "{first}-"
source = "{first}"

[[source_rules]]
id_prefix = "{second}-"
source = "{second}"

[[protocols]]
key = "strict"
rule = "More than half of the votes"
unreadable = "wrong"
votes = "majority"

[[overalls]]
key = "all"
title = "All pairs alike"
kind = "micro"
"""


def _lines(rows: list[dict[str, object]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def _pairs(benchmark: str) -> list[dict[str, object]]:
    first, second = CATEGORIES[benchmark]
    names = [f"{first if n < 25 else second}-{n}" for n in range(40)]
    return [{"id": name, "query": f"{benchmark} {name}", "response": [f"yes {name}", f"no {name}"]} for name in names]


def _predictions(benchmark: str, wrong: int) -> bytes:
    votes = [int(n % 2 != (n < wrong)) for n in range(40)]
    rows: list[dict[str, object]] = [
        {"id": pair["id"], "votes": [vote]} for pair, vote in zip(_pairs(benchmark), votes, strict=True)
    ]
    return _lines(rows).encode()


def _add_benchmark(root: Path, name: str) -> str:
    """Write a definition, its items and labels; return the item of LABELS."""
    folder = root / "definitions" / name
    folder.mkdir(parents=True)
    first, second = CATEGORIES[name]
    facts = {"title": f"Pictures of {name}", "public": str(name == "traffic").lower()}
    (folder / "spec.toml").write_text(DEFINITION.format(id=name, first=first, second=second, **facts))
    (root / f"{name}.jsonl").write_text(_lines(_pairs(name)))
    labels: list[dict[str, object]] = [
        {"id": pair["id"], "human_ranking": [n % 2, 1 - n % 2]} for n, pair in enumerate(_pairs(name))
    ]
    (root / f"{name}_labels.jsonl").write_text(_lines(labels))
    source, items = f"v1={root / name}.jsonl", str(folder / "items.json")
    own = {"BENCHMARK_DEFINITIONS": str(folder.parent)}
    made = run_maintenance("manifest", name, source, "--output", items, environ=own)
    assert made.returncode == 0, made.stderr
    return f"{name}/v1={root / name}_labels.jsonl"


@dataclass(frozen=True)
class World:
    """A service of two benchmarks with one scored entry in each; `weather` is the first."""

    service: Service
    ids: dict[str, str]

    def get(self, path: str, status: int = 200) -> str:
        answer = self.service.http.get(path, follow_redirects=False)
        assert answer.status_code == status, answer.text[:500]
        return answer.text

    def place(self, path: str) -> str:
        """Return where an address leads."""
        answer = self.service.http.get(path, follow_redirects=False)
        assert answer.status_code in (307, 308), answer.text[:300]
        return answer.headers["location"]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    root = tmp_path_factory.mktemp("benchmarks")
    labels = ",".join(_add_benchmark(root, name) for name in CATEGORIES)
    told = {"BENCHMARK_DEFINITIONS": str(root / "definitions")}
    told["HIDDEN_LABELS"] = ",".join(f"{name}/v1:public" for name in CATEGORIES)
    with running(root / "data", gradio=True, LABELS=labels, **told) as service:
        ids = {name: _upload(service, name, wrong=wrong) for name, wrong in (("weather", 4), ("traffic", 10))}
        until(lambda: _scored(service, ids), 60, what="both benchmarks are scored and published")
        yield World(service, ids)


def _upload(service: Service, benchmark: str, *, wrong: int) -> str:
    address = f"/api/v1/submissions?benchmark={benchmark}"
    files = {"file": ("judge.jsonl", _predictions(benchmark, wrong))}
    answer = service.http.post(address, files=files, data={"model": "Judge One"})
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


def _scored(service: Service, ids: dict[str, str]) -> bool:
    return all(service.http.get(f"/api/v1/entries/{name}").status_code == 200 for name in ids.values())


def test_each_board_shows_its_own_entry_and_categories(world: World) -> None:
    first, other = world.get("/"), world.get("/b/traffic/")
    assert ("90.0" in first, "75.0" in other) == (True, True)
    for page, own, foreign in ((first, "rain", "lights"), (other, "lights", "rain")):
        assert f'id="sort-{own}"' in page
        assert f'id="sort-{foreign}"' not in page
    assert world.ids["traffic"] not in first
    assert f"/b/traffic/entries/{world.ids['traffic']}" in other


@pytest.mark.parametrize(
    "path",
    ["/", "/about", "/explore", "/compare?entries=ENTRY", "/entries/ENTRY", "/decisions", "/feed.xml",
     "/analyse", "/analyse.csv", "/export/board.csv", "/export/board.md", "/export/board.tex", "/policy",
     "/entries/ENTRY/badge.svg", "/api/v1/leaderboard", "/api/v1/entries/ENTRY"],
)  # fmt: skip
def test_the_pages_of_each_benchmark_are_below_its_prefix_and_name_no_category_of_another(
    world: World, path: str
) -> None:
    for prefix, name in (("", "weather"), ("/b/traffic", "traffic")):
        page = world.get(prefix + path.replace("ENTRY", world.ids[name]))
        assert not [word for word in ("allucination", "VLFeedback", "RLAIF", "macro") if word in page]


def test_an_entry_is_found_and_led_to_by_its_id_alone(world: World) -> None:
    entry = world.ids["traffic"]
    assert world.place(f"/entries/{entry}") == f"/b/traffic/entries/{entry}"
    assert world.place(f"/b/traffic/entries/{world.ids['weather']}") == f"/entries/{world.ids['weather']}"
    for name, entry in world.ids.items():
        assert json.loads(world.get(f"/api/v1/entries/{entry}"))["benchmark"] == name
        assert event_of(world.get(f"/api/v1/submissions/{entry}/receipt"))["benchmark"] == name


def test_decisions_stand_at_their_benchmark_and_their_address_leads_to_them_from_all(world: World) -> None:
    entry = world.ids["traffic"]
    path = f"/api/v1/entries/{entry}/flag"
    answer = world.service.http.post(path, json={"note": "A word about this entry"})
    assert answer.status_code == 200, answer.text
    seq = answer.json()["seq"]
    pages = {prefix: world.get(f"{prefix}/decisions") for prefix in ("", "/b/traffic")}
    assert ["A word about" in page for page in pages.values()] == [False, True]
    for prefix in pages:
        assert "A word about" in world.get(f"{prefix}/decisions/{seq}")
    for query, shown in (("", True), ("?benchmark=traffic", True), ("?benchmark=weather", False)):
        assert ("A word about" in world.get(f"/api/v1/decisions{query}")) is shown


def test_every_page_offers_the_benchmarks_and_public_labels_are_marked(world: World) -> None:
    for path in ("/", "/b/traffic/about", "/judges", "/status"):
        page = world.get(path)
        assert "Pictures of weather" in page
        assert "Pictures of traffic" in page
    assert "public labels" in world.get("/b/traffic/")
    assert "public labels" not in world.get("/")
    assert 'id="labels"' in world.get("/b/traffic/about")
    assert "Guessing hidden labels" not in world.get("/b/traffic/red-team")


def test_a_judge_has_one_page_with_its_results_on_each_benchmark(world: World) -> None:
    page = world.get("/judges/judge-one")
    assert ("90.0" in page, "75.0" in page, "micro" in page) == (True, True, True)
    assert "Judge One" in world.get("/judges?sort=traffic")
    (judge,) = json.loads(world.get("/api/v1/judges"))["judges"]
    assert {name: cell["scored"]["figures"][0]["value"] for name, cell in judge["benchmarks"].items()} == {
        "weather": 0.9,
        "traffic": 0.75,
    }
    world.get("/judges/nobody", status=404)


def test_the_submit_page_is_served_with_the_name_of_its_benchmark(world: World) -> None:
    for query, name in (("", "weather"), ("?benchmark=traffic", "traffic")):
        page = world.get(f"/app/submit{query}")
        assert f"<title>Submit predictions · Pictures of {name} leaderboard</title>" in page
        assert page.count("wrote for Pictures of ") == page.count(f"wrote for Pictures of {name}") == 1
        assert "This page needs JavaScript." in page.partition("<noscript>")[2].partition("</noscript>")[0]
    assert "/b/traffic/policy" in world.get("/app/submit?benchmark=traffic")
