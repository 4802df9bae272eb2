"""Another label revision on the real labels: preview, apply, undo."""

from __future__ import annotations

import hmac
import json
import stat
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, text, update
from sqlalchemy.orm import Session

from maintenance.actions import labels, rescoring
from maintenance.actions import tasks as requested
from maintenance.types import ActionResult, Conflict, NotFound
from storage.annotation import annotation_projects
from storage.database import Database
from storage.integrity import audit
from storage.jobs import tasks
from storage.jobs.leases import MAX_ATTEMPTS, release_expired
from storage.labels import label_levels, label_sets
from storage.models.core import BoardState as BoardRow
from storage.models.core import Snapshot, Submission
from storage.models.queue import Task
from tests.factories import boards
from tests.factories.accounts import MAINTAINER, SECOND_MAINTAINER
from tests.factories.actions import by, decisions
from tests.factories.boards import RealBoard
from tests.factories.refusals import refuses
from tests.factories.specs import VL
from tests.maintenance.concurrency_helpers import at_once
from vlrb.disclosure import CANNOT_BE_HIDDEN
from vlrb.protocols import scores
from vlrb.scoring import Tally
from vlrb.statistics.pairwise import RankRange, rank_ranges_of
from workers.jobs.pairwise_statistics import compute_if_changed
from workers.jobs.preview import ranges_in_ranks
from workers.jobs.rescore import rescore
from workers.startup import register

BENCHMARK = "vl-rewardbench"


@pytest.fixture
def v1(database: Database, tmp_path: Path) -> RealBoard:
    return boards.open_board(database, tmp_path / "state", revision="v1")


def _digest(database: Database) -> str | None:
    """Of all bytes of the current snapshot but for when it was made."""
    with database.read() as session:
        current = select(Snapshot.content_sha256).join(BoardRow, BoardRow.snapshot_id == Snapshot.id)
        return session.execute(current).scalar_one()


@pytest.mark.parametrize(("before", "tags"), [("v1", None), ("v0", 0)])
def test_an_import_counts_sixteen_flipped_labels_and_three_dropped_items(
    tmp_path: Path, before: str, tags: int | None
) -> None:
    board = boards.in_sqlite(tmp_path, before, judges=1)
    board.import_labels()
    (found,) = [one for one in labels.revisions(board.ctx) if one.revision == "v2"]
    assert found.difference == {
        "against": before,
        "items_before": 1250,
        "items_after": 1247,
        "flipped": 16,
        "added": 0,
        "dropped": 3,
        "tags_changed": tags,
        "measured": {"gain": 2.4},
        "given_away": [CANNOT_BE_HIDDEN.format(hidden="v2", public=before)],
    }
    assert (found.items, found.published_at, found.reason) == (1247, None, "the authors changed labels")


@pytest.mark.parametrize("before", ["v1", "v0"])
def test_a_preview_has_the_scores_and_ranks_under_both_label_sets(tmp_path: Path, before: str) -> None:
    board = boards.in_sqlite(tmp_path, before)
    board.import_labels()
    found = board.preview()
    old, new = (boards.scored(revision, board.ids) for revision in (before, "v2"))
    assert {row["id"] for row in found["entries"]} == set(board.ids)
    assert (found["labels"]["flipped"], found["labels"]["dropped"]) == (16, 3)
    for row in found["entries"]:
        for name in ("rank", *VL.score_names):
            assert row[name] == pytest.approx([old[row["id"]][name], new[row["id"]][name]], abs=1e-12)
    assert found["summary"]["moved"] == sum(old[name]["rank"] != new[name]["rank"] for name in board.ids) > 0
    largest = max(abs(new[name]["macro"] - old[name]["macro"]) for name in board.ids)
    assert found["summary"]["largest_change"] == pytest.approx(largest, abs=1e-12)


def _shown_ranges(board: RealBoard, revision: str) -> dict[str, list[int]]:
    """Return the rank ranges that the public sees."""
    board.publish()
    compute_if_changed(board.database, board.scorer)
    summary = board.publish()["relations"][revision]
    return {
        name: [one.best, one.worst] for name, one in rank_ranges_of(summary, VL.official, order=VL.headline).items()
    }


