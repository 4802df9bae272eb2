"""Disclosure of imported labels: chosen, widened and taken back in time; and labels that hide little."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from leaderboard.site.queries import DatabaseSnapshots
from maintenance import previews
from maintenance.actions import labels, operations, rescoring
from maintenance.types import ActionResult, Conflict, NotFound
from maintenance.view import terminal
from storage.labels import label_levels
from submissions import policy_text
from tests.databases import shown_board
from tests.factories import boards
from tests.factories.actions import decisions
from tests.factories.boards import RealBoard
from tests.factories.refusals import refuses
from tests.factories.specs import spec_of
from vlrb.disclosure import CANNOT_BE_HIDDEN, measured_sentence

BENCHMARK = "vl-rewardbench"


@pytest.fixture
def board(tmp_path: Path) -> RealBoard:
    """Of two judges, under v1, whose labels are public."""
    return boards.in_sqlite(tmp_path, judges=2)


def _revision(board: RealBoard, name: str = "v2") -> Any:
    return next(one for one in labels.revisions(board.ctx) if one.revision == name)


def _apply(board: RealBoard) -> ActionResult:
    done = board.apply()
    board.publish()
    return done


def _snapshot(board: RealBoard) -> Any:
    name = shown_board(board.database, BENCHMARK).snapshot_id
    return DatabaseSnapshots(board.database, spec_of(BENCHMARK)).load(name or "")


def _not_possible(act: Callable[[], object]) -> str:
    with pytest.raises(Conflict) as refused:
        act()
    return refused.value.code


# --- labels that cannot be hidden ----------------------------------------------------------------------------------


def test_an_import_says_where_a_hidden_set_nearly_says_what_a_public_one_does(board: RealBoard) -> None:
    assert CANNOT_BE_HIDDEN.format(hidden="v2", public="v1") in board.import_labels().outcome
    assert labels.disclose(board.ctx, "v2", reason="as the import says", confirmation="v2").changed
    assert board.import_labels("v3", level="public").outcome.endswith("imported as a draft.")  # as v1 and v2 are


def test_an_import_of_public_labels_says_which_hidden_ones_they_give_away(board: RealBoard) -> None:
    with board.database.write() as session:
        label_levels.state(session, BENCHMARK, revision="v1", level="hidden")
    assert CANNOT_BE_HIDDEN.format(hidden="v1", public="v2") in board.import_labels(level="public").outcome
    assert board.import_labels("v3").outcome.count("agree") == 1, "of two hidden ones neither gives the other away"


# --- what readers see -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("level", "said"),
    [
        ("public", "Readers will see everything; now they see as much."),
        ("hidden:categories", "Readers will see the overall to half a point, and the categories, rounded;"),
        ("hidden", "Readers will see the overall alone, to half a point; now they see everything."),
    ],
)
def test_preview_and_apply_say_what_readers_will_see(board: RealBoard, level: str, said: str) -> None:
    board.import_labels(level=level)
    found = board.preview()
    assert (found["disclosure"]["from"], found["disclosure"]["to"]) == ("public", level)
    assert said in terminal(previews.shown(found))
    with refuses(Conflict, "not-confirmed") as asked:
        rescoring.request_apply(board.ctx, "v2", "because", "")
    assert said in str(asked.value)
    assert said in _apply(board).message


def test_going_back_to_public_labels_shows_everything_again(board: RealBoard) -> None:
    with board.database.write() as session:
        label_levels.state(session, BENCHMARK, revision="v1", level="hidden")
    board.import_labels(level="public")
    assert "Readers will see everything; now they see the overall alone" in rescoring.effect(board.ctx, "v2")


def test_health_and_the_policy_say_what_the_scores_under_hidden_labels_give_away(board: RealBoard) -> None:
    board.import_labels(level="hidden:categories")
    ctx = board.ctx
    assert operations.health(ctx).measured == {}, "of a draft nobody sees a score"
    _apply(board)
    found = operations.health(ctx)
    assert found.measured == {"v2": {"gain": 3.2, "steps": {"general": 5.0, "hallucination": 0.5, "reasoning": 5.0}}}
    kept = {"disclosure": {"v2": "hidden:categories"}, "measured": found.measured}
    ((_, _, told),) = policy_text.disclosures(kept)
    for page in (terminal(operations.health.view(found)), told):
        assert measured_sentence(found.measured["v2"]) in page


# --- disclose ---------------------------------------------------------------------------------------------------------


def test_a_revision_is_made_public_for_good_and_everybody_sees_more(board: RealBoard) -> None:
    board.import_labels(level="hidden")
    _apply(board)
    done = labels.disclose(board.ctx, "v2", reason="the paper is out", confirmation="v2")
    assert done.changed
    assert "Readers will see everything" in done.message
    board.publish()
    assert _snapshot(board)["disclosure"] == {}
    assert _revision(board).disclosure == "public"
    said = decisions(board.database)[0]
    assert (said["kind"], said["sentence"]) == ("labels.disclosed", "Label revision v2 is public now: the paper is out")
    assert said["by"] == "maintainer"
    assert not labels.disclose(board.ctx, "v2", reason="again", confirmation="v2").changed


def test_of_a_draft_that_is_disclosed_nobody_hears(board: RealBoard) -> None:
    board.import_labels()
    assert labels.disclose(board.ctx, "v2", reason="no harm", confirmation="v2").changed
    assert all(one["kind"] != "labels.disclosed" for one in decisions(board.database))
    assert _revision(board).disclosure == "public"


def test_what_the_settings_hide_the_settings_disclose(board: RealBoard) -> None:
    ctx = board.ctx
    with refuses(Conflict, "configured") as refused:
        labels.disclose(ctx, "v1", reason="because", confirmation="v1")
    assert refused.value.code == "configured"
    board.import_labels()
    assert _not_possible(lambda: labels.disclose(ctx, "v2", reason="because", confirmation="v3")) == "not-confirmed"
    with pytest.raises(NotFound):
        labels.disclose(ctx, "v9", reason="because", confirmation="v9")


# --- how it is asked for ----------------------------------------------------------------------------------------------


def test_a_level_is_one_of_three(board: RealBoard) -> None:
    assert "imported" in board.import_labels("a1").outcome
    assert "imported" in board.import_labels("a2", level="public").outcome
    assert [_revision(board, name).disclosure for name in ("a1", "a2")] == ["hidden", "public"]
    assert _not_possible(lambda: board.import_labels("a3", level="secret")) == "unknown-level"
