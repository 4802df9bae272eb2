"""Baselines: constant and majority judges that an accuracy has to beat.

* random: one half of every category is expected, a third where a tie is an answer; nothing was drawn, so no counts.
* first: always the response that the dataset stores first. Nearly always "right" in the original order of the pairs,
  which is why a harness has to shuffle the order it shows.
* longer: always the response with more words; undecided where they have equally many.
* earlier: the answers of an earlier label revision, all right by it: what label errors cost a perfect judge.
* majority: what most judges of the board prefer, each with one vote; undecided where they are even.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.labels import NOT_LABELLED, LabelSet
from vlrb.benchmarks.spec import TIE
from vlrb.common.messages import _
from vlrb.scoring import Tally, tally_many
from vlrb.votes import ABSENT, PREFERRED, UNDECIDED, Matrix

RANDOM, FIRST, LONGER, MAJORITY = "baseline-random", "baseline-first", "baseline-longer", "baseline-majority"
EARLIER = "baseline-earlier"
MAJORITY_JUDGES = 3  # with fewer, a majority is one of them or no answer


def always_first(table: ItemTable) -> Matrix:
    """(items, 1) votes for the response that the benchmark's own file has first: shown as A, by most tools."""
    return np.full((len(table), 1), PREFERRED if table.spec.preferred_is_named else 0, dtype=np.int8)


def always_longer(table: ItemTable) -> Matrix:
    """(items, 1) votes: more words; equally many are undecided, or a tie where ties can be told from that."""
    words = table.word_counts
    votes = np.where(words[:, 0] > words[:, 1], 0, 1)
    equal = TIE if table.spec.tells_ties else UNDECIDED
    return np.where(words[:, 0] == words[:, 1], equal, votes).astype(np.int8)[:, np.newaxis]


def board_majority(verdicts: Matrix) -> Matrix | None:
    """(judges, items) majority verdicts -> (items, 1) votes; None with fewer than MAJORITY_JUDGES judges.

    Judges that are undecided on an item, or lack it, have no vote on it; an item that all lack stays ABSENT.
    """
    if len(verdicts) < MAJORITY_JUDGES:
        return None
    first, second = (verdicts == 0).sum(axis=0), (verdicts == 1).sum(axis=0)
    votes = np.where(first > second, 0, np.where(second > first, 1, UNDECIDED))
    if (verdicts == TIE).any():
        tied = (verdicts == TIE).sum(axis=0)
        votes = np.where(
            tied > np.maximum(first, second), TIE, np.where(tied == np.maximum(first, second), UNDECIDED, votes)
        )
    return np.where((verdicts == ABSENT).all(axis=0), ABSENT, votes).astype(np.int8)[:, np.newaxis]


@dataclass(frozen=True, slots=True)
class Baseline:
    """A permanent row of the board. ``source`` stands where rows of judges say who states them.

    ``expected``: its accuracy where one of two responses is right, if that is known without counting; the definition
    gives it where a tie is an answer (``BenchmarkSpec.chance``). ``votes``: its votes, (items, 1),
    where they need no judge.
    """

    id: str
    name: str
    source: str
    expected: float | None = None
    votes: Callable[[ItemTable], Matrix] | None = None


BASELINES = (
    Baseline(RANDOM, _("Random choice"), source=_("reference: random guessing"), expected=0.5),
    Baseline(
        FIRST,
        _("Always the response stored first"),
        source=_("reference: always picks the first stored answer; shuffle the order before you test"),
        votes=always_first,
    ),
    Baseline(
        LONGER,
        _("Always the longer response"),
        source=_("reference: always picks the longer answer"),
        votes=always_longer,
    ),
    Baseline(
        EARLIER,
        _("Perfect answers of the first labels"),
        source=_("reference: right on every pair by the first labels; what their errors leave of a perfect score"),
    ),
    Baseline(MAJORITY, _("Majority vote of all judges"), source=_("reference: majority vote of all judges")),
)
"""All of them: the worker counts them, and the board shows them, from here."""


def constant_judge_tallies(labels: LabelSet, table: ItemTable) -> dict[str, Tally]:
    """Count, by id, of the baselines that need no judge."""
    votes = {baseline.id: baseline.votes(table) for baseline in BASELINES if baseline.votes is not None}
    return dict(zip(votes, tally_many(np.stack(list(votes.values())), labels, table=table), strict=True))


def earlier_labels_tally(labels: LabelSet, table: ItemTable, *, known: Mapping[str, LabelSet]) -> Tally | None:
    """Count the answers of the first label revision, by name, under a later one; None where none is earlier."""
    earlier = min((name for name in known if name < labels.revision), default=None)
    if earlier is None:
        return None
    preferred = known[earlier].preferred
    votes = np.where(preferred == NOT_LABELLED, ABSENT, preferred).astype(np.int8)
    return tally_many(votes[np.newaxis, :, np.newaxis], labels, table=table)[0]
