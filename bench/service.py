"""The service as `python app.py` starts it, with sign-in configured and many entries in its database."""

from __future__ import annotations

import hashlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import numpy as np
from sqlalchemy import func, insert, select

from leaderboard.ranking.rows import Board
from leaderboard.site.cache import BoardCache
from leaderboard.site.queries import DatabaseSnapshots
from leaderboard.site.render_context import RenderContext
from storage.database import Database, open_database
from storage.integrity import audit, row_commitments
from storage.integrity.integrity_check import ACCEPTED
from storage.models.core import Submission, new_entry_id
from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.labels import LabelSet
from vlrb.demo import demo_items, demo_labels, demo_pairs, demo_spec
from vlrb.scorecard import SCORER_VERSION
from vlrb.votes import Matrix, Votes
from workers.jobs.rescore import rescore
from workers.scorer import Scorer

ROOT = Path(__file__).parents[1]
_PATIENCE = 300.0  # seconds until a service is ready
_SETTLED = 12.0  # seconds without a new page: the worker has published, compared and looked at everything
_CHUNK = 500
_TYPES = ("generative-pairwise", "generative-pointwise", "scalar", "critic")
_SIZES = (2.0, 7.0, 8.0, 32.0, 72.0)


def free_port() -> int:
    """Return a port of loopback that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def started(command: Sequence[str], log: Path, *, environ: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """Provide a server in a process of its own, stopped at the end."""
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, **environ}, stdout=output, stderr=output)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(30)


def wait_for(address: str, process: subprocess.Popen[bytes], *, log: Path) -> None:
    """Wait until the address is answered with success.

    Raises:
        RuntimeError: the server ended, or does not answer.
    """
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"the server ended: {log.read_text()[-2000:]}")
        try:
            urlopen(address, timeout=30).read()
        except (URLError, OSError):
            time.sleep(0.1)
        else:
            return
    raise RuntimeError(f"{address} does not answer")


@contextmanager
def service(folder: Path, **settings: str) -> Iterator[str]:
    """`python app.py` on a data directory, with every middleware of a public service; yields its address.
    `settings`: further ones.

    Nobody signs in, so the issuer is never asked.
    """
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    environ = {
        "PORT": str(port),
        "HOST": "127.0.0.1",
        "DATA_DIR": str(folder),
        "IDENTITY": "openid",
        "PUBLIC_URL": address,
        "OIDC_CLIENT_ID": "bench",
        "SESSION_SECRET": os.urandom(32).hex(),
        "HF_HUB_OFFLINE": "1",
        **settings,
    }
    log = folder / "service.log"
    with started([sys.executable, str(ROOT / "app.py")], log, environ=environ) as process:
        for path in ("/readyz", "/app/submit"):
            wait_for(address + path, process, log=log)
        _settle(address)
        yield address


def _settle(address: str) -> None:
    """Wait until the page stays as it is."""
    deadline, since, before = time.monotonic() + _PATIENCE, time.monotonic(), ""
    while time.monotonic() - since < _SETTLED:
        if time.monotonic() > deadline:
            raise RuntimeError("the board does not come to rest")
        now = urlopen(address, timeout=_PATIENCE).headers["etag"]
        if now != before:
            since, before = time.monotonic(), now
        time.sleep(0.5)


def fill(folder: Path, entries: int) -> None:
    """Make and fill the data directory of a service that is not running, until it has so many scored entries."""
    if not _database_path(folder).exists():
        with service(folder):  # it makes the demo benchmark, submits its judges, and rests
            pass
    pairs = demo_pairs()
    table = demo_items(pairs)
    labels = demo_labels(pairs, table)
    database = _open(folder)
    with database.read() as session:
        there = session.execute(select(func.count()).select_from(Submission)).scalar_one()
    store(database, range(there, entries), table=table, labels=labels)
    rescore(database, Scorer(table, {labels.revision: labels}, version=SCORER_VERSION), revision=labels.revision)
    database.close()


def store(database: Database, numbers: range, *, table: ItemTable, labels: LabelSet) -> None:
    """Store submissions that nobody has scored, each with its event."""
    random = np.random.default_rng(numbers.start)
    for start in range(numbers.start, numbers.stop, _CHUNK):
        with database.write() as session:
            chunk = range(start, min(start + _CHUNK, numbers.stop))
            rows = [submission_row(random, number, table=table, labels=labels) for number in chunk]
            session.execute(insert(Submission), rows)
            for name, owner in ((row["id"], row["owner"]) for row in rows):
                held = row_commitments.commitments(session, str(name))
                audit.append(session, ACCEPTED, data={"submission": name, "owner": owner, **held})


def board_of(folder: Path) -> Board:
    """Return the board that the service shows: entries, reported rows and baselines."""
    database = _open(folder)
    board = BoardCache(DatabaseSnapshots(database, demo_spec()), context=RenderContext(demo_spec())).refresh().board()
    database.close()
    return board


def _database_path(folder: Path) -> Path:
    return folder / "demo" / "leaderboard.db"


def _open(folder: Path) -> Database:
    return open_database(f"sqlite:///{_database_path(folder)}")


def submission_row(
    random: np.random.Generator, number: int, *, table: ItemTable, labels: LabelSet
) -> dict[str, object]:
    """Return the row of a submission: a judge of its own skill that leaves a vote undecided now and then."""
    k = (1, 3, 5)[number // _CHUNK % 3]
    votes = Votes(_votes(random, len(table), k=k, labels=labels))
    packed = votes.pack()
    return {
        "id": new_entry_id(), "benchmark": table.benchmark, "owner": f"owner-{number}",
        "content_sha256": hashlib.sha256(packed).hexdigest(), "format": "native",
        "revision": labels.revision, "votes_per_item": k, "votes": packed, "parse_rate": 0.97,
        "first_shown_rate": 0.52, "self_consistency": 0.9 if k > 1 else None, "report": {},
        "model": f"Model-{random.integers(1, 99)}B-v{number}", "organisation": f"Lab {number % 40}",
        "judge_type": _TYPES[number % 4], "parameters_b": float(random.choice(_SIZES)),
    }  # fmt: skip


def _votes(random: np.random.Generator, items: int, *, k: int, labels: LabelSet) -> Matrix:
    truth = np.asarray(labels.preferred)[:, np.newaxis]
    right = random.random((items, k)) < random.uniform(0.3, 0.9)
    votes = np.where(right, truth, 1 - truth).astype(np.int8)
    votes[random.random((items, k)) < 0.03] = -1
    return votes