def test_rank_ranges_of_a_preview_are_those_of_the_board_before_and_after_the_apply(tmp_path: Path) -> None:
    board = boards.in_sqlite(tmp_path, "v1", judges=6)
    before = _shown_ranges(board, "v1")
    board.import_labels(level="public")
    found = {row["id"]: row["rank_range"] for row in board.preview()["entries"]}
    board.apply()
    after = _shown_ranges(board, "v2")
    assert found == {name: [before.get(name), after.get(name)] for name in board.ids}
    assert any(None not in ranges for ranges in found.values())


def test_rank_ranges_count_entries_as_ranks_do_where_a_judge_has_several() -> None:
    ranks = {"best": 1, "its other version": 2, "next": 3, "last": 4}
    ranges = {"best": RankRange(1, 2), "next": RankRange(1, 2), "last": RankRange(3, 3)}
    assert ranges_in_ranks(ranges, ranks) == {"best": [1, 3], "next": [1, 3], "last": [4, 4]}


def test_pairs_whose_labels_change_are_listed_only_where_both_sets_are_public(tmp_path: Path) -> None:
    board = boards.in_sqlite(tmp_path, "v1", judges=1)
    board.import_labels(level="public")
    pairs = board.preview()["pairs"]
    assert Counter(pair["change"] for pair in pairs) == {"flipped": 16, "dropped": 3}
    assert {(pair["before"], pair["after"]) for pair in pairs if pair["change"] == "flipped"} == {
        ("A", "B"),
        ("B", "A"),
    }
    board.import_labels("v2-hidden", source=str(boards.labels_file("v2")), level="hidden")
    assert "pairs" not in board.preview("v2-hidden")


def test_a_preview_changes_nothing_that_is_public(tmp_path: Path) -> None:
    board = boards.in_sqlite(tmp_path, "v1")
    before = boards.said(board.publish())
    board.import_labels()
    board.preview()
    assert boards.said(board.publish()) == before
    assert before["label_revisions"] == ["v1"]


def test_apply_shows_the_new_board_and_undo_the_old_one_unchanged(v1: RealBoard) -> None:
    before = v1.publish()
    digest = _digest(v1.database)
    v1.import_labels()
    assert v1.apply().changed
    assert boards.shown(v1.database) == "v2"
    after = v1.publish()
    expected = boards.scored("v2", v1.ids)
    assert [entry["id"] for entry in after["entries"]] == [entry["id"] for entry in before["entries"]] == v1.ids
    for entry in after["entries"]:
        shown = scores(Tally.from_json(entry["tallies"]["v2"], VL))
        assert {**shown, "rank": expected[entry["id"]]["rank"]} == pytest.approx(expected[entry["id"]])
    assert after["label_revisions"] == ["v1", "v2"]
    assert v1.undo().changed
    assert boards.shown(v1.database) == "v1"
    assert boards.said(v1.publish()) == boards.said(before)
    assert _digest(v1.database) == digest, "the same bytes"
    with v1.database.read() as session:
        assert audit.verify(session) is None


def test_apply_after_undo_shows_the_same_board_again(tmp_path: Path) -> None:
    board = boards.in_sqlite(tmp_path, "v0", judges=6)
    board.import_labels()
    board.apply()
    first = boards.said(board.publish())
    board.undo()
    board.publish()
    board.apply()
    assert boards.said(board.publish()) == first
    assert board.undo().changed


def test_apply_needs_the_revisions_name_typed(tmp_path: Path) -> None:
    board = boards.in_sqlite(tmp_path, "v1", judges=1)
    board.import_labels()
    for typed in ("", "V2", "v1", "yes"):
        with refuses(Conflict, "not-confirmed"):
            rescoring.request_apply(board.ctx, "v2", "because", typed)
    with refuses(Conflict, "reason-needed"):
        rescoring.request_apply(board.ctx, "v2", "  ", "v2")
    with pytest.raises(NotFound):
        rescoring.request_apply(board.ctx, "v9", "because", "v9")
    board.runner.run_all()
    assert boards.shown(board.database) == "v1"


