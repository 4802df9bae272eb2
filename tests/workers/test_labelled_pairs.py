"""Benchmarks of labelled pairs in the service: an upload is read, scored by a worker, and stands on the board."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

import leaderboard.routes
from auth import Identity
from leaderboard.board.rows import Board, BoardRow, build_board
from leaderboard.cache import BoardCache
from leaderboard.render_context import contexts_of
from storage.database import Database
from storage.labels import label_sets
from storage.models.core import Snapshot
from submissions.metadata import Metadata
from tests.factories.accounts import MAINTAINER
from tests.factories.oracles.pair_oracle import Accuracy, choose_first, choose_longer, score_protocol
from tests.factories.snapshots import FixedSource
from tests.factories.submission_service import SubmissionSetup, make_setup, person
from tests.pair_files import (
    mm_rlhf_items,
    mm_rlhf_predictions,
    mmrb_items,
    write_json_lines,
)
from tests.real_data import real_file, rows
from vlrb.benchmarks.baselines import FIRST, LONGER
from vlrb.benchmarks.pairs import PairSet, read_pairs
from vlrb.benchmarks.spec import DEFINITIONS, BenchmarkSpec
from vlrb.benchmarks.spec_file import load_spec
from workers.item_files import main, write_items
from workers.runner import Worker, drain
from workers.scorer import Scorer, load_scorer
from workers.startup import prepare

MMRB, MM_RLHF = load_spec("multimodal-rewardbench"), load_spec("mm-rlhf-rewardbench")
ITEMS, QUESTIONS = mmrb_items(240, seed=1), mm_rlhf_items(seed=2)
PairLine = dict[str, Any]


@dataclass
class PairService:
    """What serves one benchmark of labelled pairs: intake, database and worker."""

    setup: SubmissionSetup
    database: Database
    scorer: Scorer

    def submit(self, lines: list[PairLine], model: str, *, user: Identity | None = None) -> str:
        data = "".join(json.dumps(line) + "\n" for line in lines).encode()
        file = self.setup.arrive(data, f"{model}.jsonl")
        return self.setup.intake.submit(file, Metadata(model=model), user or person(model)).id

    def board(self, protocol: str | None = None) -> Board:
        """Return the board after the worker has done everything that waits."""
        worker = Worker(self.database, self.scorer, lease_seconds=60)
        worker.publish_snapshot(anew=True)
        drain(worker, lambda: False, rest=lambda seconds: None)
        return build_board(self.snapshot(), self.scorer.table.spec, protocol=protocol)

    def snapshot(self) -> dict[str, Any]:
        """Return the snapshot that the board shows."""
        with self.database.read() as session:
            pointer = label_sets.current(session, self.scorer.benchmark)
            assert pointer is not None
            body: dict[str, Any] = json.loads(zlib.decompress(session.get_one(Snapshot, pointer.snapshot_id).body))
        return body


def scorer_of(manifest: Path, spec: BenchmarkSpec, *, source: Path) -> Scorer:
    write_items(manifest, spec, sources=[str(source)])
    return load_scorer(manifest, [("v1", str(source))], benchmark=spec)


def serving(database: Database, folder: Path, *, spec: BenchmarkSpec, source: Path) -> PairService:
    scorer = scorer_of(folder / "items" / f"{spec.id}.json", spec, source=source)
    prepare(database, scorer, label_revision="v1")
    return PairService(make_setup(database, folder, table=scorer.table), database, scorer=scorer)


def row_of(board: Board, name: str) -> BoardRow:
    row = board.find(name)
    assert row is not None
    return row


def assert_same(row: BoardRow, wanted: dict[str, Accuracy | None]) -> None:
    """A row has the values and intervals of the slow oracle."""
    for name, accuracy in wanted.items():
        if accuracy is None:
            assert row.scores[name] is None
        else:
            assert row.scores[name] == pytest.approx(accuracy.value, abs=1e-12), name
            assert row.interval[name] == pytest.approx(tuple(accuracy.interval), abs=1e-9), name


@pytest.fixture(scope="module")
def real_questions() -> tuple[list[PairLine], Path]:
    return rows("benchmarks/mm_rlhf_rewardbench.jsonl"), real_file("data/benchmarks/mm_rlhf_rewardbench.jsonl")


def test_intervals_and_baselines_are_those_of_the_oracle(
    database: Database, tmp_path: Path, real_questions: tuple[list[PairLine], Path]
) -> None:
    items, source = real_questions
    service = serving(database, tmp_path, spec=MM_RLHF, source=source)
    service.submit(mm_rlhf_predictions(items, 4), "judge")
    pairs, board = read_pairs(items, MM_RLHF), service.board()
    for baseline, verdicts in ((LONGER, choose_longer(pairs)), (FIRST, choose_first(pairs))):
        found = score_protocol(verdicts, pairs, protocol=MM_RLHF.protocols[0])
        assert found.groups is not None
        wanted = {**found.categories, **found.overalls, "acc-plus": found.groups["overall"]}
        assert_same(row_of(board, baseline), wanted)
    longer = row_of(board, LONGER)
    assert round(100 * (longer.scores["micro"] or 0), 1) == 71.8
    assert longer.interval["micro"][1] - longer.interval["micro"][0] > 0.14  # 170 independent pairs would have .134
    assert row_of(board, FIRST).scores["micro"] == 1.0  # the file has the preferred response first


def test_an_entry_keeps_what_its_check_said_of_the_order_and_of_votes_without_a_judge(
    database: Database, tmp_path: Path
) -> None:
    service = serving(
        database, tmp_path, spec=MM_RLHF, source=write_json_lines(tmp_path / "mm_reward_bench.jsonl", QUESTIONS)
    )
    first = [{"id": item["id"], "votes": [0]} for item in QUESTIONS]
    constant = service.submit(first, "constant", user=MAINTAINER)  # whose files do not wait
    shown_first = service.submit(
        [{"id": item["id"], "rewards": [n % 3, 0.5], "critic": ""} for n, item in enumerate(QUESTIONS)], "shown first"
    )
    plain = service.submit([{"id": item["id"], "votes": [n % 2]} for n, item in enumerate(QUESTIONS)], "plain")
    board = service.board()
    assert [row_of(board, name).note for name in (constant, shown_first, plain)] == ["votes of a baseline", "", ""]
    assert [row_of(board, name).rank for name in (constant, shown_first, plain)] == [None, 1, 2]
    assert set(board.ranges["micro"]) == {shown_first, plain}
    cache = BoardCache(FixedSource(service.snapshot()), context=contexts_of([MM_RLHF])[0], published=())
    board_version = cache.refresh()
    assert [(board_version.entry(name) or {}).get("remarks") for name in (constant, shown_first, plain)] == [
        ["baseline-votes"], ["order-tells-label"], None,
    ]  # fmt: skip
    app = FastAPI()
    app.include_router(leaderboard.routes.build(cache))
    pages = [TestClient(app).get(f"/entries/{name}").text for name in (constant, shown_first, plain)]
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


def test_labels_of_one_revision_may_cover_a_part_of_the_items(database: Database, tmp_path: Path) -> None:
    whole = write_json_lines(tmp_path / "whole.jsonl", QUESTIONS)
    scorer = scorer_of(tmp_path / "items.json", MM_RLHF, source=whole)
    pairs: PairSet = read_pairs(QUESTIONS, MM_RLHF)
    assert scorer.labels["v1"].items == len(pairs.pairs)
    assert set(scorer.labels["v1"].preferred.tolist()) == {0, 1}  # the order of the file is not the stored one
