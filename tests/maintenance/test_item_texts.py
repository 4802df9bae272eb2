"""The item file: texts without anything that tells a label."""

import json
from pathlib import Path
from typing import Any

import pytest

from leaderboard.explore.item_catalog import read_item_file
from maintenance.__main__ import main
from tests.factories.labels import pairs, table
from tests.factories.specs import VL
from tests.real_data import rows as real_rows
from vlrb.benchmarks.item_texts import item_rows, item_text
from vlrb.benchmarks.items import ItemTable


def dataset(turned: bool = False) -> list[dict[str, Any]]:
    rows = [{**row, "human_ranking": [0, 1], "rationale": "because", "image_path": "images/a.jpg"} for row in pairs(3)]
    return [{**row, "response": row["response"][::-1], "human_ranking": [1, 0]} for row in rows] if turned else rows


def test_only_texts_are_kept() -> None:
    for row in item_rows(dataset(), table(3)):
        assert set(row) == {"key", "id", "query", "response", "image"}


def test_the_file_is_the_same_whichever_response_is_stored_first() -> None:
    assert list(item_rows(dataset(), table(3))) == list(item_rows(dataset(turned=True), table(3)))


@pytest.mark.parametrize("row", [{"id": "x", "query": "What?", "response": ["a", "b"]}, {"id": "x"}, pairs(3)[0]])
def test_rows_that_are_no_pair_of_the_benchmark_are_refused(row: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="row 21"):
        list(item_rows([*dataset(), row], table(3)))


def test_the_command_writes_what_the_explore_page_reads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, manifest, output = tmp_path / "data.jsonl", tmp_path / "manifest.json", tmp_path / "items.jsonl"
    source.write_text("\n".join(json.dumps(row) for row in dataset()))
    manifest.write_text(json.dumps(table(3).to_json()))
    assert main(["items", str(source), "--items", str(manifest), "--output", str(output)]) == 0
    assert "21 of 21 pairs" in capsys.readouterr().out
    texts = read_item_file(output, table(3))
    assert all(text is not None and text.image == "images/a.jpg" for text in texts)


def test_the_real_pairs_become_an_item_file_without_a_label(tmp_path: Path) -> None:
    items = ItemTable.load(VL)
    file = tmp_path / "items.jsonl"
    file.write_text(item_text(item_rows(real_rows("items_v0.jsonl"), items)), encoding="utf-8")
    assert all(read_item_file(file, items))
