"""The wheel of the library, in an environment that holds nothing else."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.factories import small_benchmark

ROOT = Path(__file__).parents[2]
UV = Path(sys.executable).with_name("uv")


@pytest.mark.slow
def test_the_wheel_checks_scores_and_compares_numbers_where_nothing_else_is_installed(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "vlrb", tmp_path / "source" / "vlrb", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path / "source")
    _ran(str(UV), "build", "--wheel", "--out-dir", str(tmp_path / "dist"), cwd=tmp_path / "source")
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0].partition("-")[0] for name in names} == {"vlrb"}
    data = (
        "benchmarks/vl-rewardbench/items.json",
        "locale/zh_CN/LC_MESSAGES/messages.po",
        "judge/templates/official.txt",
    )
    assert {f"vlrb/{name}" for name in data} <= set(names)
    _ran(str(UV), "venv", "--quiet", "--python", sys.executable, str(tmp_path / "env"), cwd=tmp_path)
    python = str(tmp_path / "env" / "bin" / "python")
    quickly = ("--quiet", "--link-mode", "symlink")  # nothing is copied
    _ran(str(UV), "pip", "install", *quickly, "--python", python, str(wheel), cwd=tmp_path)
    vlrb = str(tmp_path / "env" / "bin" / "vlrb")
    small_benchmark.write_demo(tmp_path)
    items, labels = tmp_path / "demo" / "items.json", tmp_path / "demo" / "labels.jsonl"
    file = tmp_path / "judge.jsonl"
    lines = [{"id": item.ids["demo"], "votes": [0]} for item in small_benchmark.table().items]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert json.loads(_ran(vlrb, "check", str(file), "--items", str(items), "--json", cwd=tmp_path))["ok"] is True
    card = _ran(vlrb, "score", str(file), "--items", str(items), "--labels", str(labels), "--json", cwd=tmp_path)
    assert json.loads(card)["items"] == len(lines)
    assert json.loads(_ran(vlrb, "numbers", "--overall", "66.2", "--json", cwd=tmp_path))["verdict"]


def _ran(*command: str, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout
