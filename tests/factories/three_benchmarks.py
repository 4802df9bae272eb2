"""The three benchmarks side by side, each with many entries of judges that answer at random with a given skill."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from starlette.types import ASGIApp

import leaderboard.judges.pages
from leaderboard.site.cache import BoardCache
from leaderboard.site.render_context import contexts_of
from tests.factories import snapshots
from tests.factories.board_app import board_app
from tests.factories.snapshots import FixedSource
from tests.pair_files import mm_rlhf_items, mmrb_items
from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.labels import LabelSet
from vlrb.benchmarks.pairs import label_set, pair_table, read_pairs
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.benchmarks.spec_file import load_spec
from vlrb.scoring import tally_many
from web.benchmarks import BenchmarkDispatch, BenchmarkMiddleware

SERVED = ("vl-rewardbench", "multimodal-rewardbench", "mm-rlhf-rewardbench")
SHARED = 40  # judges that all benchmarks have; of the others each has its own


@cache
def labelled(benchmark: str) -> tuple[ItemTable, LabelSet]:
    """Return invented items of a benchmark of labelled pairs, and their labels."""
    rows = mm_rlhf_items(seed=5) if benchmark == "mm-rlhf-rewardbench" else mmrb_items(240, seed=5)
    pairs = read_pairs(rows, load_spec(benchmark))
    table = pair_table([pairs])
    return table, label_set(pairs.rows, "v2", table=table)


def _facts(benchmark: str, number: int) -> dict[str, Any]:
    name = f"Judge {number}" if number < SHARED else f"Judge {number} of {benchmark}"
    return {
        "id": f"e{SERVED.index(benchmark)}{number:010d}",
        "model": name,
        "organisation": f"Lab {number % 9}",
        "open_weights": number % 3 > 0,
        "parameters_b": float((2, 7, 32, 72)[number % 4]),
    }


def pair_entries(benchmark: str, skills: list[float]) -> list[dict[str, Any]]:
    """Return entries on a benchmark of labelled pairs, one vote per pair."""
    table, labels = labelled(benchmark)
    dice = np.random.default_rng(len(benchmark))
    right = dice.random((len(skills), len(table), 1)) < np.array(skills)[:, np.newaxis, np.newaxis]
    preferred = labels.preferred[np.newaxis, :, np.newaxis]
    tallies = tally_many(np.where(right, preferred, 1 - preferred).astype(np.int8), labels, table=table)
    like = snapshots.entry(0, 0.5, k=1)
    return [
        {**like, **_facts(benchmark, number), "tallies": {"v2": tally.to_json()}}
        for number, tally in enumerate(tallies)
    ]


def vl_entries(skills: list[float]) -> list[dict[str, Any]]:
    """Return entries on VL-RewardBench."""
    made = snapshots.entries(list(enumerate(skills)), 1)
    return [{**one, **_facts(SERVED[0], number)} for number, one in enumerate(made)]


def board_of(spec: BenchmarkSpec, skills: list[float]) -> dict[str, Any]:
    """Return a snapshot of entries with these skills."""
    made = vl_entries(skills) if spec.id == SERVED[0] else pair_entries(spec.id, skills)
    return {**snapshots.snapshot(made, spec.id), "label_revisions": ["v2"], "sizes": {}}


def boards(count: int) -> list[BoardCache]:
    """Return the boards of the three benchmarks with `count` entries each, and their reported results."""
    specs = [load_spec(name) for name in SERVED]
    dice = np.random.default_rng(3)
    skills = dice.uniform(0.35, 0.9, count)
    made = []
    for spec, context in zip(specs, contexts_of(specs), strict=True):
        own = np.clip(skills + dice.normal(0, 0.05, count), 0.05, 0.97).tolist()
        made.append(BoardCache(FixedSource(board_of(spec, own)), context=context, check_every=600))
    return made


def application(found: list[BoardCache]) -> ASGIApp:
    """Return boards, their pages and the judges' pages under the addresses of a service."""
    apps = [board_app(board) for board in found]
    apps[0].include_router(leaderboard.judges.pages.build(found))
    others = {board.spec.id: app for board, app in zip(found[1:], apps[1:], strict=True)}
    return BenchmarkMiddleware(BenchmarkDispatch(apps[0], others), [board.spec.id for board in found])
