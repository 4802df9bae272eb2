"""Label sets: revisions with a digest, from files by fingerprint, row or id, with every problem named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from tests.factories import labels
from tests.factories.specs import INVENTED as INVENTED_SPEC
from tests.factories.specs import TAGS, VL
from tests.real_data import real_file
from vlrb.benchmarks import label_files as labels_module
from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.label_files import LabelsError, LabelsUnreachable, label_set, load_labels
from vlrb.benchmarks.labels import NOT_LABELLED, LabelSet, error_tags, make_label_set
from vlrb.benchmarks.pairs import build_table

V0, V1, V2 = "items_v0.jsonl", "items_v1.json", "labels_v2.jsonl"


@pytest.fixture(scope="module")
def real_table() -> ItemTable:
    return ItemTable.load(VL)


def _real(name: str, table: ItemTable, *, revision: str | None = None) -> LabelSet:
    return load_labels(real_file(f"data/{name}"), revision, table=table)


@pytest.mark.parametrize(
    ("name", "revision", "items", "second_preferred"), [(V0, "v0", 1250, 5), (V1, "v1", 1250, 5), (V2, "v2", 1247, 21)]
)
def test_every_real_revision_loads_and_is_recognised(
    real_table: ItemTable, name: str, revision: str, items: int, second_preferred: int
) -> None:
    labels = _real(name, real_table)
    assert (labels.revision, labels.items) == (revision, items)
    assert int((labels.preferred == 1).sum()) == second_preferred
    assert labels.digest == _real(name, real_table, revision=revision).digest


def test_error_tags_count_an_item_once_and_are_none_where_the_revision_has_none(real_table: ItemTable) -> None:
    def mentions(name: str) -> list[int]:
        tags = _real(name, real_table).tags
        assert tags is not None
        return [sum(tag in item for item in tags) for tag in TAGS]

    assert mentions(V0) == [526, 177, 69, 60, 50]
    assert sum(mentions(V2)) == 881
    assert _real(V1, real_table).tags is None


def _write_jsonl(path: Path, data: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in data))


def _write_json(path: Path, data: list[dict[str, Any]]) -> None:
    path.write_text(json.dumps(data, indent=1))


def _write_parquet(path: Path, data: list[dict[str, Any]]) -> None:
    parquet.write_table(pa.Table.from_pylist([{**row, "image": b"\x89PNG" * 100} for row in data]), path)


INVENTED = [
    {
        **{key: pair[key] for key in ("id", "query", "response")},
        "human_ranking": [i % 2, 1 - i % 2],
        "human_error_analysis": ["hallucination"] * 2 + ["recognition(face)", "others, odd"] if i == 0 else None,
    }
    for i, pair in enumerate(labels.pairs())
]


@pytest.fixture(scope="module")
def table() -> ItemTable:
    return labels.table()


@pytest.mark.parametrize("write", [_write_jsonl, _write_json, _write_parquet])
def test_the_format_of_a_file_makes_no_difference(
    table: ItemTable, tmp_path: Path, write: Callable[[Path, list[dict[str, Any]]], None]
) -> None:
    write(tmp_path / "labels", INVENTED)
    labels = load_labels(str(tmp_path / "labels"), "r1", table=table)
    assert labels.preferred.tolist() == [i % 2 for i in range(len(table))]
    assert labels.tags is not None
    assert labels.tags[0] == {"existence", "recognition", "other"}
    assert labels.digest == label_set(INVENTED, "r1", table=table).digest


def test_a_file_that_stores_the_responses_the_other_way_round_gives_the_same_labels(table: ItemTable) -> None:
    reversed_rows = [
        {**row, "response": row["response"][::-1], "human_ranking": row["human_ranking"][::-1]}  # type: ignore[index]
        for row in INVENTED
    ]
    assert label_set(reversed_rows, "r1", table=table).digest == label_set(INVENTED, "r1", table=table).digest


def test_a_new_revision_may_leave_items_out_but_no_category(table: ItemTable) -> None:
    labels = label_set(INVENTED[1:], "r2", table=table)
    assert (labels.items, labels.preferred[0]) == (len(table) - 1, -1)
    with pytest.raises(LabelsError, match="no pair of general has a label"):
        label_set(INVENTED[6:], "r2", table=table)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": 7}, "row 4: the field `id` must be a text"),
        ({"human_ranking": [1, 1]}, r"row 4: the field `human_ranking` must be one of \[0, 1\], \[1, 0\]"),
        ({"human_ranking": None}, "row 4: the field `human_ranking` must be one of"),
        ({"human_error_analysis": ["boredom"]}, "row 4: unknown error tag; known: "),
        ({"human_error_analysis": [7]}, "row 4: human_error_analysis is not a list of texts"),
        ({"response": ["one"]}, "row 4: the field `response.1` must be a text"),
        ({"response": ["one", "other"]}, "row 4: no pair of vl-rewardbench has this id and these responses"),
        (dict(INVENTED[2]), "row 4: the pair is labelled twice"),
    ],
)
def test_a_bad_row_is_named(table: ItemTable, change: dict[str, Any], message: str) -> None:
    with pytest.raises(LabelsError, match=message):
        label_set([*INVENTED[:3], {**INVENTED[3], **change}, *INVENTED[4:]], "r1", table=table)


CANARY = "canary"


@pytest.mark.parametrize("column", ["id", "query", "response", "human_ranking", "human_error_analysis", "models"])
def test_what_stands_in_a_file_is_in_no_message_about_it(table: ItemTable, tmp_path: Path, column: str) -> None:
    good = {"id": INVENTED[3]["id"], "human_ranking": [0, 1]}  # found by its id, or by its texts
    rows = ({**INVENTED[3]}, good)
    planted: tuple[Any, ...] = (
        CANARY, [CANARY], [CANARY, CANARY], [0, CANARY], [[CANARY]], {CANARY: CANARY}, f"[{CANARY}]", f"['{CANARY}']",
        f"['{CANARY}', 0]", f"['{CANARY}", f"{{'{CANARY}': 1}}", f"'{CANARY}'*99", "[" * 9999 + CANARY,
        f"['{CANARY}\\ud800', '{CANARY}']", 667_788, [667_788], [667_788, 0], 667_788.5, [[667_788]],
        "667788", "[667788]", float("nan"), True,
    )  # fmt: skip
    for row in rows:
        for value in planted:
            with pytest.raises(LabelsError) as error:  # one row labels no whole benchmark
                label_set([{**row, column: value}], "r9", table=table)
            said = str(error.value)
            assert CANARY not in said and "667788" not in said.replace(",", ""), (column, value)
            assert error.value.__context__ is None or error.value.__suppress_context__  # no log shows it either
            assert "row 1: " in said or "has a label" in said


def test_missing_items_are_named(table: ItemTable) -> None:
    with pytest.raises(LabelsError, match="2 pairs of revision r1 have no label: VLFeedback-0, VLFeedback-1"):
        label_set(INVENTED[2:], "r1", table=table)


def test_an_id_that_the_revision_does_not_know_is_named(table: ItemTable) -> None:
    bare = [{"id": row["id"], "human_ranking": row["human_ranking"]} for row in INVENTED]
    with pytest.raises(LabelsError, match="row 1: no pair of vl-rewardbench has this id"):
        label_set([{**bare[0], "id": "nobody"}, *bare[1:]], "r1", table=table)


def test_twins_without_texts_are_labelled_in_the_order_of_their_rows() -> None:
    pairs = labels.pairs(2)
    pairs[1]["id"] = pairs[0]["id"]
    twins = build_table(INVENTED_SPEC, {"r1": pairs})
    bare = [{"id": pair["id"], "human_ranking": [0, 1]} for pair in pairs]
    bare[1]["human_ranking"] = [1, 0]
    assert label_set(bare, "r1", table=twins).preferred.tolist()[:2] == [0, 1]
    with pytest.raises(LabelsError, match="row 15: the pair is labelled twice"):
        label_set([*bare, bare[0]], "r1", table=twins)


@pytest.mark.parametrize("content", [b"", b"{}\n[]\n", b"\x00\x01", b"PAR1 but not really", b"[1, 2]"])
def test_what_is_no_label_file_is_refused_by_name(table: ItemTable, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "labels").write_bytes(content)
    with pytest.raises(LabelsError, match=r"^labels in "):
        load_labels(tmp_path / "labels", "r1", table=table)


def test_a_missing_file_and_a_dataset_without_a_commit_are_told_apart_from_problems(table: ItemTable) -> None:
    for spec in ("/nowhere/labels.jsonl", "owner/name", "owner/name@main"):
        with pytest.raises(LabelsError, match="neither a file nor"):
            load_labels(spec, "r1", table=table)


def test_unknown_ids_need_a_revision_name(table: ItemTable, tmp_path: Path) -> None:
    _write_jsonl(tmp_path / "labels", INVENTED[1:])
    with pytest.raises(LabelsError, match="name the revision"):
        load_labels(tmp_path / "labels", None, table=table)


@pytest.mark.parametrize(
    ("fault", "later"), [(ConnectionError("no network"), True), (FileNotFoundError("no such dataset"), False)]
)
def test_a_silent_hub_and_a_missing_dataset_have_different_messages(
    monkeypatch: pytest.MonkeyPatch, fault: Exception, later: bool
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise fault

    monkeypatch.setattr(labels_module, "_read_hub", fail)
    with pytest.raises(LabelsError, match="labels in a/b@0") as caught:
        load_labels(f"a/b@{'0' * 40}", None, table=labels.table())
    assert isinstance(caught.value, LabelsUnreachable) is later


def test_tags_lose_their_sub_types_and_free_text_and_count_once() -> None:
    raw = [
        "recognition(object)",
        "recognition(text)",
        "hallucination",
        "hallucination",
        "others, common sense, and more",
    ]
    assert error_tags(raw, VL) == {"recognition", "existence", "other"}


def test_an_unknown_tag_is_an_error() -> None:
    with pytest.raises(ValueError, match="unknown error tag; known: hallucination") as error:
        error_tags(["style"], VL)
    assert "style" not in str(error.value)


def test_one_flipped_label_or_one_changed_tag_changes_the_digest() -> None:
    items = labels.table()
    plain = labels.labels(items)
    flipped = labels.labels(items, [1 - int(plain.preferred[0]), *plain.preferred[1:].tolist()])
    assert len({plain.digest, flipped.digest, labels.labels(items, tags=False).digest}) == 3
    assert labels.labels(items).digest == plain.digest


def test_an_item_that_a_revision_lacks_is_not_labelled() -> None:
    items = labels.table()
    partial = make_label_set("r2", items, preferred={0: 1, 2: 0}, tags=None)
    assert partial.items == 2
    assert partial.preferred[:3].tolist() == [1, NOT_LABELLED, 0]


def test_a_tag_that_the_benchmark_does_not_have_is_an_error_that_does_not_repeat_it() -> None:
    with pytest.raises(ValueError, match="existence, recognition, attribute, counting, other") as error:
        make_label_set("r2", labels.table(), preferred={0: 1}, tags={0: frozenset({"counting", "blur"})})
    assert "blur" not in str(error.value)
    tagged = make_label_set("r2", labels.table(), preferred={0: 1}, tags={0: frozenset({"counting"})})
    assert tagged.tags is not None and tagged.tags[0] == {"counting"}


def test_a_revision_without_labels_or_with_a_wrong_one_is_an_error() -> None:
    with pytest.raises(ValueError, match="labels no item"):
        make_label_set("r2", labels.table(), preferred={}, tags=None)
    with pytest.raises(ValueError, match="0 or 1"):
        make_label_set("r2", labels.table(), preferred={0: 2}, tags=None)
