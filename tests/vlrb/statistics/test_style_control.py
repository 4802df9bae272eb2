"""Style control against an obviously right model that is fitted in another way, and against known biases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vlrb.statistics.style_control import style_control

CATEGORIES = 3


def votes(pairs: int, k: int, *, order: float, length: float, seed: int) -> dict[str, Any]:
    """Return votes of a judge with known log odds; preferred responses are longer in one category."""
    dice = np.random.default_rng(seed)
    category, longer = dice.integers(0, CATEGORIES, pairs), dice.uniform(-0.5, 0.5, pairs)
    longer = longer + 0.3 * (category == 0)
    pair, first = np.repeat(np.arange(pairs), k), dice.random(pairs * k) < 0.5
    own = dice.normal(0, 0.8, pairs)  # what votes of one pair share
    odds = np.array([0.9, 0.2, 0.5])[category] + length * longer / longer.std() + own
    right = dice.random(pairs * k) < 1 / (1 + np.exp(-(odds[pair] + order * np.where(first, 1, -1))))
    return {"right": right, "pair": pair, "category": category[pair], "preferred_first": first, "longer": longer[pair]}


def test_the_model_is_that_of_a_plain_search_with_a_plain_clustered_error() -> None:
    from scipy.optimize import minimize  # it takes a second: only the process that runs this is to wait

    known = votes(150, 3, order=0.4, length=0.3, seed=2)
    y, spread = known["right"].astype(float), known["longer"].std()
    rows = zip(known["category"], known["preferred_first"], known["longer"], strict=True)
    x = np.array([[*(c == np.arange(CATEGORIES)), 1 if first else -1, longer / spread] for c, first, longer in rows])
    beta = minimize(lambda b: np.logaddexp(0, np.where(y == 1, -1, 1) * (x @ b)).sum(), np.zeros(5), tol=1e-10).x
    p = 1 / (1 + np.exp(-x @ beta))
    bread = np.linalg.inv(sum(q * (1 - q) * np.outer(row, row) for q, row in zip(p, x, strict=True)))
    sums = [sum(x[i] * (y[i] - p[i]) for i in np.nonzero(known["pair"] == one)[0]) for one in range(150)]
    error = np.sqrt(np.diag(bread @ sum(np.outer(s, s) for s in sums) @ bread) * 150 / 149)
    found = style_control(**known)
    assert found is not None and found.pairs == 150
    known_odds = [*found.categories.values(), found.order, found.length]
    for (value, low, high), expected, reach in zip(known_odds, beta, error, strict=True):
        assert value == pytest.approx(expected, abs=1e-4)
        assert (high - low) / 2 == pytest.approx(1.959964 * reach, rel=1e-3)


def test_intervals_cover_no_bias_although_length_goes_with_a_category() -> None:
    runs = [style_control(**votes(200, 3, order=0.0, length=0.0, seed=seed)) for seed in range(200)]
    for name in ("order", "length"):
        effects = [getattr(run, name) for run in runs if run is not None]
        assert len(effects) == 200
        assert 0.9 <= np.mean([low <= 0 <= high for _, low, high in effects]) <= 0.99


def test_what_the_votes_do_not_determine_is_not_known() -> None:
    known = votes(60, 1, order=0.0, length=0.0, seed=1)
    for name, value in (("preferred_first", True), ("longer", 0.2), ("right", True), ("pair", 0)):
        assert style_control(**{**known, name: np.full(60, value)}) is None
    assert style_control(**{name: values[:0] for name, values in known.items()}) is None
