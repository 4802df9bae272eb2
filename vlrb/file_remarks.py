"""Remarks about a prediction file that its entry keeps: the order tells the label, the votes are those of a baseline.

None of them is a proof. Each says that a score may be of the file's order, not of a judge. Where people
sign in, a file whose votes need no judge waits for a maintainer.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from vlrb.baselines import BASELINES, Baseline
from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.spec import TIE
from vlrb.common.messages import _
from vlrb.votes import Matrix, majority

ORDER_TELLS_LABEL = "order-tells-label"  # the preferred response is shown first in every prompt
BASELINE_VOTES = "baseline-votes"  # the verdicts are those of a baseline
ONE_SIDED_VOTES = "one-sided-votes"  # the votes are the same: for one place of the file, or a tie
NO_JUDGE = (BASELINE_VOTES, ONE_SIDED_VOTES)
"""Those of votes that need no judge: the file waits for a maintainer, and its entry has no rank."""
KEPT = (ORDER_TELLS_LABEL, *NO_JUDGE)
"""The codes, as the check's warnings have them."""
SAME_SHARE = 0.98
"""From which share on verdicts count as those of a baseline, and votes as the same; of what is decided."""
LEAST_VOTES = 30  # fewer are alike now and then


def same_as_baseline(votes: Matrix, table: ItemTable) -> Baseline | None:
    """Return the baseline that has the verdicts of these votes (items, K), or nearly so; None of none.

    Compared are the items on which both decide between the responses: leaving some out, or what is said where the
    baseline has a tie, hides nothing. Scoring rules take the majority or the first vote, so both are compared.
    """
    for baseline in BASELINES:
        if baseline.votes is None:
            continue
        expected = baseline.votes(table)[:, 0]
        if any(_agree(verdicts, expected) for verdicts in (majority(votes), votes[:, 0])):
            return baseline
    return None


def is_one_sided(votes: Matrix) -> bool:
    """Return whether the votes (records, K) that can be read are the same, or nearly so, in the file's order.

    Looked at are all votes, and the first of each record, which some scoring rules take alone.
    """
    return _is_constant(votes) or _is_constant(votes[:, :1])


def _agree(verdicts: Matrix, expected: Matrix) -> bool:
    decided = (verdicts >= 0) & (verdicts != TIE) & (expected >= 0) & (expected != TIE)
    return decided.sum() >= LEAST_VOTES and bool((verdicts == expected)[decided].mean() >= SAME_SHARE)


def _is_constant(votes: Matrix) -> bool:
    readable = votes[votes >= 0]
    if len(readable) < LEAST_VOTES:
        return False
    return bool(np.unique(readable, return_counts=True)[1].max() >= SAME_SHARE * len(readable))


def board_remark(codes: Collection[str]) -> str:
    """Return what the board says of votes with these remarks that need no judge; "" of others."""
    if BASELINE_VOTES in codes:
        return _("votes of a baseline")
    return _("votes all the same") if ONE_SIDED_VOTES in codes else ""
