"""One worker process serves several benchmarks: one queue, a scorer and a board for each."""

from __future__ import annotations

from sqlalchemy import select

from storage.database import Database
from storage.jobs import worker_heartbeats
from storage.labels import label_sets
from storage.models.core import Score
from tests.factories import labels, small_benchmark
from tests.factories.specs import spec_of
from vlrb.benchmarks.items import build_table
from vlrb.benchmarks.label_files import label_set
from vlrb.scorecard import SCORER_VERSION
from workers.runner import Worker, drain
from workers.scorer import Scorer
from workers.startup import prepare

OTHER = "other"


def _other_scorer() -> Scorer:
    items = build_table(spec_of(OTHER), {"demo": labels.pairs(2)})
    return Scorer(
        items, {"v1": label_set(small_benchmark.label_rows(items), "v1", table=items)}, version=SCORER_VERSION
    )


def test_one_worker_scores_and_publishes_every_benchmark(database: Database, scorer: Scorer) -> None:
    other = _other_scorer()
    prepare(database, scorer, label_revision="demo")
    prepare(database, other, label_revision="v1")
    own_ids = small_benchmark.submit(database, range(2), queued=True)
    other_ids = small_benchmark.submit(database, range(2), items=14, benchmark=OTHER)
    worker = Worker(database, scorer, lease_seconds=60, others=(other,))
    worker.heartbeat()
    drain(worker, lambda: False, rest=lambda seconds: None)
    with database.read() as session:
        scored = set(session.execute(select(Score.benchmark, Score.submission_id)))
        boards = [label_sets.current(session, name) for name in ("demo", OTHER)]
        missing = [
            worker_heartbeats.no_worker_has(session, benchmark, revision=revision)
            for benchmark, revision in (("demo", "demo"), (OTHER, "v1"))
        ]
    assert scored >= {*(("demo", name) for name in own_ids), *((OTHER, name) for name in other_ids)}
    assert all(board is not None and board.snapshot_id for board in boards)
    assert missing == [False, False]
