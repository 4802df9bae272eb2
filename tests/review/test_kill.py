"""kill -9 while a draft is written, before and after every commit: it is there whole or not at all, and then once."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from maintenance.actions import labels, operations
from maintenance.database.queries import RevisionRow
from review.actions import disputes
from storage.database import Database, open_database
from storage.jobs.release import release_expired
from tests.databases import BOTH, new_database
from tests.factories import small_benchmark
from tests.factories.accounts import MAINTAINER, STRANGER
from tests.factories.review_setup import ReviewSetup, open_bench, set_up
from tests.maintenance import crash_helpers
from tests.maintenance.crash_helpers import Copy
from workers.task_runner import create_task_runner

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
PATIENCE = 60.0
COMMITS = [
    "task_runner.run_one",
    "import_labels.keep_draft",
]  # claimed; then, with the file written, recorded and finished


def a_worker(database: Database, state: Path) -> Callable[[], int]:
    return create_task_runner(
        database, small_benchmark.scorer(), state=state / "state", lease_seconds=crash_helpers.LEASE
    ).run_all


def _fill(url: str, state: Path) -> None:
    """Two accepted disputes, and a draft that was asked for."""
    database = new_database(url)
    bench = set_up(database, state / "state", tags=False)
    why = "The preferred response invents a second dog."
    for number, index in enumerate((0, 4), start=1):
        better = bench.says(index, right=False)
        disputes.dispute(bench.by(STRANGER), bench.key(index), better=better, reason=why)
        disputes.decide(bench.by(MAINTAINER), number, accepted=True, note="yes")
    disputes.request_draft(bench.by(MAINTAINER), "next", base="demo", reason="two labels")
    database.close()


@pytest.fixture(scope="module", params=BOTH)
def copies(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Copy:
    return crash_helpers.copies(request, tmp_path_factory, fill=_fill)


def test_a_kill_at_any_commit_leaves_a_whole_draft_or_none(copies: Copy) -> None:
    with copies() as untouched:
        assert crash_helpers.commits(untouched, a_worker) == COMMITS
    # Killed after the first commit is killed before the second.
    for moment, commit, drafts in (("before", 1, 0), ("before", 2, 0), ("after", 2, 1)):
        with copies() as installation:
            assert crash_helpers.run(installation, a_worker, commit=commit, moment=moment) != 0
            bench = open_bench(open_database(installation.url), installation.state / "state", tags=False)
            assert len(_drafts(bench)) == drafts
            _finish(bench)
            assert len(_drafts(bench)) == 1
            loaded = bench.runner.labels("next")
            assert (loaded.preferred != bench.labels.preferred).sum() == 2
            assert bench.kinds().count("labels.imported") == 1
            bench.database.close()


def _drafts(bench: ReviewSetup) -> list[RevisionRow]:
    return [one for one in labels.revisions(bench.by(MAINTAINER)) if one.revision == "next"]


def _finish(bench: ReviewSetup) -> None:
    """What the next worker does: it takes the task over when the dead one's lease is over."""
    deadline = time.monotonic() + PATIENCE
    while operations.recent_tasks(bench.by(MAINTAINER))[0].state != "done":
        assert time.monotonic() < deadline
        with bench.database.write() as session:
            release_expired(session)
        bench.runner.run_all()
        time.sleep(0.05)
