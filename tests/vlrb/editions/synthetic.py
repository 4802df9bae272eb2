"""A pool of invented pairs in which everything is known: true labels, wrong labels, duplicates, and judges' votes."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from PIL import Image

WORDS = [a + b + c for a in ("ka", "lo", "mi", "nu", "re", "so", "ta", "vu") for b in "bdfgklmnprst" for c in "aeiou"]
SOURCES = ("Alpha", "Beta", "Gamma")
JUDGES = {"small": 0.62, "medium": 0.70, "large": 0.78, "other": 0.55}
RUNS = 3


@dataclass
class SyntheticPool:
    """Rows by source, and what is planted. ``truth``: id -> better response as the row has them."""

    rows: dict[str, list[dict[str, Any]]] = field(default_factory=lambda: {source: [] for source in SOURCES})
    truth: dict[str, int] = field(default_factory=dict)
    wrong_labels: set[str] = field(default_factory=set)
    copies: set[str] = field(default_factory=set)
    votes: dict[str, dict[str, list[int]]] = field(default_factory=dict)  # judge -> id -> choices, -1 undecided

    @cached_property
    def pairs(self) -> dict[str, dict[str, Any]]:
        """All rows by the ids that the pool gives them."""
        return {f"{source}-{row['id']}": row for source, rows in self.rows.items() for row in rows}


def picture(number: int) -> bytes:
    """An image of noise, another for each number."""
    noise = random.Random(number)
    image = Image.frombytes("L", (24, 24), bytes(noise.randrange(256) for _ in range(576)))
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def invent(folder: Path, pairs: int) -> SyntheticPool:
    """A pool of so many pairs; images lie in the folder. One pair in 25 is a copy, one in 20 has a wrong label."""
    chance = random.Random(7)
    pool = SyntheticPool()
    pictures = max(4, pairs // 10)
    for number in range(pictures):
        (folder / f"{number}.png").write_bytes(picture(number))
    for number in range(pairs):
        source = SOURCES[number % 3]
        row = (
            _copy(chance, pool.rows[source][-1], number=number)
            if number % 25 == 24
            else _new(chance, number, pictures=pictures)
        )
        name = f"{source}-{row['id']}"
        if number % 25 == 24:
            pool.copies.add(name)
        preferred = int(row["preferred"])
        if number % 20 == 7:
            pool.wrong_labels.add(name)
            row["preferred"] = 1 - preferred
        pool.truth[name] = preferred
        pool.rows[source].append(row)
    for judge, accuracy in JUDGES.items():
        pool.votes[judge] = {
            name: _votes(chance, _chance_of_right(accuracy, int(name.rpartition("-")[2])), better=better)
            for name, better in pool.truth.items()
        }
    return pool


def _new(chance: random.Random, number: int, *, pictures: int) -> dict[str, Any]:
    return {
        "id": str(number),
        "query": "What about " + " ".join(chance.choices(WORDS, k=6)) + "?",
        "response": [" ".join(chance.choices(WORDS, k=chance.randrange(20, 60))) for _ in range(2)],
        "preferred": chance.randrange(2),
        "image": f"{number % pictures}.png",
        "category": "general" if number % 2 else "detail",
    }


def _copy(chance: random.Random, row: dict[str, Any], *, number: int) -> dict[str, Any]:
    """The row again: its responses swapped, one word changed, or other responses to the same question."""
    copy = {**row, "id": str(number), "response": list(row["response"])}
    kind = chance.randrange(3)
    if kind == 0:
        copy["response"] = copy["response"][::-1]
    elif kind == 1:
        words = copy["response"][0].split()
        words[len(words) // 2] = "changed"
        copy["response"][0] = " ".join(words)
    else:
        copy["response"] = [" ".join(chance.choices(WORDS, k=30)) for _ in range(2)]
    return copy


def _chance_of_right(accuracy: float, number: int) -> float:
    """One pair in seven is hard for all judges, and one in three of the others easy."""
    return 0.05 if number % 7 == 0 else 0.97 if number % 3 == 1 else accuracy


def _votes(chance: random.Random, right: float, *, better: int) -> list[int]:
    """Votes about a pair; a few are undecided."""
    said = (better if chance.random() < right else 1 - better for _ in range(RUNS))
    return [-1 if chance.random() < 0.03 else choice for choice in said]


def write_sources(pool: SyntheticPool, folder: Path) -> dict[str, Path]:
    """The rows as a file for each source."""
    paths = {}
    for source, rows in pool.rows.items():
        paths[source] = folder / f"{source}.jsonl"
        paths[source].write_text("".join(json.dumps(row) + "\n" for row in rows))
    return paths


def write_runs(pool: SyntheticPool, folder: Path, judges: Iterable[str]) -> list[str]:
    """A native file for each judge, about the responses in the order in which the pool in the folder stores them."""
    lines = map(json.loads, (folder / "pool" / "pairs.jsonl").read_text().splitlines())
    stored = {line["id"]: line["response"] for line in lines}
    for judge in judges:
        with (folder / f"{judge}.jsonl").open("w") as out:
            for name, votes in pool.votes[judge].items():
                turned = stored[name][0] != pool.pairs[name]["response"][0]
                given = [None if choice < 0 else choice ^ turned for choice in votes]
                out.write(json.dumps({"id": name, "votes": given}) + "\n")
    return [str(folder / f"{judge}.jsonl") for judge in judges]


def lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text().splitlines()]
