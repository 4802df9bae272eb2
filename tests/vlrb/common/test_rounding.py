"""A number has the same decimal wherever it is written."""

from __future__ import annotations

import pytest

from vlrb.common.rounding import one_decimal, percent


@pytest.mark.parametrize("size", [32, 183, 749, 1247])
def test_a_percentage_is_written_as_its_share_is(size: int) -> None:
    for right in range(size + 1):
        assert one_decimal(100 * right / size) == percent(right / size)


def test_a_half_is_rounded_up_where_a_format_rounds_it_down() -> None:
    assert f"{80.85:.1f}" == "80.8"
    assert one_decimal(80.85) == "80.9"


def test_a_value_below_zero_is_rounded_as_its_size() -> None:
    assert [one_decimal(value) for value in (-0.22, -1.779, -16.649, -0.02)] == ["−0.2", "−1.8", "−16.6", "0.0"]
