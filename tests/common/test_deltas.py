"""Deltas give back what they were made of, and are small where little has changed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from common.deltas import decode, encode, split_fragments

ENTRIES = st.integers(0, 30).map(lambda number: b'{"id":"e%011d","k":%d,"attempt":1,"attempts":2}' % (number, number))
TEXTS = st.one_of(
    st.text(max_size=60).map(str.encode), st.lists(ENTRIES, max_size=12).map(lambda found: b"[" + b",".join(found))
)


@given(TEXTS)
def test_fragments_joined_are_the_text(text: bytes) -> None:
    assert b"".join(split_fragments(text)) == text


@given(TEXTS, TEXTS, TEXTS)
def test_a_target_comes_back_through_any_number_of_deltas(first: bytes, second: bytes, third: bytes) -> None:
    fragments = split_fragments(first)
    for text in (second, third):
        target = split_fragments(text)
        fragments = decode(fragments, encode(fragments, target))
        assert fragments == target


def test_one_entry_more_and_one_attempt_more_cost_no_more_than_they_say() -> None:
    def board(entries: int, attempts: int) -> list[bytes]:
        rows = [b'{"id":"e%011d","facts":"%s","attempt":1,"attempts":%d}' % (n, b"x" * 500, 1) for n in range(entries)]
        rows[3] = rows[3].replace(b'"attempts":1', b'"attempts":%d' % attempts)
        return split_fragments(b'{"entries":[' + b",".join(rows) + b"]}")

    assert len(encode(board(1000, 1), board(1001, 2))) < 1000
