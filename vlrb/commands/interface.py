"""The library's Python interface: read a prediction file, score it, compare two, read a board, check figures.

Each name is also one of the package: `import vlrb; vlrb.score(vlrb.read("predictions.jsonl"), "labels_v2.jsonl")`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vlrb.benchmarks.items import ItemTable, load_table
from vlrb.benchmarks.label_files import known_revision, load_labels, load_pairs
from vlrb.benchmarks.labels import LabelSet
from vlrb.benchmarks.pairs import pair_table
from vlrb.benchmarks.spec import DEFAULT_BENCHMARK, BenchmarkSpec
from vlrb.benchmarks.spec_file import definitions_folder, load_spec
from vlrb.commands.score import card_of
from vlrb.numbers import report
from vlrb.predictions.parse import Predictions, parse_predictions
from vlrb.statistics.pairwise import PairedCounts, compare_all
from vlrb.votes import condensed

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["JudgeVotes", "Scorecard", "board", "check_numbers", "compare", "read", "score"]


@dataclass(frozen=True, slots=True)
class JudgeVotes:
    """A prediction file that was read: its `predictions`, and the `table` of the items that they are about."""

    predictions: Predictions
    table: ItemTable


@dataclass(frozen=True, slots=True)
class Scorecard:
    """A judge's scores under a label set. `card`: what `vlrb score --json` prints; accuracies are fractions."""

    card: Mapping[str, Any]
    judge: JudgeVotes
    labels: LabelSet

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each rule and score: protocol, score, accuracy, low, high (95%, NaN where there is none).

        Raises:
            ImportError: pandas is not installed (`pip install "vlrb[frame]"`).
        """
        rows = [
            (protocol, name, accuracy, *((scores.get("interval") or {}).get(name) or (None, None)))
            for protocol, scores in self.card["protocols"].items()
            for name, accuracy in scores.items()
            if name != "interval"
        ]
        columns = ["protocol", "score", "accuracy", "low", "high"]
        frame: pd.DataFrame = _pandas().DataFrame(rows, columns=columns)
        return frame.astype(dict.fromkeys(columns[2:], float))


def read(
    path: str | Path, *, benchmark: str = DEFAULT_BENCHMARK, items: str | Path | None = None, pairs: str | Path = ""
) -> JudgeVotes:
    """Return the votes of a prediction file of any known tool, without labels.

    `items`: a manifest, of a benchmark whose definition has none; or `pairs`: the benchmark's own file.

    Raises:
        UploadRejected: the file cannot be read; `problems` names lines, fields and remedies.
        LabelsError: `items` or `pairs` is not a file of the benchmark.
    """
    spec = _spec(benchmark)
    table = pair_table([load_pairs(pairs, spec)]) if pairs else load_table(None if items is None else Path(items), spec)
    return JudgeVotes(parse_predictions(Path(path).read_bytes(), table), table)


def score(judge: JudgeVotes, labels: str | Path, *, revision: str | None = None) -> Scorecard:
    """Return the scores of a judge under the labels in a file or a Hub dataset `owner/name@commit`.

    Raises:
        LabelsError: they cannot be read, or are not of the judge's items.
    """
    label_set = load_labels(labels, known_revision(revision, judge.table), table=judge.table)
    return Scorecard(card_of(judge.predictions, label_set, table=judge.table), judge, label_set)


def compare(first: Scorecard, second: Scorecard) -> dict[str, PairedCounts]:
    """Return by score what the first judge has more than the second on the same pairs, with interval and p value.

    Raises:
        ValueError: the scorecards are not of the same labels of the same benchmark.
    """
    same = first.judge.table.items == second.judge.table.items
    if not same or not np.array_equal(first.labels.preferred, second.labels.preferred):
        raise ValueError("the scorecards are of different labels; score both files with the same ones")
    votes = np.stack([condensed(card.judge.predictions.votes.matrix) for card in (first, second)])
    table = first.judge.table
    relations = compare_all(["first", "second"], votes, labels=first.labels, table=table).relations
    return relations.pair("first", "second", table.spec) or {}


def board(url: str, *, benchmark: str = "", protocol: str = "") -> pd.DataFrame:
    """Return the board of a service, a row for each entry, with the columns of `GET /api/v1/leaderboard`.

    Raises:
        httpx.HTTPError: the service does not answer, or refuses.
        ImportError: pandas is not installed (`pip install "vlrb[frame]"`).
    """
    import httpx

    pandas = _pandas()  # before anything is asked
    given = {"benchmark": benchmark, "protocol": protocol}
    query = {name: value for name, value in given.items() if value}
    answer = httpx.get(f"{url.rstrip('/')}/api/v1/leaderboard", params=query, timeout=60.0, follow_redirects=True)
    answer.raise_for_status()
    frame: pd.DataFrame = pandas.json_normalize(answer.json()["entries"])
    return frame


def check_numbers(benchmark: str = DEFAULT_BENCHMARK, **figures: str) -> dict[str, Any]:
    """Return what arithmetic says about published percentages, each as it was printed: `macro="71.9"`.

    Raises:
        BadFigures: one is no percentage or no figure of the benchmark, none is given, or all are fractions.
    """
    spec = _spec(benchmark)
    report.refuse_unknown(figures, spec)
    return report.answer(figures, spec)


def _spec(benchmark: str) -> BenchmarkSpec:
    return load_spec(benchmark, definitions_folder(os.environ))


def _pandas() -> Any:
    try:
        import pandas
    except ImportError as missing:
        raise ImportError('pandas is not installed; run: pip install "vlrb[frame]"') from missing
    return pandas
