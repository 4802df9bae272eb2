"""Remarks about a prediction file that its entry keeps: the order tells the label, the votes are those of a baseline.

None of them is a proof. Each says that a score may be of the file's order, not of a judge.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from benchmark.baselines import BASELINES, Baseline
from benchmark.items import ItemTable
from benchmark.votes import ABSENT, UNDECIDED, Matrix
from common.messages import _

ORDER_TELLS_LABEL = "order-tells-label"  # the preferred response is shown first in every prompt
BASELINE_VOTES = "baseline-votes"  # each vote is that of a baseline
ONE_SIDED_VOTES = "one-sided-votes"  # each vote is for the same place of the file
KEPT = (ORDER_TELLS_LABEL, BASELINE_VOTES, ONE_SIDED_VOTES)
"""The codes, as the check's warnings have them."""
LEAST_VOTES = 30  # fewer are alike now and then


def same_as_baseline(votes: Matrix, table: ItemTable) -> Baseline | None:
    """Return the baseline whose votes (items, K) these are, wherever an item has some; None of none."""
    covered = (votes != ABSENT).any(axis=1)
    if int(covered.sum()) < LEAST_VOTES:
        return None
    for baseline in BASELINES:
        if baseline.votes is not None and (votes[covered] == baseline.votes(table)[covered]).all():
            return baseline
    return None


def is_one_sided(votes: Matrix) -> bool:
    """Return whether all votes (records, K) that can be read are for one place, in the order of the file."""
    readable = votes[votes != UNDECIDED]
    return len(readable) >= LEAST_VOTES and len(np.unique(readable)) == 1


def board_remark(found: Iterable[str]) -> str:
    """Return what the board says of an entry with these remarks; "" of the order alone, which its page tells."""
    if BASELINE_VOTES in (codes := set(found)):
        return _("votes of a baseline")
    return _("every vote for one place") if ONE_SIDED_VOTES in codes else ""
