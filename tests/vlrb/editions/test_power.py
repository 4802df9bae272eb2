"""Pairs that separate neighbours on a board, against a worked example."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.factories.suite.programs import edition_main as main


def test_neighbours_are_compared_in_the_order_of_scores_that_have_an_interval(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entries: list[dict[str, Any]] = [
        {"model": name, "general": share, "price_usd": 0.45, "interval": {"general": [0.5, 0.7]}}
        for name, share in (("C", 0.60), ("A", 0.65), ("B", 0.60))
    ]
    entries.append({"model": "R", "tier": "reported", "general": 0.62, "interval": None})
    board = tmp_path / "board.json"
    board.write_text(json.dumps({"entries": entries}))
    assert main(["power", str(board), "--discordant", "0.25"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "general: A (65.0%) and C (60.0%) separate from 783 pairs on",
        "general: C (60.0%) and B (60.0%) are equal",
    ]
    assert main(["power", str(board), "--discordant", "2"]) == 2
    board.write_text('{"entries": []}')
    assert main(["power", str(board)]) == 2
