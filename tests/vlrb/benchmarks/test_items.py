"""An item is found by what it says and what it is called, never by one of the two alone."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from maintenance.__main__ import main
from maintenance.__main__ import main as maintenance
from tests.factories.labels import SIZES, pairs
from tests.factories.specs import INVENTED, SOURCES, VL, source_from_id
from tests.pair_files import mm_rlhf_items, mmrb_items, write_json
from tests.real_data import real_file, rows
from vlrb.benchmarks.items import ItemTable, fingerprint, load_table, normalise_query
from vlrb.benchmarks.pairs import build_table, pair_table, read_pairs
from vlrb.benchmarks.spec_file import load_spec


def test_white_space_and_the_image_mark_do_not_change_a_fingerprint() -> None:
    assert fingerprint("<image>What is this?\n", ["a  b", "c"], dropped=["<image>"]) == fingerprint(
        "What  is this?", ["c", "a b "]
    )
    assert normalise_query("See <image 2> here<image>", ["<image>"]) == "See <image 2> here"


def test_composed_and_decomposed_letters_are_the_same_text() -> None:
    assert fingerprint("caf\u00e9", ["x", "y"]) == fingerprint("cafe\u0301", ["x", "y"])


def test_text_identical_pairs_stay_separate_items_with_numbered_keys() -> None:
    row = pairs(1)[0]
    table = build_table(INVENTED, {"r1": [row, {**row, "id": "other"}, {**row, "id": "third"}]})
    keys = [item.key for item in table.items]
    assert keys[1:] == [f"{keys[0]}-2", f"{keys[0]}-3"]
    assert table.by_fingerprint(keys[0]) == (0, 1, 2)


def test_a_later_revision_is_matched_by_text_and_then_by_id() -> None:
    row = pairs(1)[0]
    first = [row, {**row, "id": "other"}]
    table = build_table(INVENTED, {"r1": first, "r2": first[::-1]})
    assert [item.rows["r2"] for item in table.items] == [1, 0]
    assert table.in_revision("r2") == (1, 0)


def test_a_pair_that_the_first_revision_lacks_is_an_item_of_the_later_one_alone() -> None:
    row = pairs(1)[0]
    table = build_table(INVENTED, {"r1": [row], "r2": [row, {**row, "query": "Something else"}]})
    assert [item.rows for item in table.items] == [{"r1": 0, "r2": 0}, {"r2": 1}]


def test_an_id_with_an_unknown_prefix_has_no_source() -> None:
    with pytest.raises(ValueError, match="is no category of VL-RewardBench"):
        source_from_id({"id": "nonsense-1"})


def test_a_manifest_survives_json() -> None:
    table = build_table(INVENTED, {"r1": pairs(2)})
    again = ItemTable.from_json(json.loads(json.dumps(table.to_json())), INVENTED)
    assert again.items == table.items and again.revisions == table.revisions


def test_the_shipped_manifest_has_the_paper_s_sizes() -> None:
    table = ItemTable.load(VL)
    sizes = {source: sum(item.source == source for item in table.items) for source in SOURCES}
    assert sizes == SIZES
    assert [len(table.in_revision(revision)) for revision in ("v0", "v1", "v2")] == [1250, 1250, 1247]
    assert len({item.key for item in table.items}) == 1250
    assert len({item.fingerprint for item in table.items}) == 1245
    assert sum(item.swapped_by_parity for item in table.items) == 652


def test_the_shipped_manifest_knows_which_ids_repeat_in_which_revision() -> None:
    table = ItemTable.load(VL)
    names = {name for item in table.items for name in item.ids.values()}
    assert len(names) == 1270
    assert sum(len(table.by_id(name)) == 2 for name in names) == 25
    for revision, repeated in (("v0", 18), ("v1", 25), ("v2", 9)):
        assert sum(len(table.by_id(name, revision)) == 2 for name in names) == repeated
    for item in table.items:
        twins = [table.items[other].ids["v0"] for other in table.by_fingerprint(item.fingerprint)]
        assert twins.count(item.ids["v0"]) == 1


def test_the_shipped_manifest_is_what_the_command_builds_from_the_dataset(tmp_path, capsys) -> None:
    output = tmp_path / "manifest.json"
    files = [
        f"{r}={real_file(f'data/{name}')}"
        for r, name in (("v0", "items_v0.jsonl"), ("v1", "items_v1.json"), ("v2", "labels_v2.jsonl"))
    ]
    assert maintenance(["manifest", "vl-rewardbench", *files, "--output", str(output)]) == 0
    assert "1250 pairs" in capsys.readouterr().out
    assert load_table(output).items == ItemTable.load(VL).items


def test_the_shipped_manifest_holds_no_text_and_no_label() -> None:
    manifest = json.dumps(ItemTable.load(VL).to_json())
    assert "preferred" not in manifest and "ranking" not in manifest
    for row in rows("items_v0.jsonl"):
        assert row["query"][:40] not in manifest if len(row["query"]) > 40 else True


def test_categories_and_sources_agree_with_the_benchmark_s_own_facts() -> None:
    table = ItemTable.load(VL)
    for item, fact in zip(table.items, rows("items_meta_v0.jsonl"), strict=True):
        assert (item.source, item.category, item.ids["v0"]) == (fact["source"], fact["category"], fact["id"])
        assert item.rows["v1"] == fact["v1_row"] and item.ids["v1"] == fact["v1_id"]
        assert item.ids.get("v2") == fact["v2_id"]
        assert sorted(item.words) == sorted((fact["words_chosen"], fact["words_rejected"]))


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
