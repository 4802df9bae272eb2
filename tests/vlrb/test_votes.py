"""Votes survive packing, and only votes can be stored."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from vlrb.votes import ABSENT, OTHER, Votes, unpack_many

matrices = arrays(
    np.int8, array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=16), elements=st.integers(ABSENT, OTHER)
)


@given(matrices)
def test_packing_loses_nothing(matrix: np.ndarray) -> None:
    votes = Votes(matrix)
    assert (Votes.unpack(votes.pack(), matrix.shape[0], k=matrix.shape[1]).matrix == matrix).all()
    assert (unpack_many([votes.pack()] * 3, matrix.shape[0], k=matrix.shape[1]) == matrix).all()


@pytest.mark.parametrize("shape", [(3, 0), (3, 17), (3,)])
def test_k_is_from_1_to_16(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="K from 1 to 16"):
        Votes(np.zeros(shape, dtype=np.int8))


@pytest.mark.parametrize("value", [-3, 5, 100])
def test_nothing_else_is_a_vote(value: int) -> None:
    with pytest.raises(ValueError, match="a vote is"):
        Votes(np.full((2, 2), value, dtype=np.int8))


def test_packed_votes_of_another_size_are_refused() -> None:
    with pytest.raises(ValueError, match="take 2 bytes"):
        Votes.unpack(b"123", 2, k=2)
