"""Check and score of one official file, beside the official rule and beside parsing alone; and bulk re-scoring."""

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import orjson

from bench.measure import Measurement, in_ms, paired_seconds, print_table
from bench.official_rule import category, official_counts, official_lines, vote_status
from bench.service import store
from storage.database import migrate, open_database
from storage.labels import label_sets
from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.labels import LabelSet
from vlrb.demo import demo_items, demo_label_rows, demo_labels, demo_pairs
from vlrb.predictions.parse import parse_predictions
from vlrb.scorecard import SCORER_VERSION, scorecard
from vlrb.scoring import tally
from workers.jobs.rescore import rescore
from workers.scorer import Scorer

K = 5
ENTRIES = 10_000


def figures() -> Iterator[Measurement]:
    """Yield the table's lines about scoring."""
    pairs = demo_pairs()
    table = demo_items(pairs)
    labels = demo_labels(pairs, table)
    data = "".join(official_lines(pairs, K, seed=1, sentences=10)).encode()  # texts as long as those of judges
    lines = data.split(b"\n")[:-1]
    megabytes = f"{len(data) / 1e6:.0f} MB, K={K}"

    def ours() -> None:
        upload = parse_predictions(data, table)
        counted = tally(upload.votes, labels, table=table)
        scorecard(counted, upload.behaviour, benchmark="demo", label_revision="demo")

    def theirs() -> None:
        official_counts(map(json.loads, lines), category, status=vote_status)

    mine, official, parse = paired_seconds([ours, theirs, lambda: [orjson.loads(line) for line in lines]])
    what = f"check and score an official file ({megabytes}), everything included"
    yield Measurement(
        what,
        in_ms(mine),
        beside=f"official rule, nothing else: {in_ms(official)}",
        ratio=f"{mine / official:.2f}",
        asked="at most 1",
    )
    yield Measurement(
        what, in_ms(mine), beside=f"orjson on its lines: {in_ms(parse)}", ratio=f"{mine / parse:.1f}", asked="at most 6"
    )
    with tempfile.TemporaryDirectory() as folder:
        yield from _processes(Path(folder), data, table=table, label_rows=demo_label_rows(pairs))
        yield _bulk(Path(folder), table, labels=labels)


def _processes(
    folder: Path, data: bytes, *, table: ItemTable, label_rows: list[dict[str, object]]
) -> Iterator[Measurement]:
    """Peak memory of scoring the file, and how long a check takes to start."""
    items, labels, file, empty = (
        folder / name for name in ("items.json", "labels.jsonl", "judge.jsonl", "empty.jsonl")
    )
    items.write_text(json.dumps(table.to_json()))
    labels.write_text("".join(json.dumps(row) + "\n" for row in label_rows))
    file.write_bytes(data)
    empty.write_bytes(b"")
    options = ["--labels", str(labels), "--revision", "demo", "--items", str(items), "--json"]
    subprocess.run([sys.executable, "-m", "vlrb", "score", str(file), *options], check=True, capture_output=True)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024  # kB on Linux; the only child so far
    yield Measurement("peak memory of scoring that file, a whole process", f"{peak:.0f} MB", asked="under 300 MB")
    check = [sys.executable, "-m", "vlrb", "check", str(empty)]
    start, bare = paired_seconds(
        [lambda: subprocess.run(check, capture_output=True), lambda: subprocess.run([sys.executable, "-c", "pass"])]
    )
    beside = f"python alone: {in_ms(bare)}"
    yield Measurement(
        "vlrb check, start to end", in_ms(start), beside=beside, ratio=f"{start / bare:.0f}", asked="under 500 ms"
    )


def _bulk(folder: Path, table: ItemTable, *, labels: LabelSet) -> Measurement:
    """Return how long it takes to score all that is stored under a new label revision."""
    database = open_database(f"sqlite:///{folder / 'bench.db'}")
    migrate(database)
    with database.write() as session:
        label_sets.register(
            session, labels.revision, benchmark=table.benchmark, digest=labels.digest, items=labels.items
        )
    store(database, range(ENTRIES), table=table, labels=labels)
    scorer = Scorer(table, {labels.revision: labels}, version=SCORER_VERSION)
    started = time.perf_counter()
    recorded = rescore(database, scorer, revision=labels.revision)
    seconds = time.perf_counter() - started
    database.close()
    rate = recorded / seconds
    return Measurement(
        f"re-scoring {recorded:,} stored entries, SQLite",
        f"{seconds:.1f} s",
        ratio=f"{rate:,.0f} entries/s",
        asked="5,000",
    )


if __name__ == "__main__":
    print_table(figures())
