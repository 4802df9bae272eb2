"""Another scorer version: the old scores stay, and the board follows by preview, apply and undo, as for labels."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import func, select

from maintenance.actions import rescoring, tasks
from maintenance.actions.rescoring import RescoreRules
from maintenance.types import Conflict
from storage.database import Database
from storage.integrity import audit
from storage.models.core import AuditEvent, Score
from tests.databases import new_database, shown_board
from tests.factories import boards
from tests.factories.actions import decisions
from tests.factories.boards import RealBoard
from tests.factories.fakes import other_scorer
from tests.factories.refusals import refuses
from tests.factories.specs import VALUES, VL
from tests.factories.suite.command_process import CommandProcess
from vlrb.protocols import scores
from vlrb.scoring import Tally
from vlrb.votes import UNDECIDED, Votes
from workers.jobs.pairwise_statistics import compute_if_changed

BENCHMARK = "vl-rewardbench"
ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def next_release() -> Iterator[CommandProcess]:
    """A process in which workers count by other rules."""
    with CommandProcess({}, ROOT) as process:
        yield process


def _work(release: CommandProcess, board: RealBoard) -> None:
    """A worker of that release comes, works and goes."""
    url = board.database.engine.url
    done = release.run(other_scorer.__name__, url.render_as_string(False), str(Path(str(url.database)).parent))
    assert done.returncode == 0, done.stderr


def _shown(database: Database) -> tuple[str, str]:
    board = shown_board(database, BENCHMARK)
    return board.label_revision, board.scorer_version


def _as_the_rule_says(votes: Votes) -> Votes:
    return Votes(np.where(votes.matrix == UNDECIDED, 0, votes.matrix).astype(np.int8))


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> RealBoard:
    state = tmp_path_factory.mktemp("state")
    opened = new_database(f"sqlite:///{state}/board.db")
    return boards.open_board(opened, state, revision="v1")


def test_a_rule_change_is_previewed_applied_and_undone_without_losing_a_score(
    board: RealBoard, next_release: CommandProcess
) -> None:
    board.publish()
    assert compute_if_changed(board.database, board.scorer)  # as a running service has done long since
    before = boards.said(board.publish())
    _work(next_release, board)  # deployed: it scores for itself, and the board does not move
    assert (_shown(board.database), boards.said(board.publish())) == (("v1", "2"), before)
    with refuses(Conflict, "no-such-worker"):
        rescoring.request_preview(board.ctx, "v1")

    asked = rescoring.request_preview(board.ctx, "v1", selected=RescoreRules(scorer_version="3"))
    assert not board.runner.run_one(), "a worker of the old release leaves this to the new one"
    _work(next_release, board)
    assert asked.task_id is not None
    found = rescoring.preview(board.ctx, asked.task_id)
    votes = boards.judges()
    old = boards.scored("v1", board.ids)
    new = boards.scored("v1", board.ids, tuple(map(_as_the_rule_says, votes)))
    for row in found["entries"]:
        for name in ("rank", *VALUES):
            assert row[name] == pytest.approx([old[row["id"]][name], new[row["id"]][name]], abs=1e-12)
    assert found["summary"]["changed"] > 0
    assert found["labels"]["flipped"] == 0

    with refuses(Conflict, "not-confirmed"):
        rescoring.request_apply(board.ctx, "v1", "a rule", "v1", selected=RescoreRules(scorer_version="3"))
    told = ("v1", "a rule", rescoring.confirmation_for("v1", "3"))
    rescoring.request_apply(board.ctx, *told, selected=RescoreRules(scorer_version="3"))
    _work(next_release, board)
    assert tasks.recent_tasks(board.ctx)[0].state == "done"
    assert _shown(board.database) == ("v1", "3")
    with board.database.read() as session:
        counted = dict(session.execute(select(Score.scorer_version, func.count()).group_by(Score.scorer_version)).all())  # type: ignore[arg-type]
        (event,) = [
            json.loads(body)
            for body in session.scalars(select(AuditEvent.body).where(AuditEvent.kind == "rescore.applied"))
        ]
    newest = decisions(board.database)[0]
    assert newest["kind"] == "rescore.applied"
    assert newest["sentence"].endswith("v1 (scorer version 2) to v1 (scorer version 3): a rule")
    assert counted == {"2": len(votes), "3": len(votes)}
    assert (event["to"], event["moved"]) == ({"label_revision": "v1", "scorer_version": "3"}, found["summary"]["moved"])
    for entry in board.publish()["entries"]:
        shown = scores(Tally.from_json(entry["tallies"]["v1"], VL))
        assert {**shown, "rank": new[entry["id"]]["rank"]} == pytest.approx(new[entry["id"]])

    assert rescoring.undo(board.ctx, "v1", reason="look again", confirmation="v1").changed
    assert (_shown(board.database), boards.said(board.publish())) == (("v1", "2"), before)
    assert not rescoring.undo(board.ctx, "v1", reason="look again", confirmation="v1").changed
    with board.database.read() as session:
        assert audit.verify(session) is None
