"""A small benchmark on disk as the demo is, and submissions with votes, for worker tests."""

from __future__ import annotations

import hashlib
import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import insert, select, update

from storage.boards import snapshots
from storage.database import Database
from storage.jobs import job_queue
from storage.labels import label_sets
from storage.models.core import BoardState, Snapshot
from tests.databases import a_submission, accept, shown_board
from tests.factories import labels
from tests.factories.specs import DEMO
from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.pairs import build_table, label_set
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.scorecard import SCORER_VERSION
from vlrb.votes import Votes
from workers.jobs.pairwise_statistics import compute_if_changed
from workers.jobs.rescore import rescore
from workers.jobs.snapshot import publish_if_changed
from workers.scorer import Scorer
from workers.startup import prepare


def label_rows(table: ItemTable, flip: bool = False) -> list[dict[str, Any]]:
    """Alternating labels, the other way round if `flip`."""
    return [
        {"id": item.ids["demo"], "human_ranking": [int(flip) ^ (i % 2), 1 - (int(flip) ^ (i % 2))]}
        for i, item in enumerate(table.items)
    ]


def table(spec: BenchmarkSpec = DEMO) -> ItemTable:
    """21 items, one revision, called demo."""
    return build_table(spec, {"demo": labels.pairs(3)})


def scorer() -> Scorer:
    """Return two label revisions, demo and flipped."""
    items = table()
    labels = {
        "demo": label_set(label_rows(items), "demo", table=items),
        "flipped": label_set(label_rows(items, flip=True), "flipped", table=items),
    }
    return Scorer(items, labels, version=SCORER_VERSION)


def prepare_board(database: Database) -> None:
    """What a worker does at its first start; the board shows the first revision."""
    prepare(database, scorer(), label_revision="demo")


def switch_board(database: Database, scorer: Scorer, *, revision: str, reason: str) -> int:
    """Score everything under a revision and show it, as `rescore apply` does; return the number of new scores."""
    recorded = rescore(database, scorer, revision=revision)
    with database.write() as session:
        label_sets.activate_revision(
            session, scorer.benchmark, label_revision=revision, scorer_version=scorer.version, reason=reason
        )
    return recorded


def write_demo(data_dir: Path) -> None:
    """What `python app.py` would make on its first start."""
    directory = data_dir / "demo"
    directory.mkdir(parents=True, exist_ok=True)
    items = table()
    (directory / "items.json").write_text(json.dumps(items.to_json()))
    (directory / "labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in label_rows(items)))


def votes(number: int, items: int = 21, *, k: int = 3) -> Votes:
    """Random votes; the number is the seed."""
    return Votes(labels.random_matrix(items, k, seed=number))


def orders(items: int = 21, *, k: int = 3) -> Votes:
    """Orders of submissions with an odd number: each response is shown first in every second vote."""
    return Votes((np.arange(items * k).reshape(items, k) % 2).astype(np.int8))


def submit(
    database: Database, numbers: range, *, k: int = 3, items: int = 21, queued: bool = False, **changes: Any
) -> list[str]:
    """Return submissions with votes that are on record, and with the job that the board needs if `queued`."""
    with database.write() as session:
        rows = [
            a_submission(
                number,
                votes=votes(number, items, k=k).pack(),
                orders=orders(items, k=k).pack() if number % 2 else None,
                votes_per_item=k,
                **changes,
            )
            for number in numbers
        ]
        ids = accept(session, rows)
        for row in rows if queued else ():
            assert job_queue.enqueue_current(session, row.id)
        return ids


def right(number: int, flip: bool = False, *, items: int = 21, k: int = 3) -> int:
    """Slow and obvious: items of which more than half of the votes agree with the label."""
    labels = np.array([int(flip) ^ (i % 2) for i in range(items)])
    return sum(
        int(2 * (row == label).sum() > k) for row, label in zip(votes(number, items, k=k).matrix, labels, strict=True)
    )


def snapshot(database: Database, benchmark: str = "demo") -> dict[str, Any]:
    """Return the snapshot that a board shows, whose id is its digest."""
    name = shown_board(database, benchmark).snapshot_id
    assert name is not None
    with database.read() as session:
        content = snapshots.content(session, name)
    assert name == hashlib.sha256(content).hexdigest()
    body: dict[str, Any] = json.loads(content)
    return body


def published(database: Database, scorer: Scorer) -> dict[str, Any]:
    """Publish what is new, and return what the board shows then."""
    publish_if_changed(database, scorer)
    return snapshot(database)


def settled(database: Database, scorer: Scorer) -> dict[str, Any]:
    """Publish, compute the relations of judges, and return the board with these."""
    publish_if_changed(database, scorer)
    compute_if_changed(database, scorer)
    return published(database, scorer)


def by_another_release(database: Database) -> str:
    """Put a snapshot of another shape in the place of the current one; nothing has happened since it was made."""
    content = b'{"benchmark":"demo","entries":[],"of":"another release"}'
    name = hashlib.sha256(content).hexdigest()
    with database.write() as session:
        through = session.scalars(select(BoardState.shown_seq)).one()
        row = {"id": name, "through_seq": through, "created_at": 1.0, "body": zlib.compress(content)}
        session.execute(insert(Snapshot).values(**row, benchmark="demo", content_sha256=name))
        session.execute(update(BoardState).values(snapshot_id=name))
    return name
