"""Judges that do not judge, for pairs in any benchmark: what an accuracy has to beat."""

from __future__ import annotations

import numpy as np

from benchmark.pairs.labelled_pairs import PairSet
from benchmark.pairs.pair_scoring import Verdicts
from benchmark.spec import TIE


def choose_first(pairs: PairSet) -> Verdicts:
    """Return one vote per pair for the response that is stored first, shown as A."""
    return np.zeros((len(pairs.pairs), 1), dtype=np.int8)


def choose_longer(pairs: PairSet) -> Verdicts:
    """Return one vote per pair for the response with more words; a tie where they have equally many."""
    first, second = np.array([pair.words for pair in pairs.pairs], dtype=np.int64).reshape(-1, 2).T
    votes = np.where(first > second, 0, np.where(second > first, 1, TIE))
    return votes.astype(np.int8)[:, np.newaxis]
