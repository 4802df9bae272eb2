"""Best-of-N accuracies that maintainers add to rows of the board: `best_of_n.json`, see docs/maintaining.md."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from vlrb.benchmarks.spec import BenchmarkSpec

VALUES = "best_of_n.json"
"""In the folder of a definition."""
_FIELDS = ("id", "policy", "n", "accuracy", "source")


@dataclass(frozen=True, slots=True)
class BestOfN:
    """How accurate the answers are that a judge picked: ``accuracy`` in percent, of the best of ``n`` by ``policy``."""

    id: str  # of the row on the board
    policy: str
    n: int
    accuracy: float
    source: str


@cache
def load_values(spec: BenchmarkSpec) -> tuple[BestOfN, ...]:
    """Return the values that come with a definition.

    Raises:
        ValueError: as read_values.
    """
    content = spec.read(VALUES)
    return () if content is None else read_values(content.decode())


def read_values(text: str) -> tuple[BestOfN, ...]:
    """Return the values of a file.

    Raises:
        ValueError: a value lacks something, has something unknown, or is out of range; the message says which.
    """
    rows = json.loads(text)["values"]
    return tuple(_value(row, number) for number, row in enumerate(rows, start=1)) if isinstance(rows, Sequence) else ()


def _value(row: object, number: int) -> BestOfN:
    if not isinstance(row, dict) or set(row) != set(_FIELDS):
        raise ValueError(f"value {number} of best_of_n.json needs exactly {', '.join(_FIELDS)}")
    texts = all(isinstance(row[name], str) and row[name].strip() for name in ("id", "policy", "source"))
    number_of = isinstance(row["n"], int) and row["n"] >= 2
    share = isinstance(row["accuracy"], int | float) and 0 <= row["accuracy"] <= 100
    if not (texts and number_of and share):
        raise ValueError(
            f"value {number} of best_of_n.json: texts must say something, n is from 2, accuracy in percent"
        )
    return BestOfN(row["id"], row["policy"], n=row["n"], accuracy=float(row["accuracy"]), source=row["source"])
