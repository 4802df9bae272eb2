"""kill -9 during an apply, before and after every commit: the board is the old one or the new one, never in between."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from benchmark.scorecard import SCORER_VERSION
from maintenance import labels, operations, rescoring
from storage import audit, label_sets
from storage.database import Database, migrate, open_database
from storage.tables import Event
from tests.databases import BOTH
from tests.maintenance import killed, real_board
from tests.maintenance.killed import Copy, Installation, Prepare
from tests.maintenance.people import MAINTAINER
from tests.maintenance.real_board import Board
from workers import apply_job
from workers.desk import Desk, open_desk
from workers.labels import load_labels
from workers.runner import Worker
from workers.scorer import Scorer

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
BENCHMARK = "vl-rewardbench"
PATIENCE = 60.0  # seconds; a machine that is busy with other things is slow, not wrong
CHUNK = 13  # so that the judges are staged in two pieces
# Where an apply commits: all that it does, and then what follows of it for the public and for maintainers.
COMMITS = [
    "desk._next",  # claims the task
    "start.register",
    "apply_job._stage",  # splits it
    *("desk._piece", "rescore_job._record", "desk.report"),  # claims a piece, does it, says so
    *("desk._piece", "rescore_job._record", "desk.report"),
    "apply_job.apply",  # moves the board
    "snapshot_job._publish",
    "relations_job._record",
    "snapshot_job._publish",
    "detect_job._record",
]


def _everything(desk: Desk, worker: Worker) -> None:
    """What the threads of a worker do beside one another, in an order in which they may come to it."""
    desk.drain()
    worker.publish()
    worker.relate()
    worker.publish()
    worker.detect()


def a_worker(database: Database, state: Path) -> Callable[[], None]:
    loaded = load_labels(real_board.labels_file("v1"), "v1", real_board.table())
    desk = replace(
        open_desk(database, Scorer(real_board.table(), {"v1": loaded}, SCORER_VERSION), state, killed.LEASE),
        chunk=CHUNK,
    )
    return lambda: _everything(desk, Worker(database, desk.scorer, killed.LEASE, desk.worker))


def a_worker_that_moves_the_board_first(database: Database, state: Path) -> Callable[[], None]:
    stage = apply_job._stage

    def too_early(database: Database, staged: Scorer, *arguments: Any) -> None:
        (revision,) = staged.revisions
        with database.write() as session:
            label_sets.point_to(session, revision, staged.version, "before there is a score")
        stage(database, staged, *arguments)

    apply_job._stage = too_early
    return a_worker(database, state)


def _fill(url: str, state: Path) -> None:
    """Everything scored under v1 and published, v2 imported, apply requested; nobody has begun."""
    database = open_database(url)
    migrate(database)
    board = real_board.open_board(database, state, "v1")
    source = str(real_board.labels_file("v2"))
    labels.request_import(database, MAINTAINER, BENCHMARK, "v2", source, "the authors changed labels", public=True)
    _everything(board.desk, Worker(database, board.scorer, 60.0))
    rescoring.request_apply(database, MAINTAINER, BENCHMARK, "v2", "sixteen labels", "v2")
    database.close()


@pytest.fixture(scope="module", params=BOTH)
def copies(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Copy:
    return killed.copies(request, tmp_path_factory, _fill)


@dataclass(frozen=True)
class Found:
    """An installation as a later worker finds it."""

    board: Board

    @property
    def worker(self) -> Worker:
        return Worker(self.board.database, self.board.scorer, 60.0)

    def shown(self) -> str:
        with self.board.database.read() as session:
            pointer = label_sets.current(session)
        assert pointer is not None
        return pointer.label_revision

    def public(self) -> dict[str, Any]:
        """What the public sees, whoever made it."""
        changing = ("created_at", "audit_seq", "nonce")
        return {name: value for name, value in self.board.published().items() if name not in changing}

    def finish(self) -> None:
        """What the next worker does: it takes the task over when the dead one's lease is over."""
        deadline = time.monotonic() + PATIENCE
        while operations.recent_tasks(self.board.database, MAINTAINER)[0].state != "done":
            assert time.monotonic() < deadline
            self.board.desk.release_expired()
            self.board.desk.drain()
            time.sleep(0.02)
        self.board.desk.refresh()
        _everything(self.board.desk, self.worker)

    def head(self) -> audit.Head:
        with self.board.database.read() as session:
            assert audit.verify(session) is None
            assert len(session.scalars(select(Event.seq).where(Event.kind == "rescore.applied")).all()) == 1
            return audit.head(session)


def _find(installation: Installation) -> Found:
    opened = open_database(installation.url)
    board = real_board.open_board(opened, installation.state, "v1", judges_wanted=0)
    board.desk.refresh()
    return Found(board)


def _stages(copies: Copy) -> list[dict[str, Any]]:
    """What the public sees one after the other: the old board, the new one, and that with what takes longer."""
    with copies() as untouched:
        found = _find(untouched)
        seen = [found.public()]
        found.board.desk.drain()
        for step in (found.worker.publish, found.worker.relate, found.worker.publish):
            step()
            seen.append(found.public())
        found.board.database.close()
    old, new, same, related = seen
    assert (old["label_revision"], new["label_revision"], new == same, new == related) == ("v1", "v2", True, False)
    return [old, new, related]


def _look(installation: Installation, stages: list[dict[str, Any]]) -> tuple[str, int]:
    """Which labels the board is at, and which stage is public. Raises AssertionError where either is in between."""
    found = _find(installation)
    shown, public = found.shown(), found.public()
    assert public in stages
    assert shown == "v2" or public == stages[0], "more is public than was decided"
    found.worker.publish()
    assert found.public() in (stages[:1] if shown == "v1" else stages[1:]), "what was decided is not whole"
    found.finish()
    assert found.public() == stages[-1]
    before = found.head()
    found.finish()
    assert not rescoring.request_apply(found.board.database, MAINTAINER, BENCHMARK, "v2", "again", "v2").changed
    assert (found.head(), found.public()) == (before, stages[-1]), "done again, it does something"
    found.board.database.close()
    return shown, stages.index(public)


def _killed(
    copies: Copy, stages: list[dict[str, Any]], commit: int, moment: str, prepare: Prepare = a_worker
) -> tuple[str, int]:
    with copies() as installation:
        assert killed.run(installation, prepare, commit, moment) != 0
        return _look(installation, stages)


def test_a_kill_at_any_commit_of_an_apply_leaves_the_old_board_or_the_new_one(copies: Copy) -> None:
    stages = _stages(copies)
    with copies() as untouched:
        assert killed.commits(untouched, a_worker) == COMMITS
    # Killed after one commit is killed before the next; only after the last one there is no next.
    moved, published, related = (
        COMMITS.index("apply_job.apply") + 1,
        COMMITS.index("snapshot_job._publish") + 1,
        COMMITS.index("relations_job._record") + 2,
    )
    for commit in range(1, len(COMMITS) + 1):
        expected = ("v1" if commit <= moved else "v2", (commit > published) + (commit > related))
        assert _killed(copies, stages, commit, "before") == expected, f"killed before {COMMITS[commit - 1]}"
    assert _killed(copies, stages, len(COMMITS), "after") == ("v2", 2)


def test_the_same_look_finds_a_board_that_moves_before_its_scores(copies: Copy) -> None:
    prepare = a_worker_that_moves_the_board_first
    stages = _stages(copies)
    with copies() as untouched:
        split = killed.commits(untouched, prepare).index("apply_job._stage") + 1
    with pytest.raises(AssertionError, match="not whole"):
        _killed(copies, stages, split, "before", prepare)
