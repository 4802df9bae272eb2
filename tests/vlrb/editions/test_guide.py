"""The guide works word for word, and describes every rule."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from vlrb.editions.near_duplicates import KINDS

ROOT = Path(__file__).parents[3]
GUIDE = (ROOT / "docs" / "curating.md").read_text(encoding="utf-8")


def example(python: str) -> str:
    """Return the commands of the guide's first example with another word for the interpreter."""
    section = GUIDE.partition("## Try it")[2].partition("\n## ")[0]
    commands = "\n".join(re.findall(r"```bash\n(.*?)```", section, re.DOTALL))
    return commands.replace(".venv/bin/python", python).replace(".venv/bin/vlrb", f"{python} -m vlrb")


@pytest.mark.slow
@pytest.mark.long
def test_the_first_example_of_the_guide_works_word_for_word(tmp_path: Path) -> None:
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = ["bash", "-e", "-c", example(sys.executable)]
    ran = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=240)
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "first" / "editions" / "first-edition" / "spec.toml").is_file()
    assert (tmp_path / "first" / "private" / "first-edition" / "labels.jsonl").is_file()
    assert "below chance" in (tmp_path / "first" / "pool" / "filtered" / "filter.md").read_text()


def test_every_rule_and_kind_of_duplicate_is_described() -> None:
    assert not [name for name in (*KINDS, "wrong", "judges_wrong") if f"`{name}" not in GUIDE]
