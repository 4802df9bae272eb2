"""Costs of one more submission as the board grows: bytes of the database, processor time of a worker, pages.

`python -m bench.growth [100 1000 10000]`: in this process, on SQLite, with accounts of 20 entries each. A submission is
stored, scored, published, compared with others, and published again, as the worker does it. The median is of a
submission that changes nothing among the judges compared, where most do not; the mean has those too that do. Bytes are
those that the database's tables hold more afterwards, divided by the number of submissions. Exponents are between two
sizes: 1 is as much more as there are more entries.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log
from pathlib import Path

import numpy as np
import orjson
from sqlalchemy import insert, text

from bench.service import submission_row
from leaderboard.api import shown_json
from leaderboard.board.pages_of_rows import PageOfRows
from leaderboard.cache import BoardCache, BoardVersion
from leaderboard.queries import DatabaseSnapshots
from leaderboard.render_context import RenderContext
from leaderboard.routes import front_page
from storage.database import Database, open_migrated
from storage.jobs import job_queue
from storage.models.core import Submission
from storage.models.quota import Attempt
from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.labels import LabelSet
from vlrb.demo import demo_items, demo_labels, demo_pairs, demo_spec
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
class Growth:
    """Figures at one size of the board. Seconds are of the processor."""

    entries: int
    bytes_per_submission: float
    seconds: dict[str, float]  # of each step, the median
    total: float  # of all steps of a submission, the median
    mean: float
    visible: float  # until the entry is in a snapshot, by the clock: the longest of all
    tables: dict[str, float]  # bytes a submission of the largest


@dataclass(frozen=True, slots=True)
class SubmissionTiming:
    """Seconds of the processor for each step of a submission, and seconds by the clock until it is in a snapshot."""

    seconds: dict[str, float]
    visible: float


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


def measure(folder: Path, entries: int) -> Growth:
    """Fill a board, then submit to it."""
    place = _board_to_grow(folder)
    for start in range(0, entries, _CHUNK):
        place.add(range(start, min(start + _CHUNK, entries)))
    rescore(place.database, place.scorer, revision=place.labels.revision)
    worker = Worker(place.database, place.scorer, lease_seconds=600)
    _settle(worker)
    _timed(place, worker, number=entries)  # the first one after a long time makes what others need too
    before = _bytes(place.database)
    timed = [_timed(place, worker, number=number) for number in range(entries + 1, entries + 1 + SUBMISSIONS)]
    times = [measurement.seconds for measurement in timed]
    totals = [sum(seconds_of.values()) for seconds_of in times]
    after = _bytes(place.database)
    each = {name: (after[name] - before.get(name, 0)) / SUBMISSIONS for name in after}
    largest = dict(sorted(each.items(), key=lambda item: -item[1])[:6])
    seconds = {step: statistics.median(seconds_of[step] for seconds_of in times) for step in times[0]}
    seconds |= _web_seconds(place.database)
    place.database.close()
    middle, mean = statistics.median(totals), statistics.mean(totals)
    return Growth(
        entries,
        sum(each.values()),
        seconds=seconds,
        total=middle,
        mean=mean,
        visible=max(measurement.visible for measurement in timed),
        tables=largest,
    )


def _board_to_grow(folder: Path) -> BoardToGrow:
    pairs = demo_pairs()
    table = demo_items(pairs)
    labels = demo_labels(pairs, table)
    database = open_migrated(f"sqlite:///{folder}/growth.db")
    scorer = Scorer(table, {labels.revision: labels}, version=SCORER_VERSION)
    prepare(database, scorer, label_revision=labels.revision)
    return BoardToGrow(database, scorer, table=table, labels=labels, random=np.random.default_rng(7))


def _timed(place: BoardToGrow, worker: Worker, *, number: int) -> SubmissionTiming:
    (name,) = place.add(range(number, number + 1))
    with place.database.write() as session:
        job_queue.enqueue_current(session, name)
    started = time.monotonic()
    first = {"score": _seconds(worker.work), "snapshot": _seconds(worker.publish_snapshot)}
    visible = time.monotonic() - started
    later = {
        "relations": _seconds(worker.compute_pairwise),
        "second snapshot": _seconds(worker.publish_snapshot),
    }
    return SubmissionTiming(first | later, visible)


def _settle(worker: Worker) -> None:
    for action in (worker.publish_snapshot, worker.compute_pairwise, worker.publish_snapshot):
        action()


def _web_seconds(database: Database) -> dict[str, float]:
    """Return what a web process does once for each snapshot; later requests get the same bytes."""
    cache = BoardCache(DatabaseSnapshots(database, demo_spec()), context=RenderContext(demo_spec()))
    board_versions: list[BoardVersion] = []

    def read() -> None:
        board_versions.append(cache.refresh())
        board_versions[0].board()

    return {
        "web: board": _seconds(read),
        "web: first page": _seconds(lambda: front_page(board_versions[0])),
        "web: API page of 100": _seconds(
            lambda: orjson.dumps(shown_json(board_versions[0], page=PageOfRows(limit=100)))
        ),
        "web: API complete": _seconds(lambda: orjson.dumps(shown_json(board_versions[0]))),
    }


def _seconds(action: Callable[[], object]) -> float:
    started = time.process_time()
    action()
    return time.process_time() - started


def _bytes(database: Database) -> dict[str, int]:
    """Return the bytes that each table and index holds."""
    with database.read() as session:
        rows = session.execute(text("SELECT name, sum(payload + 24 * ncell) FROM dbstat GROUP BY name"))
        return {str(name): int(held) for name, held in rows}


def lines(sizes: Sequence[int]) -> Iterator[str]:
    """Yield a Markdown table, one line a size, with steps and the largest tables of each; then the exponents."""
    yield "| entries | bytes a submission | worker, seconds a submission | mean | visible after, at most | of which |"
    yield "|---|---|---|---|---|---|"
    results = []
    for entries in sizes:
        with tempfile.TemporaryDirectory() as folder:
            result = measure(Path(folder), entries)
        results.append(result)
        steps = ", ".join(f"{name} {value:.3f}" for name, value in result.seconds.items())
        tables = ", ".join(f"{name} {value:,.0f}" for name, value in result.tables.items())
        figures = f"{result.total:.3f} | {result.mean:.2f} | {result.visible:.2f} s"
        yield f"| {entries:,} | {result.bytes_per_submission:,.0f} ({tables}) | {figures} | {steps} |"
    for before, after in pairwise(results):
        exponents = ", ".join(f"{name} {value:.2f}" for name, value in _exponents(before, after).items())
        yield f"exponents from {before.entries:,} to {after.entries:,}: {exponents}"


def _exponents(before: Growth, after: Growth) -> dict[str, float]:
    """Return how each step grows: seconds are proportional to entries ** exponent."""
    larger = log(after.entries / before.entries)
    return {name: log(after.seconds[name] / seconds) / larger for name, seconds in before.seconds.items()}


if __name__ == "__main__":
    for line in lines([int(word) for word in sys.argv[1:]] or SIZES):
        print(line, flush=True)
