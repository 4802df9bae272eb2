"""Hints about a search that hides judges or names fields that do not exist."""

from __future__ import annotations

import re

from leaderboard.board.hints import UnstatedJudges, misread_words, unstated_judges
from leaderboard.board.query import BoardQuery, read_query, select
from leaderboard.board.rows import Board, build_board
from tests.factories.snapshots import entry, snapshot
from tests.factories.specs import VL
from vlrb.common.translations import translations


def board() -> Board:
    rows = [
        entry(1, 0.7, model="A", parameters_b=7.0, open_weights=True),
        entry(2, 0.6, model="B", parameters_b=72.0, open_weights=False),
        entry(3, 0.5, model="C"),
        entry(4, 0.4, model="D", open_weights=True),
    ]
    return build_board(snapshot(rows), VL)


def test_a_filter_says_how_many_scored_judges_do_not_state_what_it_asks_for() -> None:
    hidden = unstated_judges(board(), BoardQuery(VL, filters=(("max_size", "10"),)))
    assert hidden == UnstatedJudges(2, "size", shown=False)
    assert re.fullmatch(r"2 scored judges [\w ]+ size:", hidden.text) and hidden.link == "show them"
    assert unstated_judges(board(), BoardQuery(VL, search="size:<10")) == hidden


def test_several_fields_are_named_and_one_judge_is_one() -> None:
    hidden = unstated_judges(board(), BoardQuery(VL, search="open:yes size:<10 judge"))
    assert hidden is None  # no name has that word
    hidden = unstated_judges(board(), BoardQuery(VL, search="open:no size:<10"))
    assert hidden == UnstatedJudges(1, "weights or size", shown=False)
    assert re.fullmatch(r"1 scored judge [\w ]+ its weights or size:", hidden.text)
    assert not any(letter.isascii() and letter.isalpha() for letter in translations("zh-CN").text(hidden.text))


def test_judges_that_do_not_state_it_can_be_shown_too() -> None:
    view = read_query({"max_size": "10", "unstated": "1"}, (), spec=VL)
    assert {row.model for row in select(board(), view).rows} == {"A", "C", "D"}
    assert read_query(dict(pair.split("=") for pair in view.url()[2:].split("&")), (), spec=VL) == view
    shown = unstated_judges(board(), view)
    assert shown == UnstatedJudges(2, "size", shown=True)
    assert re.fullmatch(r"2 scored judges [\w ]+ size are shown:", shown.text) and shown.link == "hide them"


def test_a_search_that_hides_nothing_for_that_reason_says_nothing() -> None:
    for search in ("", "A", "macro:>90", "tier:scored"):
        assert unstated_judges(board(), BoardQuery(VL, search=search)) is None


def test_unknown_fields_are_named_with_the_known_ones() -> None:
    (sentence,) = misread_words(board(), BoardQuery(VL, search="foo:bar"))
    assert sentence.startswith("There is no field foo. Fields: id, model, ")
    assert "size" in sentence


def test_a_number_that_is_none_is_explained_with_an_example() -> None:
    (sentence,) = misread_words(board(), BoardQuery(VL, search="size:abc"))
    assert sentence.startswith("The field size takes a number") and sentence.endswith(" size:>5.")


def test_a_value_that_a_field_does_not_have_is_explained_with_those_it_has() -> None:
    (sentence,) = misread_words(board(), BoardQuery(VL, search="type:scalr"))
    assert sentence.startswith("The field type has no value scalr. Values: ")
    assert "scalar" in sentence
    for search in ("open:maybe", "tier:best"):
        assert len(misread_words(board(), BoardQuery(VL, search=search))) == 1, search
    for search in ("type:pair", "type:", "open:yes", "open:y", "tier:scored", 'type:"generative"'):
        assert misread_words(board(), BoardQuery(VL, search=search)) == [], search


def test_a_colon_in_the_name_of_a_judge_is_no_field() -> None:
    named = build_board(snapshot([entry(1, 0.7, model="ollama:7b")]), VL)
    assert misread_words(named, BoardQuery(VL, search="ollama:7b")) == []
