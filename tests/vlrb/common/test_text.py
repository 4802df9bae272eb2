"""Numbers and sentences in words."""

from __future__ import annotations

import pytest

from vlrb.common.text import join_sentences, pluralize


@pytest.mark.parametrize(
    ("number", "words"), [(0, "0 entries"), (1, "1 entry"), (2, "2 entries"), (10_010, "10,010 entries")]
)
def test_one_thing_is_one_and_thousands_are_told_apart(number: int, words: str) -> None:
    assert pluralize(number, "entry", many="entries") == words


def test_many_are_one_with_an_s_unless_it_is_said() -> None:
    assert pluralize(1250, "label") == "1,250 labels"


def test_a_sentence_gets_the_full_stop_that_it_lacks_and_no_second_one() -> None:
    assert (
        join_sentences("Title", "Withdrawn: wrong prompt ", "", "2 moved.")
        == "Title. Withdrawn: wrong prompt. 2 moved."
    )
    for ended in ("Why?", "Gone…", 'He said "no."', "(So it is.)", "\u6807\u7b7e\u6709\u8bef\u3002"):
        assert join_sentences(ended, "Next") == f"{ended} Next."
