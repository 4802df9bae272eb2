"""Scoring protocols and groupings: counts become scores. The only place that knows a denominator.

An item of the label revision that the judge's file lacks is wrong, except under ``paper``, which has no such item.
A protocol is declared in PROTOCOLS and nowhere else: selects, pages, scorecards, the API and the docs read it there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from benchmark.items import CATEGORIES, SOURCES
from benchmark.scoring import FIELDS, Tally

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
GROUPING_NAMES: Mapping[str, str] = {
    "official": "official",
    "povid-in-general": "POVID in general",
    "rl-in-general": "RL in general",
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


@dataclass(frozen=True, slots=True)
class Protocol:
    """A scoring rule. ``key`` is its name in URLs, JSON and stored scorecards; ``title`` is how people call it.

    ``summary`` and ``text`` continue a sentence that begins with the title. ``has_interval``: whether it counts the
    majority of whole items, so that a 95% interval is valid. ``count`` maps counts (..., FIELDS) to right and total.
    """

    key: str
    title: str
    summary: str
    text: str
    has_interval: bool
    count: Callable[[FloatArray], Ratios]


def _strict(rows: FloatArray) -> Ratios:
    return Ratios(rows[..., _AGREE], rows[..., _N])


def _paper(rows: FloatArray) -> Ratios:
    """Majority over all votes, as ``cal.py`` counts a file with K votes per item; here a number other than 1 or 2 is
    undecided, not right."""
    return Ratios(rows[..., _AGREE], rows[..., _AGREE] + rows[..., _REJECT])


def _first_vote(rows: FloatArray) -> Ratios:
    return Ratios(rows[..., _FIRST_AGREE], rows[..., _N])


def _first_vote_or_half(rows: FloatArray) -> Ratios:
    """One half is the expectation: lmms-eval draws at random where a vote is undecided."""
    return Ratios(rows[..., _FIRST_AGREE] + rows[..., _FIRST_UNDECIDED] / 2, rows[..., _N])


PROTOCOLS: dict[str, Protocol] = {
    protocol.key: protocol
    for protocol in (
        Protocol(
            "strict",
            "strict",
            "ranks this board",
            "ranks. A pair is right if more than half of all K votes are for the preferred response. An undecided, "
            "unreadable or missing answer is wrong, so abstaining never pays.",
            True,
            _strict,
        ),
        Protocol(
            "paper",
            "paper",
            "leaves undecided pairs out",
            "is the rule of the official script: undecided majorities leave numerator and denominator, so a judge that "
            "refuses the hard pairs scores higher. It is shown under its own name and ranks nothing.",
            True,
            _paper,
        ),
        Protocol(
            "vlmevalkit",
            "VLMEvalKit",
            "takes the first vote",
            "takes the first vote; undecided is wrong.",
            False,
            _first_vote,
        ),
        Protocol(
            "lmms-eval",
            "lmms-eval",
            "takes the first vote and gives one half for none",
            "takes the first vote; undecided counts one half, which is what its random choice gives on average.",
            False,
            _first_vote_or_half,
        ),
    )
}
RANKING = next(iter(PROTOCOLS))
"""The protocol that orders the board: the first."""


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
    return PROTOCOLS[protocol].count(rows)


def accuracies(value: Ratios) -> FloatArray:
    """(..., 5): general, hallucination, reasoning, overall, macro; NaN where nothing was counted."""
    with np.errstate(invalid="ignore"):
        shares = np.where(value.total > 0, value.right / np.where(value.total > 0, value.total, 1), np.nan)
    return np.concatenate([shares, shares[..., :3].mean(axis=-1, keepdims=True)], axis=-1)


def scores(tally: Tally, protocol: str = "strict", grouping: str = "official") -> Scores:
    """Return the scores of one judge."""
    values = accuracies(ratios(tally.counts, protocol, grouping)).tolist()
    return Scores(*(None if value != value else value for value in values))
