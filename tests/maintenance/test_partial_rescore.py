"""Staging by several workers, and applying to a part: one entry, a filter, what lacks a score."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, select, text, update

from maintenance.actions import entries as moderation
from maintenance.actions import labels, operations, rescoring
from maintenance.actions.labels import DisclosureLevel
from maintenance.actions.rescoring import RescoreScope
from maintenance.types import Conflict, NotFound
from storage.database import Database
from storage.integrity import audit
from storage.jobs import tasks
from storage.jobs.leases import LeaseLost
from storage.jobs.release import release_expired
from storage.jobs.tasks import TaskClaim, TaskKind, TaskRequest
from storage.models.core import Score
from storage.models.queue import Job, State, Task
from tests.databases import a_submission, accept
from tests.factories import boards
from tests.factories.accounts import MAINTAINER
from tests.factories.actions import by
from tests.factories.boards import RealBoard
from tests.factories.refusals import refuses
from vlrb.scorecard import SCORER_VERSION
from workers.jobs.rescore import score_some
from workers.startup import register

PIECE = TaskKind.PIECE
BENCHMARK = "vl-rewardbench"


def _import(board: RealBoard) -> None:
    source = str(boards.labels_file("v2"))
    labels.request_import(board.ctx, "v2", source, "the authors changed labels", level=DisclosureLevel(public=True))
    board.runner.run_all()


def _apply(board: RealBoard, revision: str = "v2", **scope: Any) -> Any:
    asked = rescoring.request_apply(board.ctx, revision, "because", revision, RescoreScope(**scope))
    board.runner.run_all()
    return asked if asked.task_id is None else operations.task(board.ctx, asked.task_id)


def _scored(database: Database, revision: str) -> set[str]:
    with database.read() as session:
        return set(session.scalars(select(Score.submission_id).where(Score.label_revision == revision)))


def test_the_pieces_of_an_apply_are_done_by_all_workers_and_each_leaves_one_event(
    database: Database, tmp_path: Path
) -> None:
    board = boards.open_board(database, tmp_path / "state", revision="v1")
    _import(board)
    before = len(boards.events(database, "scores.recorded"))
    first, second, third = (replace(board.runner, worker=name, chunk=2) for name in ("first", "second", "third"))
    rescoring.request_apply(by(database, MAINTAINER, benchmark=BENCHMARK), "v2", "because", "v2")
    assert first.run_one()  # it splits the task, and holds nothing any more
    with database.read() as session:
        (task,) = tasks.latest(session, 1)
    assert (task.state, task.progress, task.total) == ("running", 0, len(board.ids))
    workers = [threading.Thread(target=runner.run_all) for runner in (first, second, third)]
    for thread in workers:
        thread.start()
    for thread in workers:
        thread.join()
    with database.read() as session:
        pieces = session.execute(select(Task.worker, Task.state, Task.total).where(Task.kind == PIECE)).all()
        assert audit.verify(session) is None
    assert sum(row.total or 0 for row in pieces) == len(board.ids)
    assert {row.state for row in pieces} == {State.DONE.value}
    assert {row.worker for row in pieces} <= {"first", "second", "third"}
    recorded = boards.events(database, "scores.recorded")[before:]
    assert sum(event["scores"] for event in recorded) == len(board.ids)
    assert len(recorded) == len(pieces) == -(-len(board.ids) // 2)
    assert all(len(event["commitments"]) == event["scores"] for event in recorded)
    assert (boards.shown(database), _scored(database, "v2")) == ("v2", set(board.ids))
    assert [one.kind for one in operations.recent_tasks(by(database, MAINTAINER))] == ["rescore.apply", "labels.import"]


def test_a_piece_whose_worker_died_is_done_by_another(tmp_path: Path) -> None:
    board = boards.in_sqlite(tmp_path, judges=6)
    _import(board)
    rescoring.request_apply(board.ctx, "v2", "because", "v2")
    register(board.database, replace(board.scorer, labels={"v2": board.runner.store.load("v2").labels}), revision="v2")
    with board.database.write() as session:  # split, and one piece taken by somebody who is gone
        claim = tasks.claim(session, "dead", lease_seconds=60.0)
        assert claim is not None
        parts = (board.ids[:3], board.ids[3:])
        tasks.split(session, claim, parts=[({"entries": part, "round": 0}, 3) for part in parts])
        taken = tasks.claim(session, "dead", lease_seconds=60.0)
        assert taken is not None
        assert taken.kind == PIECE
        session.execute(update(Task).where(Task.state == State.RUNNING.value).values(lease_until=1.0))
    with board.database.write() as session:
        release_expired(session)
    board.runner.run_all()
    assert (boards.shown(board.database), _scored(board.database, "v2")) == ("v2", set(board.ids))


def test_a_piece_that_always_fails_ends_the_apply_with_the_board_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    board = boards.in_sqlite(tmp_path, judges=4)
    _import(board)
    old = boards.said(board.publish())
    with board.database.write() as session:  # a database that refuses these scores, as a full disk would
        session.execute(
            text(
                "CREATE TRIGGER no_more BEFORE INSERT ON scores WHEN NEW.label_revision = 'v2' "
                "BEGIN SELECT RAISE(ABORT, 'no'); END"
            )
        )
    with pytest.raises(Exception, match="no"):  # the database's own trouble is not swallowed: the lease will end
        _apply(board)
    assert (boards.shown(board.database), boards.said(board.publish())) == ("v1", old)
    with board.database.write() as session:
        session.execute(text("DROP TRIGGER no_more"))
        session.execute(update(Task).where(Task.state == State.RUNNING.value).values(lease_until=1.0))
    with board.database.write() as session:
        release_expired(session)
    board.runner.run_all()
    assert boards.shown(board.database) == "v2"


def test_a_part_is_scored_under_another_revision_and_the_board_stays(tmp_path: Path) -> None:
    board = boards.in_sqlite(tmp_path)
    _import(board)
    old = boards.said(board.publish())
    task = _apply(board, entries=[board.ids[3]])
    assert (task.state, boards.shown(board.database)) == ("done", "v1")
    assert "1 entry scored" in task.outcome
    assert _scored(board.database, "v2") == {board.ids[3]}
    assert boards.said(board.publish()) == old, "a draft is not seen, in part either"
    task = _apply(board, where={"model": "judge 1"})
    some = {name for number, name in enumerate(board.ids) if str(number).startswith("1")}
    assert _scored(board.database, "v2") == some | {board.ids[3]}
    again = _apply(board, where={"model": "judge 1"})
    assert (again.changed, again.task_id) == (False, None)
    events = boards.events(board.database, "rescore.staged")
    assert [(event["scores"], event["left"], event["reason"]) for event in events] == [
        (1, 0, "because"),
        (len(some), 0, "because"),
    ]
    assert not boards.events(board.database, "rescore.applied")
    _apply(board)  # the whole goes on where the parts stopped
    assert (boards.shown(board.database), _scored(board.database, "v2")) == ("v2", set(board.ids))
    expected = boards.slow_board("v2", board.ids, votes=boards.judges())
    for entry in board.publish()["entries"]:
        n, agree = (sum(row[field] for row in entry["tallies"]["v2"]["counts"][:7]) for field in (0, 1))
        assert agree / n == pytest.approx(float(expected[entry["id"]].shares["overall"]))


def test_an_entry_that_could_not_be_scored_is_put_right_where_it_is(tmp_path: Path) -> None:
    board = boards.in_sqlite(tmp_path, judges=3)
    lost = board.ids[1]
    with board.database.write() as session:
        session.connection().exec_driver_sql("DROP TRIGGER scores_no_delete")
        session.execute(delete(Score).where(Score.submission_id == lost))
        failed = {"state": State.FAILED.value, "outcome": "a fault", "finished_at": 1.0, "lease_until": None}
        session.execute(update(Job).where(Job.submission_id == lost).values(**failed))
    assert lost not in {entry["id"] for entry in board.publish()["entries"]}
    task = _apply(board, revision="v1", entries=[lost])
    assert "1 entry scored" in task.outcome
    assert lost in {entry["id"] for entry in board.publish()["entries"]}
    assert not operations.health(board.ctx).failures
    assert boards.shown(board.database) == "v1"


def test_what_cannot_be_scored_is_counted_and_an_unknown_filter_is_refused(tmp_path: Path) -> None:
    board = boards.in_sqlite(tmp_path, judges=1)
    with board.database.write() as session:
        (name,) = accept(session, [a_submission(99, benchmark=BENCHMARK, votes=b"\x00")])
    task = _apply(board, revision="v1", entries=[name])
    assert (task.state, "1 could not be scored" in task.outcome) == ("done", True)
    with refuses(Conflict, "unknown-filter"):
        rescoring.request_apply(board.ctx, "v1", "x", "v1", selected=RescoreScope(where={"colour": "red"}))


def test_an_entry_that_arrives_while_a_part_is_staged_is_not_counted_among_it(tmp_path: Path) -> None:
    board = boards.in_sqlite(tmp_path, judges=3)
    _import(board)
    rescoring.request_apply(board.ctx, "v2", "because", "v2", selected=RescoreScope(where={"owner": "aowner000000"}))
    assert board.runner.run_one()  # split
    boards.submit(board.database, boards.judges()[3:4], start=50)
    board.runner.run_all()
    (done, *_) = operations.recent_tasks(board.ctx)
    assert "3 entries scored" in done.outcome
    assert "could not be scored" not in done.outcome
    assert boards.events(board.database, "rescore.staged")[0]["left"] == 0
    assert _scored(board.database, "v2") == set(board.ids)


@dataclass(frozen=True)
class PartialRescore:
    """A task that one worker has split in three; another worker is at the first piece."""

    database: Database
    task: TaskClaim
    piece: TaskClaim

    def pieces(self) -> list[str]:
        with self.database.read() as session:
            return list(session.scalars(select(Task.state).where(Task.kind == PIECE)))

    def expire(self) -> None:
        """Both workers are gone."""
        with self.database.write() as session:
            session.execute(update(Task).where(Task.state == State.RUNNING.value).values(lease_until=1.0))
        with self.database.write() as session:
            release_expired(session)


@pytest.fixture
def split(database: Database) -> PartialRescore:
    with database.write() as session:
        wanted = TaskRequest(
            "rescore.apply",
            "v2",
            params={},
            reason="because",
            requested_by="amaintainer0",
            benchmark="demo",
            scorer_version="1",
        )
        tasks.request(session, wanted)
        task = tasks.claim(session, "first", lease_seconds=60.0)
        assert task is not None
        tasks.split(session, task, parts=[({"entries": [f"e{number}"], "round": 0}, 1) for number in range(3)])
        piece = tasks.claim(session, "second", lease_seconds=60.0)
        assert piece is not None
    return PartialRescore(database, task, piece=piece)


def _claimed_again(split: PartialRescore) -> TaskClaim:
    """One piece has failed for good, so a worker takes the task."""
    with split.database.write() as session:
        tasks.fail(session, split.piece, words="a fault", retry=False)
        second = tasks.claim(session, "second", lease_seconds=60.0)
        assert second is not None
        assert second.kind == PIECE
        third = tasks.claim(session, "third", lease_seconds=60.0)
        assert third is not None
        task = tasks.claim(session, "first", lease_seconds=60.0)
    assert task is not None
    assert (task.id, task.attempts) == (split.task.id, 1), "giving it back to its pieces was no failure"
    return task


def test_a_task_waits_for_its_pieces_and_nobody_holds_it(split: PartialRescore) -> None:
    with split.database.write() as session:
        for number in range(3):
            piece = split.piece if number == 0 else tasks.claim(session, "third", lease_seconds=60.0)
            assert piece is not None
            assert piece.kind == PIECE
            last = number == 2
            assert not (last and tasks.any_waiting(session))
            tasks.finish(session, piece, result={}, outcome="")
        task = tasks.claim(session, "third", lease_seconds=60.0)
        assert task is not None
        assert task.id == split.task.id
        with pytest.raises(LeaseLost):
            tasks.finish(session, split.task, result={}, outcome="by the worker that has split it")


def test_pieces_end_with_a_task_that_failed_also_the_one_that_somebody_is_at(split: PartialRescore) -> None:
    task = _claimed_again(split)
    with split.database.write() as session:
        held = session.scalars(select(Task.id).where(Task.kind == PIECE, Task.worker == "third")).one()
        late_piece = replace(split.piece, id=held, epoch=1, worker="third")
        tasks.fail(session, task, words="some entries could not be scored", retry=False)
    assert split.pieces() == [State.FAILED.value]
    for late in (
        lambda session: tasks.finish(session, late_piece, result={}, outcome=""),
        lambda session: tasks.fail(session, late_piece, words="a fault", retry=True),
    ):
        with pytest.raises(LeaseLost), split.database.write() as session:
            late(session)
    split.expire()
    with split.database.read() as session:
        assert not tasks.any_waiting(session)
    assert split.pieces() == [State.FAILED.value]


def test_pieces_end_with_a_task_that_is_given_up_because_its_workers_die(split: PartialRescore) -> None:
    task = _claimed_again(split)
    with split.database.write() as session:
        session.execute(update(Task).where(Task.id == task.id).values(attempts=5, epoch=5))
    with split.database.write() as session:  # the workers of the pieces are still at it
        session.execute(update(Task).where(Task.id == task.id).values(lease_until=1.0))
    with split.database.write() as session:
        release_expired(session)
    split.expire()
    with split.database.read() as session:
        parent = tasks.view(session, split.task.id)
        assert parent is not None
        assert (parent.state, audit.verify(session)) == ("failed", None)
    assert split.pieces() == [State.FAILED.value]


def test_pieces_of_a_task_that_is_tried_again_stay(split: PartialRescore) -> None:
    split.expire()
    assert split.pieces() == [State.QUEUED.value] * 3


MISTYPED: tuple[tuple[dict[str, Any], str], ...] = (
    ({"entries": ["nope"]}, "There is no entry 'nope'"),
    ({"where": {"model": "nobody's"}}, "No entry"),
)


@pytest.mark.parametrize(("scope", "said"), MISTYPED)
def test_a_scope_that_nothing_fits_is_refused_before_anything_is_asked(
    database: Database, tmp_path: Path, scope: dict[str, Any], said: str
) -> None:
    board = boards.open_board(database, tmp_path / "state", revision="v1", judges_wanted=2)
    _import(board)
    with database.read() as session:
        before = audit.head(session)
    for entries in ([], [board.ids[0]]):  # one that there is does not make up for one that there is not
        asked = {**scope, "entries": [*scope.get("entries", ()), *entries]}
        with pytest.raises((NotFound, Conflict), match=said):
            rescoring.request_preview(
                by(database, MAINTAINER, benchmark=BENCHMARK), "v2", selected=RescoreScope(**asked)
            )
        with pytest.raises((NotFound, Conflict), match=said):
            rescoring.request_apply(
                by(database, MAINTAINER, benchmark=BENCHMARK), "v2", "because", "v2", RescoreScope(**asked)
            )
    with database.read() as session:
        assert audit.head(session) == before


def test_a_preview_of_what_is_not_on_the_board_is_refused_and_it_may_be_scored(tmp_path: Path) -> None:
    board = boards.in_sqlite(tmp_path, judges=2)
    _import(board)
    moderation.withdraw(board.ctx, board.ids[0], "because")
    with refuses(Conflict, "nothing-in-scope"):
        rescoring.request_preview(board.ctx, "v2", selected=RescoreScope(entries=board.ids[:1]))
    task = _apply(board, entries=board.ids[:1])
    assert task.outcome.startswith("1 entry scored")


def test_a_part_that_was_scored_already_is_said_and_asks_nothing_of_a_worker(tmp_path: Path) -> None:
    board = boards.in_sqlite(tmp_path, judges=3)
    _import(board)
    scope: dict[str, Any] = {"entries": board.ids[:2]}
    _apply(board, **scope)
    with board.database.read() as session:
        before = audit.head(session)
    said = rescoring.request_apply(board.ctx, "v2", "because", "v2", RescoreScope(**scope))
    assert (said.changed, said.task_id) == (False, None)
    assert said.message.endswith(f"scorer version {SCORER_VERSION} already.")
    with board.database.read() as session:
        assert audit.head(session) == before


def test_a_part_that_others_have_scored_before_the_worker_came_is_said(tmp_path: Path) -> None:
    board = boards.in_sqlite(tmp_path, judges=2)
    _import(board)
    asked = rescoring.request_apply(board.ctx, "v2", "because", "v2", selected=RescoreScope(entries=board.ids[:1]))
    scored = replace(board.scorer, labels={"v2": board.runner.store.load("v2").labels})
    register(board.database, scored, revision="v2")
    score_some(board.database, scored, revision="v2", ids=board.ids[:1], first=lambda session: None)
    board.runner.run_all()
    assert asked.task_id is not None
    task = operations.task(board.ctx, asked.task_id)
    assert task.outcome.startswith("All entries") and task.outcome.endswith("revision v2 already.")


def test_an_apply_whose_workers_died_five_times_goes_on_where_it_stopped_when_asked_again(tmp_path: Path) -> None:
    board = boards.in_sqlite(tmp_path, judges=4)
    _import(board)
    asked = rescoring.request_apply(board.ctx, "v2", "because", "v2")
    scored = replace(board.scorer, labels={"v2": board.runner.store.load("v2").labels})
    register(board.database, scored, revision="v2")
    score_some(board.database, scored, revision="v2", ids=board.ids[:2], first=lambda session: None)
    for _ in range(tasks.MAX_ATTEMPTS):
        with board.database.write() as session:
            assert tasks.claim(session, "killed", lease_seconds=-1.0) is not None
            assert release_expired(session) == 1
    assert asked.task_id is not None
    failed = operations.task(board.ctx, asked.task_id)
    assert (failed.state, boards.shown(board.database)) == ("failed", "v1")
    assert failed.outcome.endswith("where it stopped.")
    again = _apply(board)
    assert (again.state, boards.shown(board.database), again.total) == ("done", "v2", 2)
