"""`vlrb check FILE`: what it prints, and its exit code."""

import json
from pathlib import Path

import pytest

from tests.factories import prediction_files as files
from tests.factories.labels import pairs
from tests.factories.specs import INVENTED
from tests.factories.suite.programs import run_maintenance, run_vlrb
from tests.pair_files import mmrb_items, mmrb_predictions, write_json_lines
from vlrb.benchmarks.pairs import build_table
from vlrb.commands.check import readable


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    """Return items of a small benchmark."""
    path = tmp_path / "items.json"
    path.write_text(json.dumps(build_table(INVENTED, {"r1": pairs(2)}).to_json()))
    return path


def test_a_good_file_is_reported_with_exit_0(tmp_path: Path, manifest: Path) -> None:
    path = tmp_path / "any name.bin"
    path.write_bytes(files.official(pairs(2), files.random_votes(14, 3)))
    done = run_vlrb("check", str(path), "--items", str(manifest))
    assert done.returncode == 0, done.stderr
    for expected in (
        "OK: ready to submit. Format: official",
        "r1",
        "14, with 3 votes each",
        "readable votes",
        "picked first answer",
    ):
        assert expected in done.stdout
    report = json.loads(run_vlrb("check", str(path), "--items", str(manifest), "--json").stdout)
    assert (report["ok"], report["format"], report["items"], report["votes_per_item"]) == (True, "official", 14, 3)


def test_a_bad_file_is_reported_with_exit_1_line_id_and_field(tmp_path: Path, manifest: Path) -> None:
    lines = [{"id": row["id"], "votes": [0]} for row in pairs(2)]
    lines[2]["votes"] = [3]
    path = tmp_path / "bad.jsonl"
    path.write_bytes(files.jsonl(lines))
    done = run_vlrb("check", str(path), "--items", str(manifest))
    assert done.returncode == 1
    assert f"problem bad-vote: line 3, id {lines[2]['id']}, field votes[0]: " in done.stdout
    report = json.loads(run_vlrb("check", str(path), "--items", str(manifest), "--json").stdout)
    assert (report["ok"], report["problem_count"]) == (False, 1)


def test_a_benchmark_without_a_manifest_is_checked_with_one_made_as_the_message_says(tmp_path: Path) -> None:
    rows, own, made = mmrb_items(40, seed=1), tmp_path / "all_data.json", tmp_path / "items.json"
    own.write_text(json.dumps(rows))
    file = write_json_lines(tmp_path / "predictions.jsonl", mmrb_predictions(rows, seed=1))
    check = ("check", str(file), "--benchmark", "multimodal-rewardbench")
    refused = run_vlrb(*check)
    assert refused.returncode == 2
    command = "python -m maintenance manifest multimodal-rewardbench released=FILE --output items.json"
    assert command in refused.stderr and "--items items.json" in refused.stderr
    assert run_maintenance("manifest", "multimodal-rewardbench", f"part={own}", "--output", str(made)).returncode == 0
    checked = run_vlrb(*check, "--items", str(made), "--json")
    assert checked.returncode == 0
    assert json.loads(checked.stdout)["one_order"] is None, "here the order of the file says nothing of the labels"


def test_control_characters_of_a_file_do_not_reach_the_terminal() -> None:
    problem = {"line": 1, "id": "a\x1b[31m\nOK: official", "field": None, "code": "unknown-item", "message": "no\x07"}
    report = {"ok": False, "format": None, "benchmark": "x", "warnings": [], "problems": [problem], "problem_count": 3}
    text = readable(report)
    assert "\x1b" not in text
    assert "\x07" not in text
    assert len(text.split("\n")) == 3
    assert text.endswith("and 2 more problems")


def test_the_format_and_the_place_of_a_problem_are_named_in_the_language_of_the_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    problem = {"line": 3, "id": "{x}", "field": "votes[0]", "code": "bad-vote", "message": "%(y)s"}
    report = {"ok": False, "benchmark": "x", "warnings": [], "problems": [problem], "problem_count": 1}
    shown = readable({**report, "format": "official"})
    assert "格式：官方脚本。" in shown
    assert shown.endswith("bad-vote：第 3 行、id {x}、字段 votes[0]：%(y)s")
