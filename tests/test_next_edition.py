"""From a pool of pairs to a new edition on its own board: commands, the real service with sign-in, two browsers."""

from __future__ import annotations

import io
import json
import random
import time
from collections.abc import Iterator
from contextlib import closing, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.factories.fakes.openid_provider import person
from tests.factories.pools import png
from tests.factories.services.axe import expect_accessible_light_and_dark
from tests.factories.services.service import Service, running, until
from tests.factories.services.signed_in import SignedInService, running_signed_in, token_of
from tests.factories.suite.programs import edition_main as curate

pytestmark = [pytest.mark.slow, pytest.mark.browser]
MAINTAINER, ANNOTATORS, ADJUDICATOR = "alice", ("bob", "mallory"), "carol"
JUDGES = ("Small-7B", "Other-8B")
PAIRS, PLANTED = 24, 10
"""Pairs of the pool, and how many of them every judge gets wrong."""


@dataclass(frozen=True)
class EditionWalk:
    """What the steps leave: folders, the running service of the new edition, and how long each step took."""

    root: Path
    service: Service
    seconds: dict[str, float]


def jsonl(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def make_pool(root: Path) -> Path:
    """Return the folder of candidates that two judges get wrong, with draft labels and gold pairs."""
    chance = random.Random(4)
    words = ("red", "blue", "car", "tree", "house", "left", "large", "small", "two", "three", "person", "dog")
    rows = []
    for number in range(PAIRS):
        (root / f"{number}.png").write_bytes(png(number, 32 + number))
        texts = [" ".join(chance.choices(words, k=15)) + f" {number}" for _ in range(2)]
        row = {"id": f"n{number}", "query": f"What is in picture {number}?", "chosen": texts[0], "rejected": texts[1]}
        draft = {"preferred": number % 2, "rationale": f"Because of {number}.", "judge": "Strong-1"}
        rows.append(
            {**row, "image": f"{number}.png", "category": "general" if number % 3 else "detail", "draft": draft}
        )
    (root / "pairs.in.jsonl").write_text(jsonl(rows))
    pool = root / "imports" / "pool"
    run("pool", "import", str(root / "pairs.in.jsonl"), "--source", "Invented", "--licence", "CC0-1.0", "--into", pool)
    run("pool", "duplicates", pool)
    for judge in JUDGES:
        votes = [
            {"id": line["id"], "votes": [1 - line["preferred"] if place < PLANTED else line["preferred"]] * 3}
            for place, line in enumerate(lines(pool / "pairs.jsonl"))
        ]
        (root / f"{judge}.jsonl").write_text(jsonl(votes))
    run("filter", pool, "--runs", *(f"{judge}={root / judge}.jsonl" for judge in JUDGES))
    gold = lines(pool / "filtered" / "candidates.jsonl")[:2]
    known = [{"id": line["id"], "verdict": "ab"[line["preferred"]]} for line in gold]
    (pool / "filtered" / "gold.jsonl").write_text(jsonl(known))
    return pool


def run(*words: Any) -> None:
    said = io.StringIO()
    with redirect_stdout(said):
        code = curate([str(word) for word in words])
    assert code == 0, said.getvalue()


class Maintaining:
    """A maintainer over REST."""

    def __init__(self, world: SignedInService) -> None:
        with closing(world.browser(MAINTAINER)) as browser:
            token = token_of(browser, "maintenance", scope="maintain")
        self.http = httpx.Client(base_url=world.service.url, timeout=60, headers={"Authorization": f"Bearer {token}"})

    def post(self, path: str, **body: Any) -> dict[str, Any]:
        answer = self.http.post(f"/api/v1/maintenance{path}", json=body)
        assert answer.is_success, answer.text
        done: dict[str, Any] = answer.json()
        if done.get("task_id"):
            until(lambda: self.task(done)["state"] in ("done", "failed"), 60, what="the worker has done it")
            assert self.task(done)["state"] == "done", self.task(done)["outcome"]
        return done

    def task(self, done: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = self.http.get(f"/api/v1/maintenance/tasks/{done['task_id']}").json()
        return found


def signed_in(browser: Browser, world: SignedInService, *, user: str) -> Page:
    page = browser.new_context().new_page()
    world.provider.who = user
    page.goto(f"{world.service.url}/auth/sign-in")
    return page


def preferring(page: Page, wanted: dict[str, str]) -> str:
    """Return the key that prefers the response that is wanted for the question shown."""
    return "1" if page.text_content("#text-first") == wanted[page.text_content("#query") or ""] else "2"


def annotate(page: Page, url: str, *, count: int, wanted: dict[str, str], differs: int) -> None:
    """Answer all pairs with keys, in the annotator's own order; the one at `differs` otherwise than wanted."""
    page.goto(f"{url}/annotate/1")
    place = 0
    for done in range(1, count + 1):
        expect(page.locator("#place")).not_to_have_text(str(place) if place else "–")
        place = int(page.text_content("#place") or "")
        expect(page.locator("#draft")).to_be_hidden()
        key = preferring(page, wanted)
        page.keyboard.press({"1": "2", "2": "1"}[key] if place == differs else key)
        expect(page.locator("#draft-why")).to_contain_text("Because of")
        expect(page.locator("#done")).to_contain_text(f"{done} of {count}")
        if done < count:
            page.keyboard.press("ArrowRight")


def verify(world: SignedInService, browser: Browser, *, pool: Path) -> None:
    """Import, verify and export, as people do it."""
    for name in (MAINTAINER, *ANNOTATORS, ADJUDICATOR):
        world.provider.users.setdefault(name, person(f"9{len(world.provider.users)}", name))
        world.browser(name).close()
    maintaining = Maintaining(world)
    maintaining.post("/pools", name="next", folder="pool", reason="for the next edition")
    team = {"answers": 2, "annotators": list(ANNOTATORS), "adjudicators": [ADJUDICATOR]}
    maintaining.post("/pools/1/verification", project="next", reason="verify", **team)
    candidates = lines(pool / "filtered" / "candidates.jsonl")
    wanted = {line["query"]: line["response"][line["preferred"]] for line in candidates}
    for name, differs in zip(ANNOTATORS, (0, 3), strict=True):
        annotate(
            signed_in(browser, world, user=name),
            world.service.url,
            count=len(candidates),
            wanted=wanted,
            differs=differs,
        )
    page = signed_in(browser, world, user=ADJUDICATOR)
    page.goto(f"{world.service.url}/annotate/1")
    expect(page.locator("#place")).to_have_text("3")
    expect(page.locator("#answers li")).to_have_count(2)
    page.keyboard.press(preferring(page, wanted))
    expect(page.locator("#done")).to_have_text("1 of 1 decided")
    maintaining.post("/verification/1/finish", reason="done")
    asked = {"project": 1, "id": "next-bench", "title": "Next bench", "reason": "release", "hidden": 40}
    maintaining.post("/editions", **asked)


def judge(service: Service, labels: list[dict[str, Any]], *, model: str, right: int) -> str:
    """Submit a judge that is right on so many pairs; return its entry."""
    votes = [(0 if row["preferred"] == "a" else 1) ^ (place >= right) for place, row in enumerate(labels)]
    text = jsonl([{"id": row["id"], "votes": [vote]} for row, vote in zip(labels, votes, strict=True)])
    answer = service.http.post("/api/v1/submissions", files={"file": ("p.jsonl", text)}, data={"model": model})
    assert answer.status_code == 202, answer.text
    address: str = answer.json()["status_url"]
    until(lambda: service.http.get(address).json()["state"] == "scored", 60, what="it is scored")
    return str(answer.json()["id"])


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[EditionWalk]:
    root, seconds, start = tmp_path_factory.mktemp("next"), {}, time.monotonic()

    def lap(step: str) -> None:
        seconds[step] = round(time.monotonic() - start - sum(seconds.values()), 1)

    pool = make_pool(root)
    lap("pool and filter")
    given = {"MAINTAINERS": MAINTAINER, "LABEL_IMPORT_DIRS": str(root / "imports")}
    with running_signed_in(root / "data", **given) as world:
        lap("service")
        verify(world, browser, pool=pool)
        lap("verification and export")
    made = next(root.glob("data/**/editions"))
    labels = made / "private" / "next-bench" / "labels.jsonl"
    served = {"BENCHMARK": "next-bench", "BENCHMARK_DEFINITIONS": str(made / "public"), "LABELS": f"v1={labels}"}
    with running(root / "board", **served) as service:
        lap("service of the edition")
        for model, right in (("A new judge", PLANTED - 2), ("small 7B", 1)):
            judge(service, lines(labels), model=model, right=right)
        until(lambda: "small 7B" in service.http.get("/").text, 60, what="the board shows both")
        lap("two judges on its board")
        yield EditionWalk(root, service, seconds=seconds)


def test_an_edition_made_here_has_its_own_board_with_its_filter_judge_marked(walk: EditionWalk) -> None:
    board = walk.service.http.get("/api/v1/leaderboard").json()
    assert (board["benchmark"], board["label_revision"]) == ("next-bench", "v1")
    scores = {row["model"]: row["micro"] for row in board["entries"] if row["tier"] == "scored"}
    assert scores == {"A new judge": pytest.approx(0.8, abs=0.001), "small 7B": pytest.approx(0.1, abs=0.001)}
    page = walk.service.http.get("/").text
    assert "Next bench" in page
    assert page.count("<em>filtered these pairs") == 1
    assert "wrong, so its score" in page


def test_the_labels_are_those_that_people_decided(walk: EditionWalk) -> None:
    made = next(walk.root.glob("data/**/editions"))
    decided = {line["id"]: line["preferred"] for line in lines(made / "private" / "next-bench" / "labels.jsonl")}
    wanted = lines(walk.root / "imports" / "pool" / "filtered" / "candidates.jsonl")
    assert decided == {line["id"]: "ab"[line["preferred"]] for line in wanted}
    card = json.loads((made / "public" / "next-bench" / "card.json").read_text())
    assert (card["pairs"], card["agreement"]["annotators"]) == (PLANTED, 2)
    assert 0 < card["hidden"] < PLANTED
    assert card["agreement"]["alpha"] < 1


def test_axe_finds_nothing_on_the_reports(walk: EditionWalk, browser: Browser) -> None:
    page = browser.new_page()
    card = next(walk.root.glob("data/**/editions")) / "public" / "next-bench" / "card.html"
    for report in (walk.root / "imports" / "pool" / "filtered" / "filter.html", card):
        page.goto(report.as_uri())
        expect_accessible_light_and_dark(page)
    page.close()
