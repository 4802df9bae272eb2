"""Sentences one after the other."""

from __future__ import annotations

from vlrb.common.text import join_sentences


def test_a_sentence_gets_the_full_stop_that_it_lacks_and_no_second_one() -> None:
    assert (
        join_sentences("Title", "Withdrawn: wrong prompt ", "", "2 moved.")
        == "Title. Withdrawn: wrong prompt. 2 moved."
    )
    for ended in ("Why?", "Gone…", 'He said "no."', "(So it is.)", "\u6807\u7b7e\u6709\u8bef\u3002"):
        assert join_sentences(ended, "Next") == f"{ended} Next."
