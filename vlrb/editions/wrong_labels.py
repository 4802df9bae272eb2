"""Expected share of wrong labels among the pairs that a filter keeps, given the judges' accuracies. Pure.

A filter that keeps what judges get "wrong" also keeps what they get right where the label is wrong. With a share w of
wrong labels in the pool, kept pairs have w P(kept | label wrong) / (w P(kept | wrong) + (1 - w) P(kept | right)).

Judges err independently of one another in this model. Runs of one judge are either independent, too, or always agree;
the truth lies between. A judge prefers the better response with the probability of its accuracy, and the worse one with
that of its errors; what is left is undecided, which is not wrong, whatever the label says.
Both are measured against the labels of the pool, of which a share is wrong; ``true_shares`` corrects for that.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from vlrb.editions.runs import RIGHT, WRONG, as_verdicts, kept_by

if TYPE_CHECKING:
    import pandas as pd

MOST_PATTERNS = 2**16
SHARES = (0.01, 0.02, 0.05, 0.10, 0.20)


def true_shares(right: float, wrong: float, *, label_error: float) -> tuple[float, float]:
    """Return how often a judge prefers the better and the worse response, of its verdicts that agree and disagree with
    labels of which a share below 0.5 is wrong: a right label with p, q and a wrong one with q, p. Never below 0."""
    certain = 1 - 2 * label_error
    better = ((1 - label_error) * right - label_error * wrong) / certain
    worse = ((1 - label_error) * wrong - label_error * right) / certain
    return max(0.0, better), max(0.0, worse)


def wrong_share(
    rule: str,
    runs: Sequence[int],
    *,
    accuracies: Sequence[float],
    errors: Sequence[float],
    prior: float,
    independent_runs: bool,
) -> float | None:
    """Return the share of wrong labels among kept pairs under the model. ``runs``, ``accuracies``, ``errors``: by
    judge, the last two as shares of all its verdicts. None where nothing is kept, or there are too many runs.
    """
    judge = np.repeat(np.arange(len(runs), dtype=np.int8), runs)
    units = len(judge) if independent_runs else len(runs)
    if 2**units > MOST_PATTERNS:
        return None
    patterns = np.array(list(product((False, True), repeat=units)), dtype=bool).reshape(-1, units)
    better, worse = np.array(accuracies), np.array(errors)
    if independent_runs:
        better, worse = better[judge], worse[judge]
    wrong = patterns if independent_runs else patterns[:, judge]
    stays = kept_by(rule, as_verdicts(wrong, judge.tolist()))
    if_right = np.where(patterns, worse, 1 - worse).prod(axis=1)[stays].sum()  # a right label: wrong is an error
    if_wrong = np.where(patterns, better, 1 - better).prod(axis=1)[stays].sum()  # a wrong label: "wrong" is the truth
    total = prior * if_wrong + (1 - prior) * if_right
    return float(prior * if_wrong / total) if total > 0 else None


def wrong_label_rows(rule: str, verdicts: pd.DataFrame) -> list[dict[str, float | None]]:
    """Return the expected shares for some shares in the pool."""
    by_judge = [verdicts[judge] for judge in verdicts.columns.unique("judge")]
    measured = [[float((own == verdict).to_numpy().mean()) for verdict in (RIGHT, WRONG)] for own in by_judge]
    rows = []
    for prior in SHARES:
        better, worse = zip(*(true_shares(*shares, label_error=prior) for shares in measured), strict=True)
        row: dict[str, float | None] = {"in_pool": prior}
        for name, independent in (("runs_agree", False), ("runs_independent", True)):
            runs = [own.shape[1] for own in by_judge]
            row[name] = wrong_share(
                rule, runs, accuracies=better, errors=worse, prior=prior, independent_runs=independent
            )
        rows.append(row)
    return rows
