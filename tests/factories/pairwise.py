"""A snapshot with the relations between its entries, as the worker would store them."""

from __future__ import annotations

import hashlib
from functools import cache
from typing import Any

import numpy as np

from tests.factories.snapshots import entry, items, label_sets, snapshot, stored_behaviour
from vlrb.scoring import tally_many
from vlrb.statistics.pairwise import PairwiseSummary, compare_all, pack

Skills = dict[str, tuple[float, float, float]]
SKILLS: Skills = {
    "e00000000001": (0.70, 0.78, 0.66),
    "e00000000002": (0.70, 0.66, 0.66),
    "e00000000003": (0.55, 0.80, 0.50),
    "e00000000004": (0.69, 0.77, 0.67),
    "e00000000005": (0.40, 0.45, 0.52),
    "e00000000006": (0.60, 0.62, 0.63),
}


@cache
def _verdicts() -> Any:
    """(entries, items): right with the probability of the item's category; hard items are hard for all."""
    random = np.random.default_rng(11)
    table, truth = items(), label_sets()["v2"].preferred
    category = np.array([("general", "hallucination", "reasoning").index(item.category) for item in table.items])
    hard = random.random(len(table))
    rows = []
    for skills in SKILLS.values():
        mixed = 0.6 * hard + 0.4 * random.random(len(table))
        right = mixed < np.quantile(mixed, np.array(skills)[category])
        rows.append(np.where(right, truth, 1 - truth))
    return np.array(rows, dtype=np.int8)


@cache
def related(*, public: bool = True) -> tuple[PairwiseSummary, bytes]:
    """Return the relations of the entries, and as they are stored."""
    found = compare_all(
        list(SKILLS), _verdicts()[:, :, np.newaxis], labels=label_sets()["v2"], table=items(), public=public
    )
    return found, pack(found.relations)


def body(*more: dict[str, Any], benchmark: str = "vl-rewardbench", public: bool = True) -> dict[str, Any]:
    """Return the snapshot; ``more`` entries are on the board without having been compared."""
    return body_of(_verdicts(), related(public=public), *more, benchmark=benchmark)


def body_of(
    verdicts: Any, compared: tuple[PairwiseSummary, bytes], *more: dict[str, Any], benchmark: str = "vl-rewardbench"
) -> dict[str, Any]:
    """Return the snapshot of judges A, B, C... with these verdicts, and what was compared."""
    found, packed = compared
    entries = []
    for number, (name, own) in enumerate(zip(found.summary["entries"], verdicts, strict=True), start=1):
        one = entry(number, 0.5, k=1)
        tallies = tally_many(own[np.newaxis, :, np.newaxis], label_sets()["v2"], table=items())
        counted = tallies[0].to_json() | stored_behaviour(own[:, np.newaxis], "v2")
        entries.append({**one, "id": name, "model": f"Judge {chr(ord('A') + number - 1)}", "tallies": {"v2": counted}})
    made = snapshot([*entries, *more], benchmark)
    made["relations"] = {"v2": {"id": hashlib.sha256(packed).hexdigest(), "judges": len(entries), **found.summary}}
    return made


def stored(name: str, *, public: bool = True) -> bytes | None:
    """As storage would give it."""
    packed = related(public=public)[1]
    return packed if hashlib.sha256(packed).hexdigest() == name else None
