"""Memory of a worker between its jobs: it publishes byte for byte what a worker that starts would."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import event, insert, select, update
from sqlalchemy.exc import OperationalError

from maintenance.database import queries
from storage import visibility
from storage.boards import stored_relations
from storage.database import Database
from storage.integrity import audit
from storage.jobs import job_queue
from storage.labels import label_sets
from storage.models.core import Snapshot, Submission
from storage.models.quota import Attempt, QuotaCharge, QuotaSubject
from storage.visibility import EntryVisibility
from tests.databases import a_submission, accept, new_database
from tests.factories import small_benchmark
from workers.jobs.rescore import rescore
from workers.jobs.snapshot import publish_if_changed
from workers.runner import Worker
from workers.startup import prepare

SCORER = small_benchmark.scorer()
OWNERS = ("ann", "bob")
MODELS = ("judge v1", "judge v2", "other")
SHOWN = (visibility.PLAIN, visibility.PLAIN, EntryVisibility(4e9), EntryVisibility(published=False))
steps = st.lists(
    st.tuples(
        st.sampled_from(["submit"] * 6 + ["withdraw", "rename", "re-score", "switch", "publish"]), st.integers(0, 11)
    ),
    min_size=4,
    max_size=7,
)


@contextmanager
def board() -> Iterator[Database]:
    """Provide an empty board that shows the first label revision."""
    with tempfile.TemporaryDirectory() as folder:
        database = new_database(f"sqlite:///{folder}/leaderboard.db")
        prepare(database, SCORER, label_revision="demo", levels={"flipped": "hidden"})
        yield database
        database.close()


def submit(database: Database, number: int, *, choice: int, queued: bool = True) -> str:
    """Store a submission; some are older than others that were scored before them."""
    owner, name = OWNERS[choice % 2], "e" + format(number, "011b").replace("1", "z").replace("0", "a")
    with database.write() as session:
        votes = small_benchmark.votes(number if choice % 5 else 1)  # now and then a copy
        about = {"id": name, "owner": owner, "model": MODELS[choice % 3], "version": str(number)}
        row = a_submission(number, votes=votes.pack(), votes_per_item=3, created_at=1e9 + number * 7 % 5, **about)
        accept(session, [row])
        visibility.request_approval(session, name, shown=SHOWN[choice % 4], approval=False)
        subject = f"account:{owner}"
        if session.get(QuotaSubject, subject) is None:
            session.execute(insert(QuotaSubject).values(subject=subject))
        facts = {"label_revision": "demo", "number": number + 1, "policy": {}}
        session.execute(insert(Attempt).values(submission_id=name, **facts))
        session.execute(insert(QuotaCharge).values(submission_id=name, subject=subject))
        if queued:
            job_queue.enqueue_current(session, name)
    return name


def withdraw(database: Database, name: str) -> None:
    """Take an entry off the board."""
    with database.write() as session:
        queries.decide(session, name, withdrawn_at=2e9, withdrawn_reason="a mistake")
        audit.append(session, "entry.withdrawn", data={"entry": name})


def act(database: Database, kind: str, *, choice: int, names: list[str]) -> None:
    """Do one thing to a board."""
    if kind == "submit":
        names.append(submit(database, len(names), choice=choice))
    elif kind == "re-score":
        names.append(submit(database, len(names), choice=choice, queued=False))
        rescore(database, SCORER, revision="demo")
    elif kind == "switch":
        with database.read() as session:
            shown = label_sets.current(session, "demo")
        other = "flipped" if shown is not None and shown.label_revision == "demo" else "demo"
        small_benchmark.switch_board(database, SCORER, revision=other, reason="test")
    elif names and kind == "withdraw":
        withdraw(database, names[choice % len(names)])
    elif names and kind == "rename":
        name = names[choice % len(names)]
        with database.write() as session:
            session.execute(update(Submission).where(Submission.id == name).values(model=MODELS[choice % 3]))
            audit.append(session, "submission.edited", data={"entry": name})


def jobs(database: Database, worker: Worker | None) -> None:
    """Score and publish, by a worker that keeps what it knows, or by one that starts before every job."""
    scoring = worker or Worker(database, SCORER, lease_seconds=60)
    scoring.enqueue_missing()
    while scoring.work().name == "SCORED":
        pass
    for job in ("publish_snapshot", "compute_pairwise", "publish_snapshot"):
        getattr(worker or Worker(database, SCORER, lease_seconds=60), job)()


def published(database: Database) -> tuple[list[Any], list[Any]]:
    """Return digests of all snapshots, and all relations with their summaries."""
    with database.read() as session:
        content = (Snapshot.series, Snapshot.number, Snapshot.content_sha256)
        rows = session.execute(select(*content).order_by(Snapshot.series, Snapshot.number)).all()
        relations = [(row.inputs, row.id, row.summary, row.body) for row in stored_relations.rows(session)]
        return [tuple(row) for row in rows], relations


@settings(max_examples=max(2, settings().max_examples // 12))
@given(steps)
def test_a_worker_that_keeps_what_it_knows_publishes_what_one_that_starts_would(script: list[tuple[str, int]]) -> None:
    with board() as kept, board() as anew:
        worker = Worker(kept, SCORER, lease_seconds=60)
        names: dict[Database, list[str]] = {kept: [], anew: []}
        for number, (kind, choice) in enumerate(script):
            for database in (kept, anew):
                act(database, kind, choice=choice, names=names[database])
                if number % 3 != 1:
                    jobs(database, worker if database is kept else None)
        assert published(kept) == published(anew)


def test_what_a_job_could_not_commit_is_published_by_nobody() -> None:
    with board() as database:
        worker = Worker(database, SCORER, lease_seconds=60)
        names = [submit(database, number, choice=0) for number in range(3)]
        jobs(database, worker)
        before = published(database)
        names.append(submit(database, 3, choice=4))
        with interrupted(database, "relations.computed"), pytest.raises(OperationalError):
            jobs(database, worker)  # it has computed relations, and they are lost
        withdraw(database, names[0])
        with interrupted(database, "snapshot.published"), pytest.raises(OperationalError):
            worker.publish_snapshot()
        jobs(database, worker)
        written, relations = published(database)
        assert len(relations) == len(before[1]) + 2, "of two label revisions, once: those of three entries and a fourth"
        new = [summary for *_names, summary, _content in relations if summary not in {row[2] for row in before[1]}]
        assert {name for summary in new for name in re.findall(r'"(e[a-z2-7]{11})"', summary)} == set(names[1:])
        assert publish_if_changed(database, SCORER, anew=True) is None, "a worker that starts would say the same"
        assert len(written) == len(before[0]) + 3


@contextmanager
def interrupted(database: Database, kind: str) -> Iterator[None]:
    """Lose the connection in a transaction, right after it has recorded an event of a kind."""
    recorded: list[str] = []

    def execute(connection: Any, cursor: Any, statement: str, parameters: Any, *rest: Any) -> None:
        if recorded:
            raise OperationalError(statement, None, OSError("the connection was lost"))
        if statement.startswith("INSERT INTO events") and kind in parameters:
            recorded.append(kind)

    event.listen(database.engine, "before_cursor_execute", execute)
    try:
        yield
    finally:
        event.remove(database.engine, "before_cursor_execute", execute)