def test_an_apply_on_a_board_that_moved_meanwhile_is_refused(tmp_path: Path) -> None:
    board = boards.in_sqlite(tmp_path, "v1", judges=2)
    board.import_labels()
    board.import_labels("v0")
    request = rescoring.request_apply(board.ctx, "v2", "because", "v2")
    with board.database.write() as session:  # as a worker would that was configured otherwise
        label_sets.register(session, "other", benchmark=BENCHMARK, digest="a" * 64, items=1250)
        label_sets.activate_revision(
            session, BENCHMARK, label_revision="other", scorer_version="1", reason="another way"
        )
    board.runner.run_all()
    assert request.task_id is not None
    task = requested.task(board.ctx, request.task_id)
    assert (task.state, boards.shown(board.database)) == ("failed", "other")
    assert "preview" in task.outcome


def test_what_arrives_during_an_apply_is_on_the_board_afterwards(tmp_path: Path) -> None:
    board = boards.in_sqlite(tmp_path, "v1", judges=3)
    board.import_labels()
    rescoring.request_apply(board.ctx, "v2", "because", "v2")
    late = boards.submit(board.database, boards.judges()[3:5], start=3)
    board.runner.run_all()
    from workers.runner import Worker, drain

    drain(Worker(board.database, [board.scorer], lease_seconds=60.0), lambda: False, rest=lambda seconds: None)
    assert {entry["id"] for entry in board.publish()["entries"]} == {*board.ids, *late}
    board.undo()
    drain(Worker(board.database, [board.scorer], lease_seconds=60.0), lambda: False, rest=lambda seconds: None)
    assert {entry["id"] for entry in board.publish()["entries"]} == {*board.ids, *late}


def test_labels_lie_in_a_private_file_and_nowhere_in_the_database(tmp_path: Path) -> None:
    board = boards.in_sqlite(tmp_path, "v1", judges=2)
    board.import_labels()
    board.preview()
    board.apply()
    directory = tmp_path / "state" / "labels" / BENCHMARK
    (file,) = directory.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    salt = json.loads(file.read_text())["salt"]
    board.database.close()
    stored = b"".join(path.read_bytes() for path in tmp_path.glob("board.db*"))
    for item in boards.table().items[:50]:
        assert item.key.encode() not in stored
    assert salt.encode() not in stored
    assert b"wildvision-battle-1227" not in stored  # one of those that flipped


def test_a_retired_revision_can_be_checked_against_its_commitment(tmp_path: Path) -> None:
    board = boards.in_sqlite(tmp_path, "v1", judges=1)
    board.import_labels()
    board.apply()
    with refuses(Conflict, "in-use"):
        labels.request_retire(board.ctx, "v2", reason="over", confirmation="v2")
    board.undo()
    for typed in ("", "v1", "V2"):
        with refuses(Conflict, "not-confirmed"):
            labels.request_retire(board.ctx, "v2", reason="over", confirmation=typed)
    with board.database.write() as session:  # its answers would have no revision left to become a draft of
        project = annotation_projects.create(
            session,
            BENCHMARK,
            pairs=[annotation_projects.ProjectPair("a" * 64)],
            name="may",
            base_revision="v2",
            reason="to be sure",
            created_by="m",
            answers_wanted=2,
        )
    with refuses(Conflict, "in-use"):
        labels.request_retire(board.ctx, "v2", reason="over", confirmation="v2")
    with board.database.write() as session:
        annotation_projects.close(session, project, by="m")
    labels.request_retire(board.ctx, "v2", reason="over", confirmation="v2")
    board.runner.run_all()
    (found,) = [one for one in labels.revisions(board.ctx) if one.revision == "v2"]
    assert found.salt is not None
    kept = board.runner.store.load("v2")
    assert hmac.new(bytes.fromhex(found.salt), kept.labels.digest.encode(), sha256).hexdigest() == found.commitment
    with board.database.write() as session, refuses(Conflict, "retired"):
        labels.check_usable(session, BENCHMARK, revision="v2")
    with refuses(Conflict, "retired"):
        rescoring.request_apply(board.ctx, "v2", "because", "v2")


