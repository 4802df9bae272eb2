"""The guide describes every rule."""

from __future__ import annotations

from pathlib import Path

from vlrb.editions.near_duplicates import KINDS

ROOT = Path(__file__).parents[3]
GUIDE = (ROOT / "docs" / "curating.md").read_text(encoding="utf-8")


def test_every_rule_and_kind_of_duplicate_is_described() -> None:
    assert not [name for name in (*KINDS, "wrong", "judges_wrong") if f"`{name}" not in GUIDE]
