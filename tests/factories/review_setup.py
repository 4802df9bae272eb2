"""A small installation for tests of reviews: 21 pairs with texts, alternating labels, some judges, one worker."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import select

from auth import Identity
from leaderboard.explore.item_catalog import ItemCatalog
from maintenance.action_context import ActionContext
from maintenance.types import ActionResult
from review.actions import answers
from review.actions.answers import SEEN, GivenAnswer
from storage.annotation import annotation_projects
from storage.database import Database
from storage.integrity import audit
from storage.models.core import AuditEvent
from tests.databases import BOTH, a_submission, accept
from tests.factories import labels, small_benchmark
from tests.factories.actions import by
from tests.factories.specs import DEMO
from vlrb.benchmarks.item_texts import item_rows, item_text
from vlrb.benchmarks.items import ItemTable, presentation_order
from vlrb.benchmarks.labels import LabelSet
from vlrb.benchmarks.pairs import label_set
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.label_quality.annotation import annotation_order
from vlrb.scorecard import SCORER_VERSION
from vlrb.votes import Votes
from workers.jobs.rescore import rescore
from workers.labels.store import LabelRegistry, LabelStore
from workers.scorer import Scorer
from workers.startup import prepare
from workers.task_runner import TaskRunner

HOSTILE = '<img src=x onerror=alert(1)>"'


@dataclass
class ReviewSetup:
    """An installation."""

    database: Database
    table: ItemTable
    labels: LabelSet
    runner: TaskRunner
    state: Path

    def by(self, user: Identity, **services: Any) -> ActionContext:
        """Return the context of an action that a user asks for."""
        return by(self.database, user, **({} if "items" in services else {"table": self.table}), **services)

    def prefer(self, user: Identity, *, place: int, letter: str, project: int = 1, **more: Any) -> ActionResult:
        """Answer so that A or B is meant, whatever comes first for this annotator."""
        seen = seen_order(self.database, user.account, place=place, project=project)
        said = GivenAnswer(SEEN[seen.index("ab".index(letter))], **more)
        return answers.answer(self.by(user), project, place=place, given_answer=said)

    def event_bodies(self) -> list[dict[str, Any]]:
        with self.database.read() as session:
            assert audit.verify(session) is None
            return [json.loads(body) for body in session.scalars(select(AuditEvent.body).order_by(AuditEvent.seq))]

    def kinds(self) -> list[str]:
        return [body["ev"] for body in self.event_bodies()]

    def key(self, index: int) -> str:
        return self.table.items[index].key

    def file_of(self, *indices: int) -> str:
        """Return the path of a file that names pairs."""
        path = self.state.parent / f"pairs-{'-'.join(map(str, indices))}.jsonl"
        path.write_text("".join(json.dumps({"item": self.key(index)}) + "\n" for index in indices))
        return str(path)

    def says(self, index: int, *, right: bool) -> str:
        """Return a or B: what the label of an item says, or the other one."""
        order = presentation_order(self.table.items[index].responses)
        letter = order.index(int(self.labels.preferred[index]))
        return "ab"[letter if right else 1 - letter]

    def stored(self, revision: str) -> LabelSet:
        """Return a draft as it lies with the worker."""
        return self.runner.store.load(revision).labels


def seen_order(database: Database, account: str, *, place: int, project: int = 1) -> tuple[int, int]:
    """Return which of A (0) and B (1) an annotator of a project sees first and second."""
    with database.write() as session:
        key = annotation_projects.items(session, project)[place - 1].item
        if account not in annotation_projects.annotators(session, project, left_out=True):
            annotation_projects.add_annotators(session, project, accounts=[account])
        return annotation_order(annotation_projects.annotators(session, project).get(account, 0), key)


on_both = pytest.mark.parametrize("bench", BOTH, indirect=True)


def set_up(database: Database, state: Path, *, tags: bool = True, spec: BenchmarkSpec = DEMO) -> ReviewSetup:
    """Make the board show the labels; `database` has all tables. `tags`, `spec`: as in `open_bench`."""
    bench = open_bench(database, state, tags=tags, spec=spec)
    prepare(database, bench.runner.scorer, label_revision="demo")
    return bench


def open_bench(database: Database, state: Path, *, tags: bool = True, spec: BenchmarkSpec = DEMO) -> ReviewSetup:
    """`tags`: every third item has the fourth tag of `spec`, or its last; else these are the labels of
    `invented.scorer()`."""
    table = small_benchmark.table(spec)
    tag = [*spec.tag_names][:4][-1:]
    rows = small_benchmark.label_rows(table)
    for index, row in enumerate(rows if tags else ()):
        row["human_error_analysis"] = tag if index % 3 == 0 else []
    labels = label_set(rows, "demo", table=table)
    catalog = LabelRegistry({"demo": labels})
    scorer = Scorer(table, catalog, version=SCORER_VERSION)
    runner = TaskRunner(
        database,
        scorer,
        registry=catalog,
        store=LabelStore(state / "labels" / table.benchmark, table),
        worker="worker",
        lease_seconds=60.0,
    )
    return ReviewSetup(database, table, labels=labels, runner=runner, state=state)


def add_judges(bench: ReviewSetup, verdicts: np.ndarray, *, owners: list[str]) -> list[str]:
    """Scored entries with one vote an item; `verdicts`: (judges, items)."""
    with bench.database.write() as session:
        rows = [
            a_submission(number, owner=owner, votes=Votes(one[:, np.newaxis].astype(np.int8)).pack(), votes_per_item=1)
            for number, (one, owner) in enumerate(zip(verdicts, owners, strict=True))
        ]
        ids = accept(session, rows)
    rescore(bench.database, bench.runner.scorer, revision="demo")
    return ids


def materials(table: ItemTable, directory: Path) -> ItemCatalog:
    """Texts of all pairs, and one image."""
    manifest, items = directory / "manifest.json", directory / "items.jsonl"
    manifest.write_text(json.dumps(table.to_json()))
    rows = labels.pairs(3)
    rows[1]["image"] = "pictures/one.png"
    (directory / "pictures").mkdir()
    (directory / "pictures" / "one.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    items.write_text(item_text(item_rows(rows, table)), encoding="utf-8")
    return ItemCatalog(manifest, items)
