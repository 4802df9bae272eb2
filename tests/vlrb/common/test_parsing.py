"""Numbers that people type: the same ones are taken wherever one is asked for."""

from __future__ import annotations

from typing import Any

import pytest

from vlrb.common.parsing import bounded_number


@pytest.mark.parametrize(
    ("typed", "meant"), [(7, 7.0), (0.5, 0.5), ("7", 7.0), (" 6.4e1 ", 64.0), (0, 0.0), ("100", 100.0)]
)
def test_a_number_is_taken_as_one_or_as_text(typed: Any, meant: float) -> None:
    assert bounded_number(typed, 0, high=100) == meant


@pytest.mark.parametrize(
    "typed", ["", "x", "55,0", True, False, None, [], {}, b"7", "nan", "inf", "-1", 100.1, 10**400, "1e999", "9" * 5000]
)
def test_nothing_else_is_one(typed: Any) -> None:
    with pytest.raises(ValueError):
        bounded_number(typed, 0, high=100)
