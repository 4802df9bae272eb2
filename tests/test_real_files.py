"""Real files through the worker's command give the numbers that their tools, or their writers, stand for."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bench.official_files import official_lines
from bench.official_rule import official_counts
from tests.factories.suite.programs import run_vlrb
from tests.real_data import real_file, rows

TOOLS = (
    "official_k3.jsonl", "officialold_k3.jsonl", "lmms_head.jsonl", "lmms_061.jsonl", "lmms_035.jsonl",
    "vlmeval_xlsx.xlsx", "vlmeval_tsv.tsv", "vlmeval_json.json", "vlmeval_xlsxv03.xlsx",
)  # fmt: skip
LABELS = {"v0": "items_v0.jsonl", "v1": "items_v1.json", "v2": "labels_v2.jsonl"}


def score(file: Path, revision: str, *, extra: Sequence[str] = ()) -> dict[str, Any]:
    """Return the scorecard that `vlrb score` prints."""
    labels = real_file(f"data/{LABELS[revision]}")
    done = run_vlrb("score", str(file), "--labels", str(labels), "--revision", revision, "--json", *extra)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


@pytest.mark.parametrize("name", TOOLS)
def test_a_file_that_a_real_tool_wrote_gives_exactly_its_tally(name: str) -> None:
    expected = next(
        entry for entry in json.loads(real_file("data/tools/expected.json").read_text()) if entry["file"] == name
    )
    card = score(real_file(f"data/tools/{name}"), expected["revision"])
    assert card["tally"] == expected["tally"]
    assert card["votes_per_item"] == expected["votes_per_item"]


def test_the_published_judge_file_is_right_on_538_of_1247() -> None:
    card = score(real_file("data/predictions/vl-reward-model_qwen2vl7b_judge.json"), "v2")
    assert sum(row["agree"] for row in card["tally"].values()) == 538
    assert card["items"] == 1247 and card["missing_items"] == 0
    assert card["protocols"]["strict"]["overall"] == pytest.approx(0.4314, abs=5e-5)


def test_the_published_reward_file_has_its_four_ties_undecided() -> None:
    card = score(real_file("data/predictions/vl-reward-model_qwen2vl7b_reward.json"), "v2")
    sums = {name: sum(row[name] for row in card["tally"].values()) for name in ("agree", "reject", "undecided")}
    assert sums == {"agree": 826, "reject": 417, "undecided": 4}
    assert card["protocols"]["strict"]["overall"] == pytest.approx(0.6624, abs=5e-5)
    assert card["protocols"]["paper"]["overall"] == pytest.approx(0.6645, abs=5e-5)


@pytest.mark.parametrize("k", [1, 4, 5, 9, 10])
def test_official_files_get_the_official_rule_s_counts(k: int, tmp_path: Path) -> None:
    file = tmp_path / "judge-1126.jsonl"
    file.write_text("".join(official_lines(rows("items_v0.jsonl"), k, seed=k)))
    card = score(file, "v0")
    with file.open() as lines:
        official = official_counts(lines)
    for category, row in card["tally"].items():
        counted = official[category]
        assert (row["agree"], row["reject"]) == (counted["agree"], counted["reject"]), category
        assert row["undecided"] == counted["doesntMatch"] + counted["other"], category
    assert card["votes_per_item"] == k


def test_a_file_on_v2_scored_under_v0_labels_misses_three_items() -> None:
    card = score(real_file("data/predictions/vl-reward-model_qwen2vl7b_judge.json"), "v0")
    assert card["items"] == 1250 and card["missing_items"] == 3
    assert sum(row["n"] - row["agree"] - row["reject"] - row["undecided"] for row in card["tally"].values()) == 3