def test_a_revision_never_changes(tmp_path: Path) -> None:
    board = boards.in_sqlite(tmp_path, "v1", judges=1)
    board.import_labels()
    for name in ("v2", "v1"):
        with refuses(Conflict, "known-revision"):
            labels.request_import(board.ctx, name, "elsewhere.jsonl", "again")
    with refuses(Conflict, "reserved-name"):
        labels.request_import(board.ctx, "demo", "v2.jsonl", "because")
    assert board.runner.store.load("v2").labels.items == 1247


def test_label_files_are_imported_from_the_configured_directories_alone(tmp_path: Path) -> None:
    board = boards.in_sqlite(tmp_path, "v1", judges=1)
    inside, outside = tmp_path / "imports", tmp_path / "elsewhere"
    for folder in (inside, outside):
        folder.mkdir()
        (folder / "v2.jsonl").write_bytes(boards.labels_file("v2").read_bytes())
    (inside / "link.jsonl").symlink_to(outside / "v2.jsonl")
    runner = replace(board.runner, import_dirs=(inside,))
    limited = replace(board, runner=runner)
    named = (outside / "v2.jsonl", outside / "missing.jsonl", inside / "link.jsonl", "../elsewhere/v2.jsonl", inside)
    for number, source in enumerate(named):
        task = limited.import_labels(f"x{number}", source=str(source))
        assert task.state == "failed"
        assert task.outcome.startswith(f"{source} is neither") and f" below {inside} " in task.outcome
        assert "owner/name@commit" in task.outcome and "Put the file there" in task.outcome
    for number, source in enumerate((inside / "v2.jsonl", "v2.jsonl")):
        assert limited.import_labels(f"y{number}", source=str(source)).state == "done"


def test_a_file_that_is_no_label_set_fails_with_words_and_without_effect(tmp_path: Path) -> None:
    board = boards.in_sqlite(tmp_path, "v1", judges=1)
    view = board.import_labels("v3", source=str(tmp_path / "missing.jsonl"))
    assert view.state == "failed" and "missing.jsonl" in view.outcome
    assert [one.revision for one in labels.revisions(board.ctx)] == ["v1"]
    assert not (tmp_path / "state" / "labels" / BENCHMARK).exists()


@pytest.mark.parametrize("hidden", ["v1", "v2"])
def test_where_either_revision_is_hidden_the_public_sees_no_count_of_labels(tmp_path: Path, hidden: str) -> None:
    board = boards.in_sqlite(tmp_path, "v1", judges=3)
    if hidden == "v1":  # as HIDDEN_LABELS says
        with board.database.write() as session:
            label_levels.state(session, BENCHMARK, revision="v1", level="hidden")
    board.import_labels(level="hidden" if hidden == "v2" else "public")
    assert board.preview()["labels"]["flipped"] == 16  # maintainers are told
    board.apply()
    (event,) = boards.events(board.database, "rescore.applied")
    assert event["labels"] is None
    assert "largest_change" not in event, "of a macro average nothing is shown"
    assert board.undo().changed
    (back,) = boards.events(board.database, "rescore.undone")
    assert (back["labels"], back["entries"]) == (None, 3) and "largest_change" not in back
    said = json.dumps(decisions(board.database))
    assert "rescore.applied" in said and "rescore.undone" in said
    assert "flipped" not in said


