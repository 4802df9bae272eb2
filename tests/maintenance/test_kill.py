"""kill -9 during an apply, before and after every commit: the board is the old one or the new one, never in between."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from sqlalchemy import event, select
from sqlalchemy.orm import Session

from maintenance.actions import rescoring, tasks
from storage.database import Database, open_database
from storage.integrity import audit
from storage.jobs.leases import release_expired
from storage.models.core import AuditEvent
from tests.databases import new_database
from tests.factories import boards
from tests.factories.boards import RealBoard
from tests.factories.suite.fork_server import fork_server
from vlrb.benchmarks.label_files import load_labels
from vlrb.scorecard import SCORER_VERSION
from workers.runner import Worker
from workers.scorer import Scorer
from workers.task_runner import TaskRunner, create_task_runner

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
PATIENCE = 60.0  # seconds; a machine that is busy with other things is slow, not wrong
JUDGES = 6
CHUNK = 4  # so that the judges are staged in two transactions
LEASE = 0.3
WORKERS = str(Path(__file__).parents[2] / "workers")
# Where an apply commits: all that it does, and then what follows of it for the public and for maintainers.
COMMITS = [
    "task_runner.run_one",  # claims the task
    "startup.register",
    "rescore._record",
    "rescore._record",
    "activate_revision._move",
    "snapshot._publish",
    "pairwise_statistics._record",
    "snapshot._publish",
]


def _everything(runner: TaskRunner, worker: Worker) -> None:
    """What the threads of a worker do beside one another, in an order in which they may come to it."""
    runner.run_all()
    worker.publish_snapshot()
    worker.compute_pairwise()
    worker.publish_snapshot()


def _a_worker(database: Database, state: Path) -> Callable[[], None]:
    loaded = load_labels(boards.labels_file("v1"), "v1", table=boards.table())
    runner = replace(
        create_task_runner(
            database,
            Scorer(boards.table(), {"v1": loaded}, version=SCORER_VERSION),
            state=state,
            lease_seconds=LEASE,
        ),
        chunk=CHUNK,
    )
    return lambda: _everything(runner, Worker(database, [runner.scorer], lease_seconds=LEASE, name=runner.worker))


def _fill(url: str, state: Path) -> None:
    """Everything scored under v1 and published, v2 imported, apply requested; nobody has begun."""
    database = new_database(url)
    board = boards.open_board(database, state, revision="v1", judges_wanted=JUDGES)
    board.import_labels(level="public")
    _everything(board.runner, Worker(database, [board.scorer], lease_seconds=60.0))
    rescoring.request_apply(board.ctx, "v2", "sixteen labels", "v2")
    database.close()


class Installation(NamedTuple):
    """A database and the directory that the workers share."""

    url: str
    state: Path


Copy = Callable[[], AbstractContextManager[Installation]]


def _copies(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """Return what makes untouched copies of an installation on the database that is asked for."""
    state = tmp_path_factory.mktemp("state")
    if request.param == "sqlite":
        _fill(f"sqlite:///{state}/board.db", state)

        @contextmanager
        def copied() -> Iterator[Installation]:
            directory = shutil.copytree(state, tmp_path_factory.mktemp("copy") / "state")
            yield Installation(f"sqlite:///{directory}/board.db", directory)
            shutil.rmtree(directory)

        return copied
    cluster = request.getfixturevalue("postgres_cluster")
    template = cluster.new_database()
    _fill(template, state)

    @contextmanager
    def copied_on_the_server() -> Iterator[Installation]:
        address = cluster.new_database(template)
        directory = shutil.copytree(state, tmp_path_factory.mktemp("copy") / "state")
        yield Installation(address, directory)
        cluster.drop(address)
        shutil.rmtree(directory)

    return copied_on_the_server


def _commits(installation: Installation) -> list[str]:
    """Return where in the workers' code each commit was made, by a worker that nobody kills: module.function."""
    noted = installation.state / "commits.json"
    assert _run(installation, commit=0, moment="before", noted=noted) == 0
    return list(json.loads(noted.read_text()))


def _run(installation: Installation, *, commit: int, moment: str, noted: Path | None = None) -> int:
    """Return the exit code: -9, or 0 where there were fewer commits. `moment`: "before" or "after" the commit."""
    process = fork_server().Process(target=_work, args=(installation, commit, moment, noted))
    process.start()
    process.join(60)
    assert process.exitcode in (0, -signal.SIGKILL)
    return process.exitcode


def _work(installation: Installation, commit: int, moment: str, noted: Path | None) -> None:
    database = open_database(installation.url)
    work = _a_worker(database, installation.state)
    seen: list[str] = []

    def count(session: Session) -> None:
        ours = threading.current_thread() is threading.main_thread()  # not the one that keeps the lease
        if ours and session.get_bind() is database._writer:
            seen.append(_where())
            if len(seen) == commit:
                os.kill(os.getpid(), signal.SIGKILL)

    event.listen(Session, f"{moment}_commit", count)
    work()
    if noted is not None:
        noted.write_text(json.dumps(seen))
    os._exit(0)


