"""Expected share of wrong labels among the pairs that a filter keeps, given the judges' accuracies. Pure.

A filter that keeps what judges get "wrong" also keeps what they get right where the label is wrong. With a share w of
wrong labels in the pool, kept pairs have w P(kept | label wrong) / (w P(kept | wrong) + (1 - w) P(kept | right)).
Judges err independently of one another in this model; runs of one judge do so, too, or always agree. The truth lies
between. Undecided is not wrong, whatever the label says.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from vlrb.arrays import FloatArray
from vlrb.editions.runs import RIGHT, WRONG, as_verdicts, kept_by

MOST_ERRING = 16
SHARES = (0.01, 0.02, 0.05, 0.10, 0.20)


def true_shares(right: FloatArray, wrong: FloatArray, *, label_error: float) -> tuple[FloatArray, FloatArray]:
    """Return how often judges prefer the better and the worse response, of their verdicts that agree and disagree with
    labels of which a share below 0.5 is wrong: a right label with p, q and a wrong one with q, p. Never below 0."""
    stood, certain = 1 - label_error, 1 - 2 * label_error
    better, worse = stood * right - label_error * wrong, stood * wrong - label_error * right
    return np.maximum(0, better / certain), np.maximum(0, worse / certain)


def wrong_share(
    rule: str, judges: Sequence[Any], *, better: FloatArray, worse: FloatArray, prior: float, independent: bool
) -> float | None:
    """Return the share of wrong labels among kept pairs, of `prior` in the pool. `judges`: of each run; `better`,
    `worse`: `true_shares` of each judge, in the order of names. None: nothing is kept, or there are too many runs."""
    names, judge = np.unique(judges, return_inverse=True)
    erring = judge if independent else np.arange(len(names))
    if len(erring) > MOST_ERRING:
        return None
    patterns = np.array(list(product((0, 1), repeat=len(erring))), dtype=np.int8)
    stays = kept_by(rule, as_verdicts(patterns if independent else patterns[:, judge], judges))
    kept_right, kept_wrong = (
        share * np.where(patterns[stays], chance[erring], 1 - chance[erring]).prod(axis=1).sum()
        for share, chance in ((1 - prior, worse), (prior, better))  # "wrong" about a wrong label is the truth
    )
    return float(kept_wrong / (kept_wrong + kept_right)) if kept_wrong + kept_right > 0 else None


def wrong_label_rows(rule: str, verdicts: pd.DataFrame) -> list[dict[str, float | None]]:
    """Return the expected shares for some shares in the pool."""
    judges = verdicts.columns.get_level_values("judge").tolist()
    right, wrong = ((verdicts == one).mean().groupby(level="judge").mean().to_numpy() for one in (RIGHT, WRONG))
    rows = []
    for prior in SHARES:
        better, worse = true_shares(right, wrong, label_error=prior)
        row: dict[str, float | None] = {"in_pool": prior}
        for name, independent in (("runs_agree", False), ("runs_independent", True)):
            row[name] = wrong_share(rule, judges, better=better, worse=worse, prior=prior, independent=independent)
        rows.append(row)
    return rows
