"""Texts of a judge in its file: how often they are one text K times, and how often empty. No label needed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from submissions.sandbox import read_isolated
from tests.factories import labels
from vlrb.benchmarks.items import ItemTable
from vlrb.predictions.parse import Predictions, parse_predictions

ROWS = labels.pairs(3)
K = 3


def judged(texts: list[list[str]]) -> bytes:
    """Native judgements."""
    lines = [
        {"id": row["id"], "judgements": [{"text": text, "swapped": False} for text in held]}
        for row, held in zip(ROWS, texts, strict=True)
    ]
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def official(texts: list[list[str]]) -> bytes:
    """As the official script writes, all first votes before all second ones."""
    lines = [
        {**row, "ranking": [0, 1], "meta": {"filter_choice": texts[index][vote], "random_number": 0}}
        for vote in range(K)
        for index, row in enumerate(ROWS)
    ]
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def texts(identical: int, empty: int) -> list[list[str]]:
    """K texts an item: the first `identical` items have one text K times, the last `empty` items K empty ones."""
    made = [[f"Overall Judgment: Answer 1 is better. {n} {vote}" for vote in range(K)] for n in range(len(ROWS))]
    for held in made[:identical]:
        held[:] = held[:1] * K
    for held in made[len(made) - empty :]:
        held[:] = ["", " \n", "\t"]
    return made


def about(data: bytes) -> Any:
    found = parse_predictions(data, labels.table(3))
    assert isinstance(found, Predictions)
    return found.texts


@pytest.mark.parametrize("write", [judged, official])
def test_identical_and_empty_texts_are_counted(write: Any) -> None:
    assert about(write(texts(0, 0))) == {"identical_rate": 0.0, "empty_rate": 0.0}
    assert about(write(texts(len(ROWS), 0))) == {"identical_rate": 1.0, "empty_rate": 0.0}
    found = about(write(texts(7, 3)))
    assert found == {"identical_rate": pytest.approx(10 / len(ROWS)), "empty_rate": pytest.approx(3 / len(ROWS))}


def test_one_vote_has_nothing_to_be_identical_with_and_files_without_texts_say_nothing() -> None:
    single = [[held[0]] for held in texts(0, 0)]
    assert about(judged(single)) == {"identical_rate": None, "empty_rate": 0.0}
    votes = "".join(json.dumps({"id": row["id"], "votes": [0, 1, None]}) + "\n" for row in ROWS).encode()
    assert about(votes) is None


def test_it_comes_out_of_the_process_that_reads_files_and_is_no_part_of_the_report(tmp_path: Path) -> None:
    table: ItemTable = labels.table(3)
    manifest, file = tmp_path / "items.json", tmp_path / "file.jsonl"
    manifest.write_text(json.dumps(table.to_json()))
    file.write_bytes(judged(texts(7, 0)))
    report, upload = read_isolated(file, manifest)
    assert upload is not None
    assert upload.texts == {"identical_rate": pytest.approx(1 / 3), "empty_rate": 0.0}
    assert "texts" not in report
