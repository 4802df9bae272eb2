"""kill -9 while a draft is written, before and after every commit: it is there whole or not at all, and then once."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import threading
import time
from pathlib import Path

import pytest
from sqlalchemy import event
from sqlalchemy.orm import Session

from maintenance import labels, operations
from maintenance.queries import Revision
from maintenance.review import disputes
from storage.database import migrate, open_database
from tests.maintenance.people import MAINTAINER, STRANGER
from tests.maintenance.review.bench import Bench, open_bench, set_up
from tests.workers import invented
from workers import label_jobs
from workers.desk import open_desk

pytestmark = pytest.mark.slow
LEASE = 0.3


def _work(directory: Path, commit: int, moment: str) -> None:
    """A worker that is killed at its so many-th commit; `moment`: before or after it."""
    database = open_database(f"sqlite:///{directory}/board.db")
    desk = open_desk(database, invented.scorer(), directory / "state", LEASE)
    seen = 0

    def count(session: Session) -> None:
        nonlocal seen
        ours = threading.current_thread() is threading.main_thread()  # not the one that keeps the lease
        if ours and session.get_bind() is database._writer:
            seen += 1
            if seen == commit:
                os.kill(os.getpid(), signal.SIGKILL)

    event.listen(Session, f"{moment}_commit", count)
    desk.drain()
    os._exit(0)


def _run(directory: Path, commit: int, moment: str) -> int | None:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    process = context.Process(target=_work, args=(directory, commit, moment))
    process.start()
    process.join(60)
    return process.exitcode


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("template")
    bench = _open(directory, new=True)
    why = "The preferred response invents a second dog."
    for number, index in enumerate((0, 4), start=1):
        better = bench.says(index, right=False)
        disputes.dispute(bench.database, STRANGER, bench.table, bench.key(index), better, why)
        disputes.decide(bench.database, MAINTAINER, "demo", number, True, "yes")
    disputes.request_draft(bench.database, MAINTAINER, "demo", "next", "demo", "two labels")
    bench.database.close()
    return directory


def _open(directory: Path, *, new: bool = False) -> Bench:
    database = open_database(f"sqlite:///{directory}/board.db")
    if new:
        migrate(database)
    return (set_up if new else open_bench)(database, directory / "state", tags=False)


def test_a_kill_at_any_commit_leaves_a_whole_draft_or_none(template: Path, tmp_path: Path) -> None:
    # Claimed; then, with the file written, recorded and finished in one commit.
    for moment, commit, drafts in (("after", 1, 0), ("before", 2, 0), ("after", 2, 1)):
        directory = shutil.copytree(template, tmp_path / f"{moment}{commit}")
        assert _run(directory, commit, moment) == -signal.SIGKILL
        bench = _open(directory)
        assert len(_drafts(bench)) == drafts
        _finish(bench)
        (draft,) = _drafts(bench)
        loaded = label_jobs.load(bench.database, bench.desk.scorer, bench.desk.store, "next")
        assert (loaded.preferred != bench.labels.preferred).sum() == 2
        assert bench.kinds().count("labels.imported") == 1
        bench.database.close()


def _drafts(bench: Bench) -> list[Revision]:
    return [one for one in labels.revisions(bench.database, MAINTAINER, "demo") if one.revision == "next"]


def _finish(bench: Bench) -> None:
    """What the next worker does: it takes the task over when the dead one's lease is over."""
    deadline = time.monotonic() + 60
    while operations.recent_tasks(bench.database, MAINTAINER)[0].state != "done":
        assert time.monotonic() < deadline
        bench.desk.release_expired()
        bench.desk.drain()
        time.sleep(0.05)
