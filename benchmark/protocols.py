"""Scoring protocols and groupings: counts become scores. The only place that knows a denominator.

* ``strict`` ranks: right if and only if more than half of all K votes agree with the label, over all items.
* ``paper``: the rule of the official ``cal.py`` for a file with K votes per item: majority over all votes, undecided
  majorities and ties leave numerator and denominator; here a number other than 1 or 2 is undecided, not right.
* ``vlmevalkit``: the first vote; undecided is wrong; over all items.
* ``lmms-eval``: the first vote; undecided counts one half (its expectation: that tool draws at random); over all items.

An item of the label revision that the judge's file lacks is wrong, except under ``paper``, which has no such item.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from benchmark.items import CATEGORIES, SOURCES
from benchmark.scoring import FIELDS, Tally

PROTOCOLS = ("strict", "paper", "vlmevalkit", "lmms-eval")
GROUPINGS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "official": {
        "general": ("VLFeedback", "WildVision"),
        "hallucination": ("POVID", "RLAIF-V", "RLHF-V"),
        "reasoning": ("MathVerse", "MMMU-Pro"),
    },
    # cal.py from December 2024 to May 2025: "hallucination_pair" fell through to general.
    "povid-in-general": {
        "general": ("VLFeedback", "WildVision", "POVID"),
        "hallucination": ("RLAIF-V", "RLHF-V"),
        "reasoning": ("MathVerse", "MMMU-Pro"),
    },
    # R1-Reward and Proxy-GRM: "rlhf" / "rlaif" in lower case never match the upper-case ids.
    "rl-in-general": {
        "general": ("VLFeedback", "WildVision", "RLAIF-V", "RLHF-V"),
        "hallucination": ("POVID",),
        "reasoning": ("MathVerse", "MMMU-Pro"),
    },
}
_N, _AGREE, _REJECT, _UNDECIDED, _FIRST_AGREE, _FIRST_REJECT, _FIRST_UNDECIDED = range(len(FIELDS))
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Scores:
    """Accuracies as fractions; None where nothing was counted ("no data" is not zero)."""

    general: float | None
    hallucination: float | None
    reasoning: float | None
    overall: float | None
    macro: float | None


@dataclass(frozen=True, slots=True)
class Ratios:
    """Right answers over what they are counted against: arrays (..., 4) for the CATEGORIES and overall."""

    right: FloatArray
    total: FloatArray


def category_counts(counts: npt.NDArray[np.int64], grouping: str = "official") -> npt.NDArray[np.int64]:
    """(..., CELLS, fields) summed to (..., 3 categories, fields).

    Raises:
        KeyError: an unknown grouping.
    """
    sources = [[SOURCES.index(source) for source in GROUPINGS[grouping][category]] for category in CATEGORIES]
    return np.stack([counts[..., indices, :].sum(axis=-2) for indices in sources], axis=-2)


def ratios(counts: npt.NDArray[np.int64], protocol: str = "strict", grouping: str = "official") -> Ratios:
    """Numerators and denominators from tally counts (..., CELLS, FIELDS), for one entry or thousands.

    Raises:
        KeyError: an unknown protocol or grouping.
    """
    categories = category_counts(counts, grouping).astype(np.float64)
    rows = np.concatenate([categories, categories.sum(axis=-2, keepdims=True)], axis=-2)
    if protocol == "strict":
        right, total = rows[..., _AGREE], rows[..., _N]
    elif protocol == "paper":
        right, total = rows[..., _AGREE], rows[..., _AGREE] + rows[..., _REJECT]
    elif protocol == "vlmevalkit":
        right, total = rows[..., _FIRST_AGREE], rows[..., _N]
    elif protocol == "lmms-eval":
        right, total = rows[..., _FIRST_AGREE] + rows[..., _FIRST_UNDECIDED] / 2, rows[..., _N]
    else:
        raise KeyError(protocol)
    return Ratios(right, total)


def accuracies(value: Ratios) -> FloatArray:
    """(..., 5): general, hallucination, reasoning, overall, macro; NaN where nothing was counted."""
    with np.errstate(invalid="ignore"):
        shares = np.where(value.total > 0, value.right / np.where(value.total > 0, value.total, 1), np.nan)
    return np.concatenate([shares, shares[..., :3].mean(axis=-1, keepdims=True)], axis=-1)


def scores(tally: Tally, protocol: str = "strict", grouping: str = "official") -> Scores:
    """Return the scores of one judge."""
    values = accuracies(ratios(tally.counts, protocol, grouping)).tolist()
    return Scores(*(None if value != value else value for value in values))
