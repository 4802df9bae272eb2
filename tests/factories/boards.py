"""The real labels, and 25 judges on them: real prediction files and variations."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import select

from maintenance.action_context import ActionContext
from maintenance.types import ActionResult
from storage.database import Database
from storage.jobs.tasks import TaskView
from storage.models.core import AuditEvent
from tests.databases import a_submission, accept, fill_once, new_database, shown_board
from tests.factories import small_benchmark
from tests.factories.accounts import MAINTAINER
from tests.factories.specs import VL
from tests.real_data import real_file
from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.label_files import load_labels
from vlrb.benchmarks.labels import LabelSet
from vlrb.predictions.parse import parse_predictions
from vlrb.protocols import scores
from vlrb.scorecard import SCORER_VERSION
from vlrb.scoring import tally
from vlrb.votes import Votes
from workers.jobs.rescore import rescore
from workers.jobs.snapshot import publish_if_changed
from workers.labels.store import LabelRegistry, LabelStore
from workers.scorer import Scorer
from workers.startup import prepare
from workers.task_runner import TaskRunner

FILES = {"v0": "items_v0.jsonl", "v1": "items_v1.json", "v2": "labels_v2.jsonl"}
PREDICTIONS = (
    "predictions/vl-reward-model_qwen2vl7b_judge.json",
    "predictions/vl-reward-model_qwen2vl7b_reward.json",
    "tools/lmms_head.jsonl",
    "tools/vlmeval_json.json",
    "tools/officialold_k3.jsonl",
)
VARIATIONS = 4  # of each file, beside the file itself


@cache
def table() -> ItemTable:
    return ItemTable.load(VL)


@cache
def judges() -> tuple[Votes, ...]:
    """Return votes of five real files, and of each with ever more votes turned round."""
    found = []
    for seed, name in enumerate(PREDICTIONS):
        votes = parse_predictions(real_file(f"data/{name}").read_bytes(), table()).votes
        found.append(votes)
        for step in range(1, VARIATIONS + 1):
            random = np.random.default_rng(100 * seed + step)
            turned = (random.random(votes.matrix.shape) < 0.004 * step) & (votes.matrix >= 0)
            found.append(Votes(np.where(turned, 1 - votes.matrix, votes.matrix).astype(np.int8)))
    return tuple(found)


def labels_file(revision: str) -> Path:
    return real_file(f"data/{FILES[revision]}")


@cache
def labels(revision: str) -> LabelSet:
    """Return what a worker reads from the file; a tenth of a second of work for each board."""
    return load_labels(labels_file(revision), revision, table=table())


@dataclass
class RealBoard:
    """An installation with one worker that knows one configured revision."""

    database: Database
    scorer: Scorer
    runner: TaskRunner
    ids: list[str]

    @property
    def ctx(self) -> ActionContext:
        """What a maintainer acts in."""
        from tests.factories.actions import by  # which loads all of the service: only some tests of boards need it

        return by(self.database, MAINTAINER, benchmark=table().benchmark)

    def import_labels(self, revision: str = "v2", *, source: str = "", level: str = "") -> TaskView:
        """Import a file of labels, that of v2 for a revision that has none, and return how that ended."""
        from maintenance.actions import labels, tasks

        file = source or str(labels_file(revision if revision in FILES else "v2"))
        how = {"disclosure": level} if level else {}
        asked = labels.request_import(self.ctx, revision, file, "the authors changed labels", **how)
        self.runner.run_all()
        return tasks.task(self.ctx, asked.task_id or 0)

    def preview(self, revision: str = "v2") -> dict[str, Any]:
        """Return what the board would be."""
        from maintenance.actions import rescoring

        asked = rescoring.request_preview(self.ctx, revision)
        self.runner.run_all()
        return rescoring.preview(self.ctx, asked.task_id or 0)

    def apply(self, revision: str = "v2") -> ActionResult:
        """Show the board under another revision; it is not published."""
        from maintenance.actions import rescoring

        asked = rescoring.request_apply(self.ctx, revision, "sixteen labels", revision)
        self.runner.run_all()
        return asked

    def undo(self, revision: str = "v2") -> ActionResult:
        """Take that back."""
        from maintenance.actions import rescoring

        return rescoring.undo(self.ctx, revision, reason="too early", confirmation=revision)

    def publish(self) -> dict[str, Any]:
        """Return the board as the public sees it now."""
        publish_if_changed(self.database, self.scorer)
        return self.published()

    def published(self) -> dict[str, Any]:
        """Return the board as the public saw it last."""
        return small_benchmark.snapshot(self.database, table().benchmark)


def in_sqlite(tmp_path: Path, revision: str = "v1", *, judges: int | None = None) -> RealBoard:
    """Return `open_board` on a new file."""
    opened = new_database(f"sqlite:///{tmp_path}/board.db")
    return open_board(opened, tmp_path / "state", revision=revision, judges_wanted=judges)


def shown(database: Database) -> str:
    """Return the label revision that the board shows."""
    return shown_board(database, table().benchmark).label_revision


def events(database: Database, kind: str) -> list[dict[str, Any]]:
    """Return the bodies of all events of a kind."""
    with database.read() as session:
        return [json.loads(body) for body in session.scalars(select(AuditEvent.body).where(AuditEvent.kind == kind))]


def said(snapshot: dict[str, Any]) -> dict[str, Any]:
    """Return what a snapshot says, without when it was made."""
    return {name: value for name, value in snapshot.items() if name not in ("created_at", "audit_seq", "nonce")}


def open_board(database: Database, state: Path, *, revision: str, judges_wanted: int | None = None) -> RealBoard:
    """Return all judges scored under a configured revision, which the board shows."""
    registry = LabelRegistry({revision: labels(revision)})
    scorer = Scorer(table(), registry, version=SCORER_VERSION)
    runner = TaskRunner(
        database,
        scorer,
        registry=registry,
        store=LabelStore(state / "labels" / table().benchmark, table()),
        worker="worker",
        lease_seconds=60.0,
    )
    ids = fill_once(database, _fill, revision, judges_wanted)
    return RealBoard(database, scorer, runner=runner, ids=ids)


def _fill(database: Database, revision: str, judges_wanted: int | None) -> list[str]:
    scorer = Scorer(table(), LabelRegistry({revision: labels(revision)}), version=SCORER_VERSION)
    prepare(database, scorer, label_revision=revision)
    ids = submit(database, judges()[:judges_wanted])
    rescore(database, scorer, revision=revision)
    return ids


def submit(database: Database, votes: tuple[Votes, ...], *, start: int = 0) -> list[str]:
    with database.write() as session:
        found = [
            a_submission(
                number,
                benchmark="vl-rewardbench",
                owner="aowner000000",
                votes=one.pack(),
                votes_per_item=one.k,
                created_at=1_700_000_000.0 + number,
                content_sha256=hashlib.sha256(f"real {number}".encode()).hexdigest(),
            )
            for number, one in enumerate(votes, start=start)
        ]
        return accept(session, found)


def scored(revision: str, ids: list[str], votes: tuple[Votes, ...] | None = None) -> dict[str, dict[str, Any]]:
    """Return the scores of each entry under a revision, and its rank; `votes`: others than those of `judges`."""
    found: dict[str, dict[str, Any]] = {
        name: scores(tally(one, labels(revision), table=table()))
        for name, one in zip(ids, votes or judges(), strict=True)
    }
    keys = {name: (row["macro"], row["overall"]) for name, row in found.items()}
    return {name: {**row, "rank": 1 + sum(key > keys[name] for key in keys.values())} for name, row in found.items()}
