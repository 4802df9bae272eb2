"""Preferences for place and length that category and one another do not explain: Arena's style control. Pure.

A readable vote is for the preferred response with the log odds a_c + b o + g l: a_c is the judge's own in the category
of the pair; o is 1 where the preferred response was shown first, -1 where second; l is by how much that response
is longer, (m - n) / (m + n) of the words of both, in standard deviations over the votes. Without bias b and g are 0,
and the accuracy in a category is 1 / (1 + exp(-a_c)). Votes of one pair are a cluster (Liang and Zeger 1986).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vlrb.arrays import Array, BoolArray, FloatArray
from vlrb.statistics.uncertainty import Z

_STEPS, _CLOSE = 30, 1e-9


LogOdds = tuple[float, float, float]
"""A coefficient with its 95% interval."""


@dataclass(frozen=True, slots=True)
class StyleControl:
    """Log odds by which a vote for a response rises where it is shown first, and with one standard deviation of length,
    and those of each category without either."""

    order: LogOdds
    length: LogOdds
    categories: dict[str, LogOdds]
    pairs: int


def style_control(
    right: BoolArray, *, pair: Array, category: Array, preferred_first: BoolArray, longer: FloatArray
) -> StyleControl | None:
    """Return the model of readable votes, one row each; None where the votes do not determine it: always one order, one
    length, or nothing but right votes in a category. ``longer``: (m - n) / (m + n) of the preferred response."""
    names = np.unique(category)
    spread = float(np.std(longer)) if len(longer) else 0.0
    columns = [category == name for name in names]
    design = np.column_stack([*columns, np.where(preferred_first, 1, -1), longer / (spread or 1)]).astype(np.float64)
    clusters, places = np.unique(pair, return_inverse=True)
    if len(clusters) < 2 or np.linalg.matrix_rank(design) < design.shape[1]:
        return None
    beta = np.zeros(design.shape[1])
    for _step in range(_STEPS):
        chance = 1 / (1 + np.exp(-design @ beta))
        information = (design.T * (chance * (1 - chance))) @ design
        if np.linalg.cond(information) > 1 / _CLOSE:
            return None
        step = np.linalg.solve(information, design.T @ (right - chance))
        beta += step
        if np.abs(step).max() < _CLOSE:
            break
    else:
        return None
    scores = np.zeros((len(clusters), design.shape[1]))
    np.add.at(scores, places, design * (right - chance)[:, np.newaxis])
    bread, n = np.linalg.inv(information), len(clusters)
    error = np.sqrt(np.diag(bread @ (scores.T @ scores) @ bread) * n / (n - 1))
    *known, order, length = ((b, b - Z * e, b + Z * e) for b, e in zip(beta.tolist(), error.tolist(), strict=True))
    return StyleControl(order, length, dict(zip(names.tolist(), known, strict=True)), pairs=n)
