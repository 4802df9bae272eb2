"""Columns are declared once."""

from leaderboard.ranking.rows import BoardRow
from storage import metadata
from tests.factories.specs import BY_KEY, COLUMNS, USUAL, VL


def test_every_column_is_a_value_of_a_row_and_stands_once() -> None:
    assert all(column.key in {*dir(BoardRow), *VL.score_names, *metadata.COLUMNS} for column in COLUMNS)
    assert len(BY_KEY) == len(COLUMNS)


def test_a_board_shows_rank_judge_and_scores_unless_others_are_asked_for() -> None:
    assert USUAL == ("rank", "model", "macro", "overall", "general", "hallucination", "reasoning")
