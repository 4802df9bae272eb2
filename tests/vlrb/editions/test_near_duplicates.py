"""Near duplicates: inside a pool, of editions that are served, and of training sets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.factories.suite.programs import edition_main as main
from tests.real_data import rows
from tests.vlrb.editions.synthetic import picture
from vlrb.benchmarks.pairs import build_table
from vlrb.benchmarks.spec_file import load_spec
from vlrb.editions.edition import definition
from vlrb.editions.near_duplicates import ComparedPair, PairIndex, similarity

TEXTS = (
    "a long answer about the red car that stands to the left of the small house",
    "no car is to be seen here at all",
)


def compared(name: str, query: str, *responses: str, image: str = "") -> ComparedPair:
    pair = {"id": name, "query": query, "response": responses, "image_sha256": image, "image_hash": image}
    return ComparedPair.of(pair)


def test_similarity_is_the_share_of_common_runs_of_three_words() -> None:
    first = compared("a", "one two three four", "five six seven")
    second = compared("b", "one two three four five", "five six seven")
    assert similarity(first, second) == pytest.approx(3 / 4)
    assert similarity(first, first) == 1.0


@pytest.mark.parametrize("bits", range(7))
def test_images_that_differ_in_four_bits_are_found_and_no_others(bits: int) -> None:
    base = 0x0F0F_1234_5678_9ABC
    other = base
    for place in range(bits):
        other ^= 1 << (place * 13) % 64
    index = PairIndex("here", [compared("a", "What is it?", *TEXTS, image=f"{base:016x}")])
    found = index.find(compared("b", "Quite another question?", "yes", "no", image=f"{other:016x}"))
    assert (found is not None) == (bits <= 4)


def test_pairs_of_editions_and_training_sets_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.png").write_bytes(picture(1))
    (tmp_path / "b.png").write_bytes(picture(2))
    rows: list[dict[str, Any]] = [
        {"id": "1", "query": "Which car?", "response": list(TEXTS), "image": "a.png"},
        {"id": "2", "query": "Other?", "response": [TEXTS[0], "Something short."], "image": "b.png"},
        {"id": "3", "query": "What else?", "response": ["A tree.", "A shrub."], "image": "a.png"},
        {"id": "4", "query": "Why?", "response": ["Because.", "No reason."], "image": "b.png"},
    ]
    (tmp_path / "pool.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    before = tmp_path / "own" / "before"
    before.mkdir(parents=True)
    naming = {"id": "before", "title": "Before", "licence": "", "citation": ""}
    (before / "spec.toml").write_text(definition(naming, tags=(), sizes={"v1": {"all": 1}}, filtered_by=()))
    texts = {"response_a": TEXTS[0], "response_b": TEXTS[1]}
    held = {"id": "7", "query": "Which car?", "category": "all", **texts}
    manifest = build_table(load_spec("before", before.parent), {"v1": [held]}).to_json()
    (before / "items.json").write_text(json.dumps(manifest))
    monkeypatch.setenv("BENCHMARK_DEFINITIONS", str(before.parent))
    seen = {"question": "what else?", "chosen": "Anything.", "rejected": "Nothing.", "image": "a.png"}
    (tmp_path / "train.jsonl").write_text(json.dumps(seen) + "\n")
    pool = tmp_path / "pool"
    given = ["--source", "S", "--licence", "x", "--into", str(pool)]
    assert main(["pool", "import", str(tmp_path / "pool.jsonl"), *given]) == 0
    assert main(["pool", "duplicates", str(pool), "--against", f"train={tmp_path / 'train.jsonl'}"]) == 0
    told = {(one["pair"], one["kind"], one["where"]) for one in duplicates(pool)}
    assert {
        ("S-1", "same-pair", "before"),
        ("S-2", "same-response", "before"),
        ("S-3", "same-question", "train"),
        ("S-1", "similar-image", "train"),
        ("S-3", "similar-image", "pool"),
        ("S-4", "similar-image", "pool"),
    } == told


def write_pool(folder: Path, rows: list[dict[str, Any]]) -> Path:
    """Import rows that all have one flat image, which is like no other."""
    Image.new("L", (8, 8)).save(folder / "flat.png")
    lines = [json.dumps({**row, "image": "flat.png"}) + "\n" for row in rows]
    (folder / "rows.jsonl").write_text("".join(lines))
    pool = folder / "pool"
    given = ["--source", "S", "--licence", "x", "--into", str(pool)]
    assert main(["pool", "import", str(folder / "rows.jsonl"), *given]) == 0
    return pool


def duplicates(pool: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((pool / "duplicates.json").read_text())["duplicates"]
    return found


def test_pairs_of_vl_rewardbench_are_found_by_their_fingerprints_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    real = rows("items_v0.jsonl")[:50]
    pool = write_pool(tmp_path, [{name: row[name] for name in ("id", "query", "response")} for row in real])
    assert main(["pool", "duplicates", str(pool)]) == 0
    found = [one for one in duplicates(pool) if one["where"] == "vl-rewardbench"]
    assert {one["pair"] for one in found} == {f"S-{row['id']}" for row in real}
    out = capsys.readouterr().out
    assert "vl-rewardbench: compared by equal texts only. To compare all: --against vl-rewardbench=ITEMS" in out
    assert "multimodal-rewardbench: not compared. To compare all: --against multimodal-rewardbench=ITEMS" in out
    assert "demo" not in out


def test_items_that_are_given_are_compared_by_text_and_image(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pool = write_pool(tmp_path, [{"id": "1", "query": "Which car?", "response": [f"{text} indeed" for text in TEXTS]}])
    item = {"ID": "x", "Text": "Which car?", "Output1": TEXTS[0], "Output2": TEXTS[1], "Image": "flat.png"}
    other = {"ID": "y", "Text": None, "Output1": "A tree.", "Output2": "A shrub.", "Image": "lost.png"}
    (tmp_path / "items.json").write_text(json.dumps([item, other]))
    given = f"multimodal-rewardbench={tmp_path / 'items.json'}"
    assert main(["pool", "duplicates", str(pool), "--against", given]) == 0
    assert [(one["kind"], one["other"]) for one in duplicates(pool)] == [("similar-text", "x")]
    assert "multimodal-rewardbench: compared by texts of 2 pairs and images of 1." in capsys.readouterr().out
    assert main(["pool", "duplicates", str(pool), "--against", "vl-rewardbench"]) == 2
