"""Self-preference: whether a judge prefers worse responses that a model of its own family wrote. Pure.

A judge is compared with all others on the same pairs, so that how hard a pair is does not count. Labels come from
people and models that may have preferences as well: a difference shows what sets a judge apart, not why.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from vlrb.arrays import Array, BoolArray, Int8Array
from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.labels import LabelSet
from vlrb.statistics.uncertainty import paired_interval

FAMILIES = "families.json"
"""In the folder of a definition: families of models, and which of them wrote the two responses of a pair."""
LEAST_PAIRS, LEAST_JUDGES = 30, 3


class SelfPreference(NamedTuple):
    """``own``: share of the pairs that a judge decides on which it chooses the worse response, of its family;
    ``others``: that of all other judges on these pairs. ``value``: the difference, with its 95% interval. Fractions."""

    value: float
    low: float
    high: float
    pairs: int
    own: float
    others: float


def family_of(name: str, families: Sequence[str]) -> str:
    """Return the family of a base model by its name: "Qwen/Qwen2-VL-7B" is "qwen"; "" of none."""
    folded = name.casefold()
    return next((family for family in families if re.search(rf"(?<![a-z]){family}", folded)), "")


def worse_by_family(labels: LabelSet, table: ItemTable) -> dict[str, Int8Array]:
    """Return family -> the response of each pair that it wrote and that is the worse, where it did not write the other
    one as well; -1 of other pairs. Nothing where nobody says who wrote the responses."""
    content = table.spec.read(FAMILIES)
    if content is None:
        return {}
    written = json.loads(content)
    by_key: dict[str, list[int]] = written["pairs"]
    codes = np.array([by_key.get(item.key[:16] + item.key[64:], (-1, -1)) for item in table.items], dtype=np.int8)
    known = (labels.preferred == 0) | (labels.preferred == 1)
    worse = np.where(known, 1 - labels.preferred, 0)
    of_worse, of_better = (codes[np.arange(len(codes)), side] for side in (worse, 1 - worse))
    return {
        family: np.where(known & (of_worse == code) & (of_better != code), worse, -1).astype(np.int8)
        for code, family in enumerate(written["families"])
    }


def self_preferences(verdicts: Array, worse: Array) -> list[SelfPreference | None]:
    """Return the self-preference of each judge for a family; None with fewer than LEAST_PAIRS pairs or LEAST_JUDGES.

    ``verdicts``: judges x items; ``worse``: of ``worse_by_family``. On pairs that a judge decides, its choice is
    compared with that of one of the others, drawn at random: b is how often only the judge is expected to choose the
    response, c how often only the other one; the interval is that of the exact McNemar test of b and c.
    """
    concerned = worse >= 0
    chosen = verdicts[:, concerned] == worse[concerned]
    decided = (verdicts[:, concerned] == 0) | (verdicts[:, concerned] == 1)
    if len(verdicts) < LEAST_JUDGES:
        return [None] * len(verdicts)
    return [_of_judge(chosen, decided, judge=judge) for judge in range(len(verdicts))]


def _of_judge(chosen: BoolArray, decided: BoolArray, *, judge: int) -> SelfPreference | None:
    others = decided.sum(axis=0) - decided[judge]
    counted = decided[judge] & (others > 0)
    n = int(counted.sum())
    if n < LEAST_PAIRS:
        return None
    x = chosen[judge, counted].astype(np.float64)
    y = (chosen.sum(axis=0) - chosen[judge])[counted] / others[counted]
    only, other = float((x * (1 - y)).sum()), float(((1 - x) * y).sum())
    low, high = paired_interval(only, other, n=n)
    value, low, high, own, mean = (round(one, 6) for one in ((only - other) / n, low, high, x.mean(), y.mean()))
    return SelfPreference(value, low, high=high, pairs=n, own=float(own), others=float(mean))


def self_preference_json(
    entries: Sequence[str], verdicts: Array, *, labels: LabelSet, table: ItemTable
) -> dict[str, Any]:
    """Return family -> entry -> the fields of ``SelfPreference``, of those that have one."""
    result = {}
    for family, worse in worse_by_family(labels, table).items():
        stated = zip(entries, self_preferences(verdicts, worse), strict=True)
        result[family] = {name: list(one) for name, one in stated if one is not None}
    return {family: known for family, known in result.items() if known}
