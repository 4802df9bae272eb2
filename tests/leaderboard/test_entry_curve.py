"""The drawn K curve stays on the scale of accuracies."""

import pytest

from leaderboard.pages.entry import _curve
from tests.factories.specs import VL


@pytest.mark.parametrize(("shares", "ends"), [((1.0, 1.0), (90, 100)), ((0.0, 0.0), (0, 10)), ((0.61, 0.73), (60, 75))])
def test_the_axis_ends_at_whole_fives_within_0_and_100(shares: tuple[float, float], ends: tuple[int, int]) -> None:
    found = _curve([{"k": k, "macro": share, "overall": share} for k, share in enumerate(shares, start=1)], VL)
    assert found is not None
    assert (int(found.grid[0][1]), int(found.grid[-1][1])) == ends
