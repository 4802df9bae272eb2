"""Scores that the Ladder rule withholds: derived from rows that never change, by one function for all.

Nothing is stored. The margin is in the rules that a submission was taken under, whose account it was is in its charge,
and the order is that of acceptance: so withdrawals, transfers, re-scores and the order in which workers count change
nothing, and the worker (snapshots) and the web process (receipts, status, activity) come to the same.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
import orjson
from sqlalchemy import select
from sqlalchemy.orm import Session

from benchmark.disclosure import OVERALL_ONLY, merged
from benchmark.ladder import Try, rounded, shown
from benchmark.protocols import accuracies, ratios
from benchmark.spec import BenchmarkSpec
from storage.labels import label_imports
from storage.models.core import Score, Submission
from storage.models.quota import Attempt, QuotaCharge

_ACCOUNTS = "account:%"
_BOARD, _OF_TRY = itemgetter(0, 1, 2), itemgetter(3)

Withheld = frozenset[tuple[str, str, str]]
"""(submission, label revision, scorer version) of scores of which no number is shown to anybody."""


def levels(session: Session, benchmark: str, *, configured: Mapping[str, str]) -> dict[str, str]:
    """Return the disclosure levels of a benchmark's label revisions that are not public.

    `configured`: as the settings say.
    """
    return dict(merged(configured, label_imports.hidden_revisions(session, benchmark)))


def withheld(
    session: Session, spec: BenchmarkSpec, *, levels: Mapping[str, str], submissions: Collection[str] | None = None
) -> Withheld:
    """Return the scores under a benchmark's hidden label revisions that are not shown.

    `levels`: label revision -> disclosure level, of those that are not public. `submissions`: only these (and what
    their accounts submitted before them decides); None: all.
    """
    margins = _margins(session, submissions) if levels else {}
    if not any(margins.values()):
        return frozenset()
    result: set[tuple[str, str, str]] = set()
    for _, tries in groupby(_tries(session, spec, levels=levels, margins=margins), key=_BOARD):
        same = list(tries)
        released = shown([row[4] for row in same])
        result |= {(_OF_TRY(row), row[1], row[2]) for row, is_shown in zip(same, released, strict=True) if not is_shown}
    return frozenset(score for score in result if submissions is None or score[0] in submissions)


def of_same_accounts(session: Session, submissions: Collection[str]) -> set[str]:
    """Return all submissions that were charged to the accounts of these, and these: a score of one may decide which
    others are shown."""
    accounts = select(QuotaCharge.subject).where(
        QuotaCharge.submission_id.in_(submissions), QuotaCharge.subject.like(_ACCOUNTS)
    )
    rows = session.scalars(select(QuotaCharge.submission_id).where(QuotaCharge.subject.in_(accounts)))
    return {*submissions, *rows}


def _margins(session: Session, submissions: Collection[str] | None) -> dict[str, float | None]:
    """Submission -> margin, of all that the accounts of some submissions were charged for."""
    wanted = select(Attempt.submission_id, Attempt.policy).join(
        QuotaCharge, QuotaCharge.submission_id == Attempt.submission_id
    )
    wanted = wanted.where(QuotaCharge.subject.like(_ACCOUNTS))
    if submissions is not None:
        of_these = select(QuotaCharge.subject).where(QuotaCharge.submission_id.in_(submissions))
        wanted = wanted.where(QuotaCharge.subject.in_(of_these))
    return {name: policy.get("ladder_margin") for name, policy in session.execute(wanted)}


def _tries(
    session: Session, spec: BenchmarkSpec, *, levels: Mapping[str, str], margins: Mapping[str, float | None]
) -> list[tuple[str, str, str, str, Try]]:
    """(account, label revision, scorer version, submission, try), by those, in the order of acceptance."""
    rows = session.execute(
        select(QuotaCharge.subject, Score.label_revision, Score.scorer_version, Score.submission_id, Score.tally)
        .join(Score, Score.submission_id == QuotaCharge.submission_id)
        .join(Submission, Submission.id == Score.submission_id)
        .where(QuotaCharge.subject.like(_ACCOUNTS), Score.benchmark == spec.id, Score.label_revision.in_(levels))
        .order_by(QuotaCharge.subject, Score.label_revision, Score.scorer_version, Submission.created_at, Submission.id)
    )
    return [
        (account, revision, version, name, Try(_score(orjson.loads(tally), levels[revision], spec=spec), margins[name]))
        for account, revision, version, name, tally in rows
        if name in margins
    ]


def _score(tally: Mapping[str, Any], level: str, *, spec: BenchmarkSpec) -> float | None:
    """Return what the board is ordered by at a disclosure level, as it is shown there."""
    shares = accuracies(ratios(np.array(tally["counts"], dtype=np.int64), spec))
    value = float(shares[spec.index(spec.pooled if level == OVERALL_ONLY else spec.headline)])
    return None if value != value else rounded(value, level)  # NaN: nothing was counted
