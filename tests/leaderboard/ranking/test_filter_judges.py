"""Judges that filtered the pairs of an edition are marked on its board and on their pages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from starlette.testclient import TestClient

from leaderboard.ranking.filter_judges import EXPLANATION, MARK, is_filter_judge
from leaderboard.ranking.rows import build_board
from tests.factories.board_app import serve
from tests.factories.snapshots import FixedSource, entry, snapshot
from tests.factories.specs import VL
from tests.leaderboard.ranking.test_board import reported


@pytest.mark.parametrize(
    ("names", "marked"),
    [
        (("Qwen2-VL-7B",), True),
        (("Qwen/qwen2 vl 7b-Instruct",), True),
        (("Mine", "Qwen2-VL-7B"), True),
        (("Qwen2.5-VL-7B",), False),
        (("Qwen2-VL-72B",), False),
        (("LLaVA-OneVision-7B-ov",), False),
        (("",), False),
    ],
)
def test_a_judge_is_known_by_its_name_whatever_its_case_owner_and_tuning(names: tuple[str, ...], marked: bool) -> None:
    assert is_filter_judge(names, VL.filtered_by) is marked


def _found() -> list[dict[str, Any]]:
    return [entry(1, 0.7), entry(2, 0.3, model="Qwen2-VL-7B-Instruct")]


def test_rows_of_filter_judges_say_so_before_other_notes() -> None:
    board = build_board(snapshot(_found()), VL, published=[reported("Qwen2-VL-7B (reported)"), reported()])
    notes = {row.model: row.note for row in board.rows}
    assert notes["Qwen2-VL-7B-Instruct"].startswith(MARK)
    assert notes["Qwen2-VL-7B (reported)"].startswith(MARK)
    assert not notes["Judge 1"].startswith(MARK)
    assert [row.filter_judge for row in board.rows].count(True) == 2


def test_an_edition_that_nobody_filtered_marks_nobody() -> None:
    board = build_board(snapshot(_found()), replace(VL, filtered_by=()))
    assert not any(row.filter_judge for row in board.rows)


def test_the_board_explains_the_mark_and_the_entry_says_it_in_a_sentence() -> None:
    client = TestClient(serve(FixedSource(snapshot(_found())), published=()))
    board = client.get("/").text
    assert f"<em>{MARK}" in board
    assert "biased downward" in board
    first, second = (one["id"] for one in _found())
    assert EXPLANATION not in client.get(f"/entries/{first}").text
    assert EXPLANATION in client.get(f"/entries/{second}").text
