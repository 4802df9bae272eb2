"""Pairs that separate two judges, against worked examples and simulation."""

from __future__ import annotations

import numpy as np
import pytest

from vlrb.statistics.power import pairs_to_separate, smallest_gap
from vlrb.statistics.uncertainty import mcnemar_exact


@pytest.mark.parametrize(
    ("difference", "discordant", "pairs"),
    [(0.02, 0.10, 1960), (0.01, 0.10, 7847), (0.03, 0.25, 2178), (0.05, 0.25, 783)],
)
def test_pairs_that_separate_two_judges_in_worked_examples(difference: float, discordant: float, pairs: int) -> None:
    found = pairs_to_separate(difference, discordant=discordant)
    assert found is not None and abs(found - pairs) <= 1
    gap = smallest_gap(found, discordant=discordant)
    assert gap == pytest.approx(difference, rel=0.01)


def test_the_smallest_gap_that_the_edition_separates() -> None:
    assert smallest_gap(1247, discordant=0.10) == pytest.approx(0.0251, abs=5e-5)
    assert smallest_gap(1247, discordant=0.25) == pytest.approx(0.0397, abs=5e-5)
    assert smallest_gap(20, discordant=0.10) is None, "even if one judge were right on all pairs where they differ"


def test_equal_judges_are_never_separated_and_impossible_shares_are_refused() -> None:
    assert pairs_to_separate(0.0, discordant=0.3) is None
    with pytest.raises(ValueError, match="discordant"):
        pairs_to_separate(0.4, discordant=0.1)


def test_the_exact_test_nearly_reaches_the_power_in_simulation() -> None:
    n = pairs_to_separate(0.05, discordant=0.25)
    assert n is not None
    b, c, _rest = np.random.default_rng(3).multinomial(n, [0.15, 0.10, 0.75], 4000).T
    assert (mcnemar_exact(b, c) < 0.05).mean() == pytest.approx(0.78, abs=0.02)
