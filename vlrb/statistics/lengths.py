"""Lengths in words of preferred responses, minus the others: Figure 3 of VL-RewardBench's paper. Pure."""

from __future__ import annotations

from typing import Any

import numpy as np

from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.labels import LabelSet

BIN = 20  # words; the middle bin holds differences below half of it, either way
BESIDE = 6  # bins on either side of the middle; the outer ones are open


def preferred_lengths(labels: LabelSet, table: ItemTable) -> dict[str, Any]:
    """Return by category the median difference in words, and the number of pairs in each bin. Ties have none."""
    decided = (labels.preferred == 0) | (labels.preferred == 1)
    of_first = table.word_counts[:, 0] - table.word_counts[:, 1]
    longer = np.where(labels.preferred == 0, of_first, -of_first)
    bins = BESIDE + np.sign(longer) * np.minimum((abs(longer) + BIN // 2) // BIN, BESIDE)
    found = {}
    for index, category in enumerate(table.spec.category_keys):
        held = decided & (table.category_index == index)
        if held.any():
            counts = np.bincount(bins[held], minlength=2 * BESIDE + 1).tolist()
            found[category] = {"median": float(np.median(longer[held])), "counts": counts}
    return found
