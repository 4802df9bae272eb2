"""Relations between judges come back from differences, whoever comes, goes or moves, and however much is disclosed."""

from __future__ import annotations

import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlrb.statistics import pairwise_delta
from vlrb.statistics.pairwise import PairwiseArrays, pack, unpack

SIZES = np.array([10, 20, 30])


def content(entries: list[int], *, public: bool = True, at_most: int = 8) -> bytes:
    """Return stored relations in which a figure depends on the two judges alone."""
    names = tuple(f"e{number:011d}" for number in entries)
    number = np.array(entries, dtype=np.int16)
    right = np.stack([10 + number, 20 + number, 30 + number]).astype(np.int16)
    both = np.stack([np.minimum(number[:, None], number[None, :]) % 7] * 3).astype(np.int16)
    alike = number[:at_most].astype(float)
    agreement = (alike[:, None] * alike[None, :] % 100) / 100
    bands = (np.arange(40) + len(entries)).astype(np.int8) % 10
    found = PairwiseArrays("v0", names, sizes=SIZES, right=right, both=both, agreement=agreement, bands=bands)
    hidden = PairwiseArrays("v0", names, sizes=SIZES, right=None, both=None, agreement=agreement, bands=None)
    return zlib.decompress(pack(found if public else hidden).body)


ORDERS = st.lists(st.integers(1, 40), unique=True, min_size=1, max_size=14)


@given(ORDERS, ORDERS, st.booleans(), st.booleans())
def test_any_relations_come_back_from_any_others(first: list[int], second: list[int], was: bool, now: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairwise_delta, "AGREEMENT_AT_MOST", 8)
        base, target = content(first, public=was), content(second, public=now)
        delta = pairwise_delta.encode(base, target)
        assert delta is not None
        assert pairwise_delta.decode(base, delta) == target


def test_a_judge_more_costs_its_own_figures_alone() -> None:
    judges = list(range(1, 120))
    base, target = content(judges, at_most=200), content([*judges[:50], 500, *judges[50:]], at_most=200)
    delta = pairwise_delta.encode(base, target)
    assert delta is not None
    assert len(zlib.compress(target)) > 5 * len(zlib.compress(delta))
    assert len(unpack(zlib.compress(pairwise_delta.decode(base, delta))).entries) == 120


def test_figures_that_changed_between_two_known_judges_are_stored_whole() -> None:
    base = content([1, 2, 3])
    changed = bytearray(base)
    changed[base.index(b"\n", 13) + 1 + 3 * 4] += 1  # a count of items that the first is right on
    assert pairwise_delta.encode(base, bytes(changed)) is None
