"""The table of threats names tests that exist, and misses none of the catalogue."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in (ROOT / "docs" / "security.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and line.count("|") == 5 and "::" in line
]
CATALOGUE = {"U": 9, "J": 14, "S": 9, "R": 4, "X": 5, "F": 3, "A": 8, "L": 4, "C": 4}


@cache
def names_in(path: Path) -> frozenset[str]:
    """Return the names of a file's tests."""
    if not path.is_file():
        return frozenset()
    found = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return frozenset(node.name for node in found if isinstance(node, ast.FunctionDef))


def test_every_row_has_a_defence_and_a_test_that_exists() -> None:
    missing = []
    for name, threat, defence, named in ROWS:
        assert threat and defence and "`" in named, name
        missing += gone(name, named)
    assert not missing, "\n".join(missing)


def gone(name: str, named: str) -> list[str]:
    """Return those tests of a cell that do not exist."""
    tests = re.findall(r"`([\w/]+\.py)::(\w+)`", named)
    assert named.count("`") == 2 * len(tests), f"{name}: write `path::name`"
    return [f"{name}: {path}::{test}" for path, test in tests if test not in names_in(ROOT / "tests" / path)]


def test_the_whole_catalogue_is_in_the_table() -> None:
    wanted = {f"{letter}{number}" for letter, most in CATALOGUE.items() for number in range(1, most + 1)}
    there: set[str] = set()
    for name, *_ in ROWS:
        if span := re.fullmatch(r"([A-Z])(\d+) to [A-Z](\d+)", name):
            there |= {f"{span[1]}{number}" for number in range(int(span[2]), int(span[3]) + 1)}
        else:
            there |= {part.strip() for part in name.split(",")}
    assert wanted <= there, f"no row: {sorted(wanted - there)}"
    assert there - wanted == {"Forged labels", "Finer counts", "Probing", "K1", "K2", "K3", "K4", "M1", "M2"}


def test_how_to_report_is_said_without_an_invented_address() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    assert "Report a vulnerability" in text
    assert "docs/security.md" in text
    assert "@" not in text
