"""Snapshots for tests of the public pages: entries with tallies of judges that are right with a given probability."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import Any

import numpy as np

from leaderboard.site.cache import CurrentSnapshot
from storage.visibility import RemovedEntry
from tests.factories.labels import SIZES, labels, table
from tests.factories.specs import SOURCES
from vlrb.baselines import BASELINES, constant_judge_tallies
from vlrb.behaviour import behaviour_of
from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.labels import LabelSet
from vlrb.scorecard import SCORER_VERSION
from vlrb.scoring import tally_many
from vlrb.votes import Matrix, Votes

REVISIONS = ("v2", "v0")


@cache
def items() -> ItemTable:
    """Return items in the numbers of the real benchmark."""
    return table(SIZES)


@cache
def label_sets() -> dict[str, LabelSet]:
    """Return two revisions; the second has no tags."""
    return {"v2": labels(items(), revision="v2"), "v0": labels(items(), tags=False, revision="v0")}


def entry(number: int, skill: float, *, k: int = 3, **metadata: Any) -> dict[str, Any]:
    """Return an entry that is right with probability ``skill``, undecided now and then; metadata overrides."""
    return entries([(number, skill)], k, **metadata)[0]


def entries(judges: list[tuple[int, float]], k: int = 3, **metadata: Any) -> list[dict[str, Any]]:
    """Return many entries with the same K, in one pass."""
    random = np.random.default_rng(sum(number for number, _ in judges) + k)
    truth = label_sets()["v2"].preferred[np.newaxis, :, np.newaxis]
    shape = (len(judges), len(items()), k)
    skills = np.array([skill for _, skill in judges])[:, np.newaxis, np.newaxis]
    matrix = np.where(random.random(shape) < skills, truth, 1 - truth).astype(np.int8)
    matrix[random.random(shape) < 0.03] = -1
    tallies = {name: tally_many(matrix, one, table=items()) for name, one in label_sets().items()}
    return [
        {
            "id": f"e{number:011d}",
            "model": f"Judge {number}",
            "version": "",
            "organisation": "",
            "judge_type": "generative-pairwise",
            "base_model": "",
            "parameters_b": None,
            "open_weights": None,
            "link": "",
            "paper": "",
            "code": "",
            "hub_id": "",
            "temperature": None,
            "prompt": "",
            "notes": "",
            "price_usd": 1.0 + number % 50,
            "submitted_at": f"2026-10-{number % 28 + 1:02d}T12:00:00Z",
            "format": "native",
            "revision": "v2",
            "votes_per_item": k,
            "parse_rate": 0.97,
            "first_shown_rate": 0.52,
            "self_consistency": 0.9 if k > 1 else None,
            "tallies": {
                name: found[at].to_json() | stored_behaviour(matrix[at], name) for name, found in tallies.items()
            },
            **metadata,
        }
        for at, (number, _) in enumerate(judges)
    ]


def stored_behaviour(matrix: Matrix, revision: str) -> dict[str, Any]:
    """Return what the worker stores beside the counts, of votes of which half saw the first response first."""
    orders = Votes((np.arange(matrix.size).reshape(matrix.shape) // 2 % 2).astype(np.int8))
    behaviour = behaviour_of(Votes(matrix), orders, preferred=label_sets()[revision].preferred)
    return {"behaviour": behaviour.to_json()}


def snapshot(found: list[dict[str, Any]], benchmark: str = "vl-rewardbench") -> dict[str, Any]:
    """Return a snapshot with these entries."""
    return {
        "created_at": "2026-11-21T22:00:00Z",
        "benchmark": benchmark,
        "label_revision": "v2",
        "scorer_version": SCORER_VERSION,
        "label_revisions": list(REVISIONS),
        "sizes": {source: SIZES[source] for source in SOURCES},
        "entries": found,
    }


def baselines(expected_only: bool = False) -> list[dict[str, Any]]:
    """Return the permanent rows as the worker stores them; ``expected_only``: as for labels that are not public."""
    fixed = {} if expected_only else {name: constant_judge_tallies(one, items()) for name, one in label_sets().items()}
    return [
        {
            "id": one.id,
            "name": one.name,
            "expected": one.expected,
            "tallies": {name: tallies[one.id].to_json() for name, tallies in fixed.items() if one.id in tallies},
        }
        for one in BASELINES
    ]


def crowd(count: int) -> list[dict[str, Any]]:
    """Return many entries that differ, quickly."""
    random = np.random.default_rng(7)
    made: list[dict[str, Any]] = []
    types = ("generative-pairwise", "generative-pointwise", "scalar", "critic")
    for start in range(0, count, 500):
        k = (1, 3, 5)[start // 500 % 3]
        numbers = range(start, min(start + 500, count))
        made += entries([(number, float(random.uniform(0.3, 0.9))) for number in numbers], k)
    for number, one in enumerate(made):
        one["id"] = "e" + "".join("abcdefghijklmnopqrstuvwxyz234567"[digit] for digit in random.integers(0, 32, 11))
        one["model"] = f"Judge-{random.integers(1, 99)}B-v{number}"
        one["judge_type"] = types[number % 4]
        one["organisation"] = f"Lab {number % 40}"
        one["parameters_b"] = float(random.choice([2, 7, 8, 32, 72]))
    return made


class FixedSource:
    """A snapshot source that tests turn by hand."""

    def __init__(self, body: Mapping[str, Any] | None = None) -> None:
        self.body = body
        self.version = 1
        self.delayed_since: datetime | None = None
        self.paused: str | None = None
        self.off: frozenset[RemovedEntry] = frozenset()
        self.loads = 0
        self.looks = 0
        self.failing = False
        self.old: dict[str, Mapping[str, Any]] = {}  # by snapshot id
        self.lock = threading.Lock()

    def current(self) -> CurrentSnapshot:
        """Return which snapshot is current."""
        self.looks += 1
        if self.failing:
            raise OSError("the database is away")
        name = None if self.body is None else f"snapshot-{self.version}"
        return CurrentSnapshot(name, self.delayed_since, paused=self.paused, off=self.off)

    def load(self, snapshot_id: str, *, old: bool = False) -> Mapping[str, Any]:
        """Return the snapshot."""
        self.loads += 1
        if snapshot_id in self.old:
            return self.old[snapshot_id]
        assert self.body is not None
        return self.body

    def find(self, when: str) -> str | None:
        """Return ids only; days are the business of storage.boards.snapshots."""
        if when.startswith("when"):
            raise ValueError(when)
        known = [*self.old, f"snapshot-{self.version}"]
        return next((name for name in known if name.startswith(when)), None)

    def turn(self, body: Mapping[str, Any]) -> None:
        """Another snapshot from now on."""
        if self.body is not None:
            self.old[f"snapshot-{self.version}"] = self.body
        self.body, self.version = body, self.version + 1
