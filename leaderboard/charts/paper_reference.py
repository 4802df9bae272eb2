"""Reference values from the paper, shown as labelled points and never mixed with scored entries.

Paper: arXiv 2411.17451; its figures stand on the project page vl-rewardbench.github.io. Where a figure prints no number
the value was read off it by eye, and says so. Percent throughout. The paper's rule leaves undecided pairs out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from benchmark.items import CATEGORIES, UNTAGGED_CATEGORY

PAPER = "arXiv:2411.17451"
TABLE = f"{PAPER}, Table 2"
TAGS_SOURCE = f"{PAPER}, figure of error rates by error type"
VOTES_SOURCE = f"{PAPER}, figure of K votes, read by eye to 0.2; K = 5 is Table 2"
VOTES_PRINTED = f"{PAPER}, figure of K votes; K = 1 and 7 printed in the text, K = 5 is Table 2, others read by eye"
CRITICS_SOURCE = f"{PAPER}, figure of critic training (LLaVA-OneVision-7B-ov)"
CHOICES_SOURCE = f"{PAPER}, figure of Best-of-N; heights read by eye to 0.1"
CHOICES_PRINTED = f"{PAPER}, figure of Best-of-N; 52.5 printed in the text"

CHOICES_N = 8


@dataclass(frozen=True, slots=True)
class BestOfNResult:
    """A judge that picked among N answers of a policy: its score here, and the accuracy of what it picked."""

    judge: str
    score: float
    accuracy: float
    source: str = CHOICES_SOURCE


@dataclass(frozen=True, slots=True)
class PaperPolicy:
    """Whose answers were picked from, and how accurate they are without a judge."""

    name: str
    single: float | None  # one answer
    majority: float | None  # majority vote over the answers
    choices: tuple[BestOfNResult, ...]


# Scores are macro averages, but for Phi-3.5-Vision: the figure has it at its overall accuracy (macro average 35.7).
# Checked: these points give the figure's r = 0.946, p = 0.004 and r = 0.914, p = 0.011.
POLICIES = (
    PaperPolicy(
        "Qwen2-VL-7B",
        40.7,
        45.5,
        (
            BestOfNResult("Phi-3.5-Vision", 28.2, 41.2),
            BestOfNResult("Qwen2-VL-7B", 33.9, 41.0),
            BestOfNResult("LLaVA-OneVision-7B", 36.5, 42.5),
            BestOfNResult("GPT-4o-mini", 44.8, 45.7),
            BestOfNResult("InternVL2-8B", 45.2, 43.1),
            BestOfNResult("GPT-4o", 62.4, 49.0),
        ),
    ),
    PaperPolicy(
        "LLaVA-OneVision-7B",
        35.7,
        37.5,
        (
            BestOfNResult("Phi-3.5-Vision", 28.2, 35.7),
            BestOfNResult("Qwen2-VL-7B", 33.9, 39.4),
            BestOfNResult("LLaVA-OneVision-7B", 36.5, 35.8),
            BestOfNResult("GPT-4o-mini", 44.8, 43.5),
            BestOfNResult("InternVL2-8B", 45.2, 38.6),
            BestOfNResult("GPT-4o", 62.4, 52.5, CHOICES_PRINTED),
        ),
    ),
)

_SHARES = ("macro", *CATEGORIES)
CRITICS: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        "Base model": dict(zip(_SHARES, (38.2, 28.3, 27.1, 59.1), strict=True)),
        "Pointwise critic": dict(zip(_SHARES, (52.9, 45.5, 56.8, 56.4), strict=True)),
        "Pairwise critic": dict(zip(_SHARES, (47.4, 34.3, 47.7, 60.0), strict=True)),
    }
)

_BUCKETS = ("attribute", "counting", "existence", "recognition", UNTAGGED_CATEGORY, "other")
ERROR_RATES: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        "GPT-4o": dict(zip(_BUCKETS, (46.3, 28.8, 27.7, 40.8, 29.5, 45.7), strict=True)),
        "GPT-4o-mini": dict(zip(_BUCKETS, (61.2, 52.5, 67.9, 64.8, 41.8, 57.4), strict=True)),
        "Qwen2-VL-72B": dict(zip(_BUCKETS, (58.5, 55.9, 70.2, 67.0, 42.0, 57.1), strict=True)),
        "Qwen2-VL-7B": dict(zip(_BUCKETS, (68.8, 74.1, 82.3, 80.9, 48.9, 78.7), strict=True)),
        "Molmo-72B": dict(zip(_BUCKETS, (53.6, 46.7, 59.7, 61.5, 45.1, 60.9), strict=True)),
        "Molmo-7B": dict(zip(_BUCKETS, (69.6, 59.6, 69.4, 72.8, 43.8, 70.0), strict=True)),
    }
)

VOTES = (1, 3, 5, 7, 9)
MACRO_BY_VOTES: Mapping[str, tuple[float, ...]] = MappingProxyType(
    {
        "GPT-4o": (60.3, 61.5, 62.4, 62.7, 62.0),
        "GPT-4o-mini": (45.7, 44.5, 44.8, 45.5, 46.0),
        "Qwen2-VL-72B": (44.7, 42.9, 43.0, 43.3, 44.8),
        "Qwen2-VL-7B": (34.3, 35.2, 33.9, 33.9, 34.5),
        "Molmo-72B": (46.3, 42.7, 43.7, 43.9, 44.5),
        "Molmo-7B": (41.1, 43.2, 39.7, 39.8, 39.7),
    }
)
