"""Costs of one more submission as the board grows: bytes of the database, processor time of a worker.

`python -m bench.growth [100 1000 10000]`: in this process, on SQLite, with accounts of 20 entries each. A submission is
stored, scored, published, compared with others, and published again, as the worker does it. The median is of a
submission that changes nothing among the judges compared, where most do not; the mean has those too that do. Bytes are
those that the database's tables hold more afterwards, divided by the number of submissions.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sqlalchemy import insert, text

from bench.service import submission_row
from storage.database import Database, open_migrated
from storage.jobs import job_queue
from storage.models.core import Submission
from storage.models.quota import Attempt
from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.labels import LabelSet
from vlrb.demo import demo_items, demo_labels, demo_pairs
from vlrb.scorecard import SCORER_VERSION
from workers.jobs.rescore import rescore
from workers.runner import Worker
from workers.scorer import Scorer
from workers.startup import prepare

SIZES = (100, 1_000, 10_000)
SUBMISSIONS = 24
PER_ACCOUNT = 20
_CHUNK = 500


@dataclass(frozen=True, slots=True)
class BoardToGrow:
    """A database with a scorer."""

    database: Database
    scorer: Scorer
    table: ItemTable
    labels: LabelSet
    random: np.random.Generator

    def add(self, numbers: range) -> list[str]:
        """Store submissions that nobody has scored; return their ids."""
        accounts = max(1, numbers.stop // PER_ACCOUNT)
        rows = [submission_row(self.random, number, table=self.table, labels=self.labels) for number in numbers]
        rows = [row | {"owner": f"owner-{number % accounts}"} for row, number in zip(rows, numbers, strict=True)]
        attempts = [
            {
                "submission_id": row["id"],
                "label_revision": self.labels.revision,
                "policy": {},
                "number": 1 + n // accounts,
            }
            for row, n in zip(rows, numbers, strict=True)
        ]
        with self.database.write() as session:
            session.execute(insert(Submission), rows)
            session.execute(insert(Attempt), attempts)
        return [str(row["id"]) for row in rows]


def measure(folder: Path, entries: int) -> str:
    """Fill a board, then submit to it. Return a line of the table."""
    place = _board_to_grow(folder)
    for start in range(0, entries, _CHUNK):
        place.add(range(start, min(start + _CHUNK, entries)))
    rescore(place.database, place.scorer, revision=place.labels.revision)
    worker = Worker(place.database, place.scorer, lease_seconds=600)
    for action in (worker.publish_snapshot, worker.compute_pairwise, worker.publish_snapshot):
        action()
    _timed(place, worker, number=entries)  # the first one after a long time makes what others need too
    before = _bytes(place.database)
    timed = [_timed(place, worker, number=number) for number in range(entries + 1, entries + 1 + SUBMISSIONS)]
    held = (_bytes(place.database) - before) / SUBMISSIONS
    place.database.close()
    seconds = [processor for processor, _visible in timed]
    median, mean, visible = statistics.median(seconds), statistics.mean(seconds), max(each for _, each in timed)
    return f"| {entries:,} | {held:,.0f} | {median:.3f} | {mean:.2f} | {visible:.2f} s |"


def _board_to_grow(folder: Path) -> BoardToGrow:
    pairs = demo_pairs()
    table = demo_items(pairs)
    labels = demo_labels(pairs, table)
    database = open_migrated(f"sqlite:///{folder}/growth.db")
    scorer = Scorer(table, {labels.revision: labels}, version=SCORER_VERSION)
    prepare(database, scorer, label_revision=labels.revision)
    return BoardToGrow(database, scorer, table=table, labels=labels, random=np.random.default_rng(7))


def _timed(place: BoardToGrow, worker: Worker, *, number: int) -> tuple[float, float]:
    """Return the seconds of the processor for a submission, and by the clock until it is in a snapshot."""
    (name,) = place.add(range(number, number + 1))
    with place.database.write() as session:
        job_queue.enqueue_current(session, name)
    processor, started = time.process_time(), time.monotonic()
    worker.work()
    worker.publish_snapshot()
    visible = time.monotonic() - started
    worker.compute_pairwise()
    worker.publish_snapshot()
    return time.process_time() - processor, visible


def _bytes(database: Database) -> int:
    """Return the bytes that all tables and indexes hold."""
    with database.read() as session:
        return int(session.execute(text("SELECT sum(payload + 24 * ncell) FROM dbstat")).scalar_one())


def lines(sizes: Sequence[int]) -> Iterator[str]:
    """Yield a Markdown table, one line a size."""
    yield "| entries | bytes a submission | worker, seconds a submission: median | mean | visible after, at most |"
    yield "|---|---|---|---|---|"
    for entries in sizes:
        with tempfile.TemporaryDirectory() as folder:
            yield measure(Path(folder), entries)


if __name__ == "__main__":
    for line in lines([int(word) for word in sys.argv[1:]] or SIZES):
        print(line, flush=True)
