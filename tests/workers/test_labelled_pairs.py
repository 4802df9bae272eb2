"""Benchmarks of labelled pairs in the service: an upload is read, scored by a worker, and stands on the board."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from auth import Identity
from leaderboard.site.cache import BoardCache
from leaderboard.site.queries import DatabaseSnapshots
from leaderboard.site.render_context import RenderContext
from storage.database import Database
from submissions.metadata import parse_metadata
from tests.factories.accounts import MAINTAINER
from tests.factories.board_app import board_app
from tests.factories.submission_service import make_setup, person
from tests.pair_files import (
    mm_rlhf_items,
    mmrb_items,
    write_json_lines,
)
from vlrb.benchmarks.spec import DEFINITIONS
from vlrb.benchmarks.spec_file import load_spec
from workers.item_files import main, write_items
from workers.runner import Worker, drain
from workers.scorer import load_scorer
from workers.startup import prepare

MMRB, MM_RLHF = load_spec("multimodal-rewardbench"), load_spec("mm-rlhf-rewardbench")
ITEMS, QUESTIONS = mmrb_items(240, seed=1), mm_rlhf_items(seed=2)


def test_an_entry_keeps_what_its_check_said_of_the_order_and_of_votes_without_a_judge(
    database: Database, tmp_path: Path
) -> None:
    source, manifest = write_json_lines(tmp_path / "mm_reward_bench.jsonl", QUESTIONS), tmp_path / "items.json"
    write_items(manifest, MM_RLHF, sources=[str(source)])
    scorer = load_scorer(manifest, [("v1", str(source))], benchmark=MM_RLHF)
    prepare(database, scorer, label_revision="v1")
    setup = make_setup(database, tmp_path, table=scorer.table)

    def submit(lines: list[dict[str, Any]], model: str, user: Identity | None = None) -> str:
        data = "".join(json.dumps(line) + "\n" for line in lines).encode()
        file = setup.arrive(data, f"{model}.jsonl")
        return setup.intake.submit(file, parse_metadata({"model": model}), user or person(model)).id

    first = [{"id": item["id"], "votes": [0]} for item in QUESTIONS]
    constant = submit(first, "constant", MAINTAINER)  # whose files do not wait
    rewards = [{"id": item["id"], "rewards": [n % 3, 0.5], "critic": ""} for n, item in enumerate(QUESTIONS)]
    shown_first = submit(rewards, "shown first")
    plain = submit([{"id": item["id"], "votes": [n % 2]} for n, item in enumerate(QUESTIONS)], "plain")
    names = (constant, shown_first, plain)
    worker = Worker(database, [scorer], lease_seconds=60)
    worker.publish_snapshot(anew=True)
    drain(worker, lambda: False, rest=lambda seconds: None)
    cache = BoardCache(DatabaseSnapshots(database, MM_RLHF), context=RenderContext(MM_RLHF), published=())
    version = cache.refresh()
    rows = [version.board().find(name) for name in names]
    assert [(row and row.note, row and row.rank) for row in rows] == [("votes of a baseline", None), ("", 1), ("", 2)]
    assert [(version.entry(name) or {}).get("remarks") for name in names] == [
        ["baseline-votes"], ["order-tells-label"], None,
    ]  # fmt: skip
    client = TestClient(board_app(cache))
    pages = [client.get(f"/entries/{name}").text for name in names]
    unknown = "does not say which answer was shown first"
    assert [unknown in page for page in pages] == [True, False, True]
    assert "prompts show the preferred" in pages[1]
    assert "file match a baseline" in pages[0]


def test_the_items_that_the_sources_hold_are_written_once(tmp_path: Path) -> None:
    made = tmp_path / "items" / "mmrb.json"
    part, more = (write_json_lines(tmp_path / f"{n}.jsonl", ITEMS[:n]) for n in (40, 60))
    assert main([str(made), MMRB.id, str(DEFINITIONS), str(part)]) == 0
    assert main([str(made), MMRB.id, str(DEFINITIONS), str(more)]) == 0
    assert len(json.loads(made.read_text())["items"]) == 40  # items of a database never change