def test_two_maintainers_who_apply_and_undo_at_once_have_one_effect(database: Database, tmp_path: Path) -> None:
    board = boards.open_board(database, tmp_path / "state", revision="v1", judges_wanted=3)
    board.import_labels()

    def applying(user: Any) -> Callable[[], ActionResult]:
        return lambda: rescoring.request_apply(by(database, user, benchmark=BENCHMARK), "v2", "because", "v2")

    results = at_once(applying(MAINTAINER), applying(SECOND_MAINTAINER), applying(MAINTAINER))
    assert sorted(result.changed for result in results if isinstance(result, ActionResult)) == [False, False, True], (
        results
    )
    workers = at_once(*[lambda: ActionResult(board.runner.run_all() > 0, "") for _ in range(3)])
    assert all(isinstance(one, ActionResult) for one in workers), workers
    assert len(boards.events(database, "rescore.applied")) == 1
    undoing = [
        lambda: rescoring.undo(
            by(database, MAINTAINER, benchmark=BENCHMARK), "v2", reason="too early", confirmation="v2"
        )
        for _ in range(3)
    ]
    results = at_once(*undoing)
    assert sorted(result.changed for result in results if isinstance(result, ActionResult)) == [False, False, True], (
        results
    )
    assert len(boards.events(database, "rescore.undone")) == 1
    with database.read() as session:
        assert audit.verify(session) is None


def test_another_worker_finds_published_labels_and_never_moves_the_board_away_from_them(tmp_path: Path) -> None:
    board = boards.in_sqlite(tmp_path, "v1", judges=2)
    board.import_labels()
    board.apply()
    again = boards.open_board(board.database, tmp_path / "state", revision="v1", judges_wanted=0)
    again.runner.refresh()
    assert set(again.scorer.revisions) == {"v1", "v2"}
    assert boards.shown(board.database) == "v2"
    elsewhere = boards.open_board(board.database, tmp_path / "elsewhere", revision="v1", judges_wanted=0)
    elsewhere.runner.refresh()  # its disk does not have them
    assert (set(elsewhere.scorer.revisions), boards.shown(board.database)) == ({"v1"}, "v2")
    with board.database.read() as session:
        assert session.scalars(select(Submission.id)).all()
        assert session.execute(text("SELECT count(*) FROM board")).scalar_one() == 1


def test_an_undo_says_what_goes_back_and_wants_the_name_typed(tmp_path: Path) -> None:
    board = boards.in_sqlite(tmp_path, "v1", judges=3)
    board.import_labels()
    board.apply()
    ctx = board.ctx
    with refuses(Conflict, "not-confirmed") as refused:
        rescoring.undo(ctx, "v2", reason="too early", confirmation="")
    assert "revision v1" in str(refused.value) and boards.shown(board.database) == "v2"
    assert rescoring.undo_effect(ctx, "v1") == "", "there is nothing to undo"
    assert board.undo().changed and boards.shown(board.database) == "v1"


def test_an_apply_whose_workers_died_five_times_goes_on_where_it_stopped_when_asked_again(tmp_path: Path) -> None:
    board = boards.in_sqlite(tmp_path, "v1", judges=4)
    board.import_labels(level="public")
    asked = rescoring.request_apply(board.ctx, "v2", "because", "v2")
    for attempt in range(1, MAX_ATTEMPTS + 1):
        with board.database.write() as session:
            claim = tasks.claim(session, "killed", lease_seconds=60.0)
        assert claim is not None and claim.attempts == attempt
        if attempt == 1:  # it came as far as two entries

            def die(session: Session, done: int) -> None:
                if done > 2:
                    raise InterruptedError

            labels_of_v2 = {"v2": board.runner.store.load("v2").labels}
            register(board.database, staged := replace(board.scorer, labels=labels_of_v2), revision="v2")
            with pytest.raises(InterruptedError):
                rescore(board.database, staged, revision="v2", chunk=2, first=die)
        with board.database.write() as session:
            session.execute(update(Task).where(Task.state == "running").values(lease_until=1.0))
        with board.database.write() as session:
            assert release_expired(session) == 1
    failed = requested.task(board.ctx, asked.task_id or 0)
    assert (failed.state, boards.shown(board.database)) == ("failed", "v1")
    assert failed.outcome.endswith("where it stopped.")
    again = requested.task(board.ctx, board.apply().task_id or 0)
    assert (again.state, boards.shown(board.database), again.total) == ("done", "v2", 2)