def _where() -> str:
    """Return the innermost function of the workers on the stack."""
    frame = sys._getframe()
    while frame.f_back is not None and not frame.f_code.co_filename.startswith(WORKERS):
        frame = frame.f_back
    return f"{Path(frame.f_code.co_filename).stem}.{frame.f_code.co_name}"


@pytest.fixture(
    scope="module", params=["sqlite", pytest.param("postgresql", marks=[pytest.mark.postgres, pytest.mark.long])]
)
def copies(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Copy:
    return _copies(request, tmp_path_factory)


@dataclass(frozen=True)
class StoredBoard:
    """An installation as a later worker finds it."""

    board: RealBoard

    @property
    def worker(self) -> Worker:
        return Worker(self.board.database, [self.board.scorer], lease_seconds=60.0)

    def public(self) -> dict[str, Any]:
        """Return what the public sees, anyone who made it."""
        changing = ("created_at", "audit_seq", "nonce")
        return {name: value for name, value in self.board.published().items() if name not in changing}

    def finish(self) -> None:
        """What the next worker does: it takes the task over when the dead one's lease is over."""
        deadline = time.monotonic() + PATIENCE
        while tasks.recent_tasks(self.board.ctx)[0].state != "done":
            assert time.monotonic() < deadline
            with self.board.database.write() as session:
                release_expired(session)
            self.board.runner.run_all()
            time.sleep(0.02)
        self.board.runner.refresh()
        _everything(self.board.runner, self.worker)

    def head(self) -> audit.Head:
        with self.board.database.read() as session:
            assert audit.verify(session) is None
            assert len(session.scalars(select(AuditEvent.seq).where(AuditEvent.kind == "rescore.applied")).all()) == 1
            return audit.head(session)


def _find(installation: Installation) -> StoredBoard:
    opened = open_database(installation.url)
    board = boards.open_board(opened, installation.state, revision="v1", judges_wanted=0)
    board.runner.refresh()
    return StoredBoard(board)


@pytest.fixture(scope="module")
def stages(copies: Copy) -> list[dict[str, Any]]:
    """Return what the public sees one after the other: the old board, the new one, and that with what takes longer."""
    with copies() as untouched:
        found = _find(untouched)
        seen = [found.public()]
        found.board.runner.run_all()
        for step in (found.worker.publish_snapshot, found.worker.compute_pairwise, found.worker.publish_snapshot):
            step()
            seen.append(found.public())
        found.board.database.close()
    old, new, same, related = seen
    assert (old["label_revision"], new["label_revision"], new == same, new == related) == ("v1", "v2", True, False)
    return [old, new, related]


def _look(installation: Installation, stages: list[dict[str, Any]]) -> tuple[str, int]:
    """Return which labels the board is at, and which stage is public. Raises AssertionError where either is in
    between."""
    found = _find(installation)
    shown, public = boards.shown(found.board.database), found.public()
    assert public in stages
    assert shown == "v2" or public == stages[0], "more is public than was decided"
    found.worker.publish_snapshot()
    assert found.public() in (stages[:1] if shown == "v1" else stages[1:]), "what was decided is not whole"
    found.finish()
    assert found.public() == stages[-1]
    before = found.head()
    found.finish()
    assert not rescoring.request_apply(found.board.ctx, "v2", "again", "v2").changed
    assert (found.head(), found.public()) == (before, stages[-1]), "done again, it does something"
    found.board.database.close()
    return shown, stages.index(public)


def _killed(copies: Copy, stages: list[dict[str, Any]], *, commit: int, moment: str) -> tuple[str, int]:
    with copies() as installation:
        assert _run(installation, commit=commit, moment=moment) != 0
        return _look(installation, stages)


def _chosen(request: pytest.FixtureRequest) -> list[int]:
    """Return the commits before which a worker is killed: with --long all; else those that show more."""
    if request.config.getoption("--long"):
        return list(range(1, len(COMMITS) + 1))
    return [COMMITS.index("activate_revision._move") + 1, COMMITS.index("snapshot._publish") + 1]


def test_a_kill_at_any_commit_of_an_apply_leaves_the_old_board_or_the_new_one(
    copies: Copy, stages: list[dict[str, Any]], request: pytest.FixtureRequest
) -> None:
    with copies() as untouched:
        assert _commits(untouched) == COMMITS
    # Killed after one commit is killed before the next; only after the last one there is no next.
    moved, published, related = (
        COMMITS.index("activate_revision._move") + 1,
        COMMITS.index("snapshot._publish") + 1,
        COMMITS.index("pairwise_statistics._record") + 2,
    )
    for commit in _chosen(request):
        expected = ("v1" if commit <= moved else "v2", (commit > published) + (commit > related))
        assert _killed(copies, stages, commit=commit, moment="before") == expected, (
            f"killed before {COMMITS[commit - 1]}"
        )
    assert _killed(copies, stages, commit=len(COMMITS), moment="after") == ("v2", 2)
