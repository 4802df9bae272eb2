"""A manifest of pairs holds facts and tells no label."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from maintenance.__main__ import main
from tests.pair_files import mm_rlhf_items, mmrb_items, write_json
from vlrb.benchmarks.pairs import pair_table, read_pairs
from vlrb.benchmarks.spec_file import load_spec


def test_a_manifest_is_the_same_whichever_response_is_preferred() -> None:
    items, spec = mm_rlhf_items(seed=1), load_spec("mm-rlhf-rewardbench")
    turned = [{**item, "chosen": item["rejected"], "rejected": item["chosen"]} for item in items]
    one, other = (replace(read_pairs(given, spec), edition="part") for given in (items, turned))
    assert pair_table([one]).items == pair_table([other]).items


def test_a_repeated_pair_is_another_item_and_editions_share_items() -> None:
    items, spec = mmrb_items(24, seed=2), load_spec("multimodal-rewardbench")
    whole, part = read_pairs(items, spec), read_pairs(items[:6], spec)
    table = pair_table([whole, part])
    assert len(table) == len(items) == len({item.key for item in table.items})
    assert table.items[-1].key.endswith("-2")
    assert [item.rows.get(part.edition) for item in table.items[:7]] == [0, 1, 2, 3, 4, 5, None]


def test_no_text_and_no_label_is_in_a_manifest(tmp_path: Path) -> None:
    items = mmrb_items(24, seed=3)
    file, output = write_json(tmp_path / "all_data.json", items), tmp_path / "manifest.json"
    assert main(["manifest", "multimodal-rewardbench", f"part={file}", "--output", str(output)]) == 0
    text = output.read_text()
    assert "Output" not in text and "Better" not in text and "question" not in text and "answer" not in text
