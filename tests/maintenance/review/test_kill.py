"""kill -9 while a draft is written, before and after every commit: it is there whole or not at all, and then once."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from maintenance import labels, operations
from maintenance.queries import Revision
from maintenance.review import disputes
from storage.database import Database, migrate, open_database
from tests.databases import BOTH
from tests.maintenance import killed
from tests.maintenance.killed import Copy
from tests.maintenance.people import MAINTAINER, STRANGER
from tests.maintenance.review.bench import Bench, open_bench, set_up
from tests.workers import invented
from workers import label_jobs
from workers.desk import open_desk

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
PATIENCE = 60.0
COMMITS = ["desk._next", "label_jobs.keep_draft"]  # claimed; then, with the file written, recorded and finished


def a_worker(database: Database, state: Path) -> Callable[[], int]:
    return open_desk(database, invented.scorer(), state / "state", killed.LEASE).drain


def _fill(url: str, state: Path) -> None:
    """Two accepted disputes, and a draft that was asked for."""
    database = open_database(url)
    migrate(database)
    bench = set_up(database, state / "state", tags=False)
    why = "The preferred response invents a second dog."
    for number, index in enumerate((0, 4), start=1):
        better = bench.says(index, right=False)
        disputes.dispute(bench.database, STRANGER, bench.table, bench.key(index), better, why)
        disputes.decide(bench.database, MAINTAINER, "demo", number, True, "yes")
    disputes.request_draft(bench.database, MAINTAINER, "demo", "next", "demo", "two labels")
    database.close()


@pytest.fixture(scope="module", params=BOTH)
def copies(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Copy:
    return killed.copies(request, tmp_path_factory, _fill)


def test_a_kill_at_any_commit_leaves_a_whole_draft_or_none(copies: Copy) -> None:
    with copies() as untouched:
        assert killed.commits(untouched, a_worker) == COMMITS
    for moment, commit, drafts in (("before", 1, 0), ("after", 1, 0), ("before", 2, 0), ("after", 2, 1)):
        with copies() as installation:
            assert killed.run(installation, a_worker, commit, moment) != 0
            bench = open_bench(open_database(installation.url), installation.state / "state", tags=False)
            assert len(_drafts(bench)) == drafts
            _finish(bench)
            assert len(_drafts(bench)) == 1
            loaded = label_jobs.load(bench.database, bench.desk.scorer, bench.desk.store, "next")
            assert (loaded.preferred != bench.labels.preferred).sum() == 2
            assert bench.kinds().count("labels.imported") == 1
            bench.database.close()


def _drafts(bench: Bench) -> list[Revision]:
    return [one for one in labels.revisions(bench.database, MAINTAINER, "demo") if one.revision == "next"]


def _finish(bench: Bench) -> None:
    """What the next worker does: it takes the task over when the dead one's lease is over."""
    deadline = time.monotonic() + PATIENCE
    while operations.recent_tasks(bench.database, MAINTAINER)[0].state != "done":
        assert time.monotonic() < deadline
        bench.desk.release_expired()
        bench.desk.drain()
        time.sleep(0.05)
