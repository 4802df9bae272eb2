"""A synthetic benchmark of the same shape as VL-RewardBench, and six simulated judges for it, as data.

Nothing in it is real: the images are invented, the texts come from templates, the judges are draws from a logistic
model with an ability per source, a difficulty per pair that they share, and a habit each (a favourite position,
indecision). `demo.zip` in the folder of its definition holds pairs, judges, one more file to try the commands with, and
the pictures of sixty pairs.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any
from zipfile import ZipFile

from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.labels import LabelSet
from vlrb.benchmarks.pairs import build_table, label_set
from vlrb.benchmarks.spec import DEMO, BenchmarkSpec
from vlrb.benchmarks.spec_file import load_spec

BENCHMARK = REVISION = DEMO
SAMPLE, PICTURES, JUDGES = "my-judge.jsonl", "pictures", "judges"
DemoRow = dict[str, Any]


def demo_spec() -> BenchmarkSpec:
    """Return the definition of the demo."""
    return load_spec(BENCHMARK)


@cache
def demo_archive() -> ZipFile:
    """Return the files of the demo."""
    return ZipFile(io.BytesIO(demo_spec().read("demo.zip") or b""))


def demo_pairs() -> list[DemoRow]:
    """1,250 dataset-shaped rows: id, query, response, human_ranking, models, judge, rationale, query_source,
    ground_truth, human_error_analysis, category, source.

    Sizes per source and error-tag frequencies are those of the real benchmark. Unlike there, either position holds
    the preferred response about equally often, ids are unique, and no two pairs share a text.
    """
    return [json.loads(line) for line in demo_archive().read("pairs.jsonl").splitlines()]


def demo_items(pairs: Sequence[Mapping[str, Any]]) -> ItemTable:
    """Return the item table of the pairs, with the one revision "demo"."""
    return build_table(demo_spec(), {REVISION: pairs})


def demo_labels(pairs: Sequence[Mapping[str, Any]], table: ItemTable) -> LabelSet:
    """Return the label set "demo" of the pairs, which are the table's items in its order."""
    return label_set(pairs, REVISION, table=table)


def demo_label_rows(pairs: Sequence[Mapping[str, Any]]) -> list[DemoRow]:
    """Return what a labels file of the demo holds: id, human_ranking, human_error_analysis; no texts."""
    return [{name: row[name] for name in ("id", "human_ranking", "human_error_analysis")} for row in pairs]
