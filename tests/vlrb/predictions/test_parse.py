"""Rows find their items, a file covers exactly one revision, and every problem is told at once."""

import json
import random
from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.factories import prediction_files as files
from tests.factories.labels import SIZES, pairs, table
from tests.factories.specs import DEMO, INVENTED, VL
from tests.real_data import rows
from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.pairs import build_table
from vlrb.common.messages import Message
from vlrb.common.translations import translations
from vlrb.predictions.parse import UploadRejected, build_report, parse_predictions
from vlrb.readers.problems import ProblemCollector

PAIRS = pairs(2)
TABLE = table(2)


@cache
def real() -> ItemTable:
    """Return the real items; their facts ship with the project."""
    return ItemTable.load(VL)


def native(records: list[dict[str, Any]]) -> bytes:
    """Native lines."""
    return files.jsonl(records)


def by_id(items: ItemTable, revision: str, *, votes: list[int]) -> list[dict[str, Any]]:
    """Return one native line an item, by id, in the row order of a revision; ``votes`` by item index."""
    return [{"id": items.items[i].ids[revision], "votes": [votes[i]]} for i in items.in_revision(revision)]


def rejection(data: bytes, items: ItemTable = TABLE) -> UploadRejected:
    """Return why a file is rejected."""
    with pytest.raises(UploadRejected) as caught:
        parse_predictions(data, items)
    return caught.value


def codes(rejected: UploadRejected) -> list[str]:
    """Return the codes of the listed problems."""
    return [problem.code for problem in rejected.problems]


@pytest.mark.parametrize("revision", ["v0", "v1", "v2"])
def test_ids_in_the_row_order_of_a_revision_need_no_warning(revision: str) -> None:
    votes = np.random.default_rng(0).integers(0, 2, len(real())).tolist()
    upload = parse_predictions(native(by_id(real(), revision, votes=votes)), real())
    assert (upload.revision, upload.warnings) == (revision, ())
    for index in real().in_revision(revision):
        assert upload.votes.matrix[index, 0] == votes[index]


@pytest.mark.parametrize("revision", ["v0", "v1", "v2"])
def test_repeated_ids_in_another_order_are_taken_in_turn_and_listed(revision: str) -> None:
    votes = np.random.default_rng(1).integers(0, 2, len(real())).tolist()
    records = by_id(real(), revision, votes=votes)
    names = [record["id"] for record in records]
    records.sort(key=lambda record: str(record["id"])[::-1])  # stable: twins stay in row order
    upload = parse_predictions(native(records), real())
    assert upload.revision == revision
    assert all(upload.votes.matrix[i, 0] == votes[i] for i in real().in_revision(revision))
    (warning,) = upload.warnings
    assert warning.code == "repeated-id-by-order"
    assert sorted(warning.ids) == sorted({name for name in names if names.count(name) > 1})


def test_item_keys_need_no_id_and_no_order() -> None:
    votes = np.random.default_rng(2).integers(0, 2, len(real())).tolist()
    records = [{"item": item.key, "votes": [votes[i]]} for i, item in enumerate(real().items)]
    random.Random(0).shuffle(records)
    records.append(records.pop(0))
    upload = parse_predictions(native(records), real())
    assert upload.votes.matrix[:, 0].tolist() == votes
    assert upload.warnings == ()


@pytest.mark.parametrize("revision", ["v0", "v1", "v2"])
def test_bare_fingerprints_of_text_identical_pairs_are_taken_in_turn(revision: str) -> None:
    votes = np.random.default_rng(5).integers(0, 2, len(real())).tolist()
    held = real().in_revision(revision)
    upload = parse_predictions(
        native([{"item": real().items[i].fingerprint, "votes": [votes[i]]} for i in held]), real()
    )
    assert (upload.revision, upload.items) == (revision, len(held))
    assert all(upload.votes.matrix[i, 0] == votes[i] for i in held)
    (warning,) = upload.warnings
    assert warning.code == "repeated-id-by-order"
    assert len(warning.ids) == (9 if revision != "v2" else 6)


def test_an_unknown_fingerprint_beside_a_valid_id_is_an_unknown_item() -> None:
    records = [{"id": row["id"], "item": TABLE.items[i].key, "votes": [0]} for i, row in enumerate(PAIRS)]
    assert parse_predictions(native(records), TABLE).warnings == ()
    for wrong in ("0" * 64, TABLE.items[2].key + "-2", "x"):
        records[2]["item"] = wrong
        problem = rejection(native(records)).problems[0]
        assert (problem.code, problem.line, problem.field) == ("unknown-item", 3, "item")
        assert "has this `item`" in problem.message


def test_texts_tell_items_apart_whose_ids_repeat() -> None:
    dataset = rows("items_v0.jsonl")
    random.Random(3).shuffle(dataset)
    votes = files.random_votes(len(dataset), 1, seed=4)
    upload = parse_predictions(files.official(dataset, votes), real())
    assert (upload.revision, upload.warnings) == ("v0", ())
    position = {
        (row["id"], row["response"][0], row["response"][1]): vote for row, vote in zip(dataset, votes, strict=True)
    }
    for index, row in enumerate(rows("items_v0.jsonl")):
        assert upload.votes.matrix[index].tolist() == position[row["id"], row["response"][0], row["response"][1]]


def test_text_identical_pairs_without_known_ids_are_taken_in_order_with_a_warning() -> None:
    twins = [{**row, "id": f"{row['id']}{suffix}"} for row in pairs(1) for suffix in ("-a", "-b")]
    items = build_table(INVENTED, {"r1": twins})
    votes = [[i % 2] for i in range(len(twins))]
    assert parse_predictions(files.official(twins, votes), items).votes.matrix.tolist() == votes
    strangers = [{**row, "id": f"x{i}"} for i, row in enumerate(twins)]
    upload = parse_predictions(files.official(strangers, [[0, 0] if v == [0] else [1, 1] for v in votes]), items)
    assert upload.votes.matrix[:, 0].tolist() == [vote for (vote,) in votes]
    assert {warning.code for warning in upload.warnings} == {"repeated-id-by-order", "id-differs-from-text"}


def test_mixed_revisions_are_named() -> None:
    items = build_table(
        INVENTED, {"r1": PAIRS, "r2": [{"id": f"{row['id']}-new", "v0_row": i} for i, row in enumerate(PAIRS)]}
    )
    votes = files.random_votes(len(PAIRS), 1)
    renamed = [{**row, "id": f"{row['id']}-new"} if i < 4 else row for i, row in enumerate(PAIRS)]
    upload = parse_predictions(files.native_votes(renamed, votes), items)
    assert upload.revision == "r1"
    (warning,) = upload.warnings
    assert warning.code == "mixed-revisions"
    assert "r1" in warning.message
    assert "r2" in warning.message
    assert warning.ids == tuple(row["id"] for row in renamed[:4])
    assert upload.votes.matrix.tolist() == votes


def test_exactly_the_items_of_a_revision_are_that_revision_whatever_their_ids() -> None:
    held = real().in_revision("v2")
    records = [{"item": real().items[i].key, "id": real().items[i].ids["v0"], "votes": [i % 2]} for i in held]
    upload = parse_predictions(native(records), real())
    assert (upload.revision, upload.items) == ("v2", 1247)
    assert [warning.code for warning in upload.warnings] == ["mixed-revisions"]


def test_one_item_missing_and_one_too_many_are_both_reported() -> None:
    lines = [{"id": row["id"], "votes": [0]} for row in PAIRS]
    missing = rejection(native(lines[1:]))
    assert [(p.code, p.id) for p in missing.problems] == [("missing-item", PAIRS[0]["id"])]
    extra = rejection(native([*lines, {"id": "no-such-item", "votes": [1]}]))
    assert [(p.code, p.line, p.id, p.field) for p in extra.problems] == [("unknown-item", 15, "no-such-item", "id")]


def test_many_missing_items_are_one_problem_with_the_first_ten_of_them() -> None:
    more = pairs(4)
    (problem,) = rejection(native([{"id": row["id"], "votes": [0]} for row in more[12:]]), table(4)).problems
    assert (problem.code, problem.id) == ("missing-item", None)
    assert "votes for 16 of the 28 pairs" in problem.message
    assert problem.message.endswith(f"{', '.join(row['id'] for row in more[:10])} and 2 more")
    chinese = translations("zh-CN").text(problem.message)
    assert chinese.endswith(f"{'、'.join(row['id'] for row in more[:10])} 等，另有 2 个")


def test_an_item_that_the_revision_dropped_is_extra() -> None:
    held = real().in_revision("v2")
    records = [{"item": real().items[i].key, "id": real().items[i].ids["v2"], "votes": [0]} for i in held]
    dropped = next(item for item in real().items if "v2" not in item.ids)
    rejected = rejection(native([*records, {"item": dropped.key, "votes": [0]}]), real())
    assert [(p.code, p.line, p.id) for p in rejected.problems] == [("extra-item", 1248, dropped.ids["v0"])]


def test_an_item_given_twice_names_both_lines() -> None:
    lines = [{"id": row["id"], "votes": [0]} for row in PAIRS]
    (problem,) = rejection(native([*lines, lines[2]])).problems
    assert (problem.code, problem.line, problem.id) == ("duplicate-item", 15, PAIRS[2]["id"])
    assert "line 3" in problem.message


def test_ids_that_differ_in_case_or_width_are_unknown_and_the_right_one_is_named() -> None:
    lines = [{"id": row["id"], "votes": [0]} for row in PAIRS]
    for changed, named in ((f"\uff36{PAIRS[0]['id'][1:]}", True), (PAIRS[0]["id"].lower(), False)):
        problem = rejection(native([{"id": changed, "votes": [0]}, *lines[1:]])).problems[0]
        assert problem.code == "unknown-item"
        assert not named or repr(PAIRS[0]["id"]) in problem.message


def test_every_item_needs_the_same_number_of_votes() -> None:
    lines = [{"id": row["id"], "votes": [0, 1]} for row in PAIRS]
    lines[4]["votes"] = [0]
    (problem,) = rejection(native(lines)).problems
    assert (problem.code, problem.line, problem.id, problem.field) == ("votes-differ", 5, PAIRS[4]["id"], "votes")
    records = files.official_records(PAIRS, files.random_votes(len(PAIRS), 3))
    (problem,) = rejection(files.jsonl(records[:-1])).problems
    assert (problem.code, problem.id) == ("votes-differ", PAIRS[-1]["id"])
    assert "2 votes where most pairs have 3" in problem.message


def test_all_problems_are_reported_at_once_with_line_id_and_field() -> None:
    lines = [{"id": row["id"], "votes": [0]} for row in PAIRS]
    lines[1]["votes"] = [7]
    lines[3] = {"votes": [0]}
    data = native(lines).split(b"\n")
    data[5] = b'{"id": "x", "id": "y", "votes": [0]}'
    data[8] = b"[1, 2]"
    found = [(p.line, p.code, p.field) for p in rejection(b"\n".join(data)).problems]
    assert found == [
        (2, "bad-vote", "votes[0]"),
        (4, "missing-field", "id"),
        (6, "duplicate-key", None),  # of such a line nothing else is read
        (9, "not-an-object", None),
    ]


def test_a_mistake_on_every_line_is_one_problem_with_its_count_and_three_examples() -> None:
    rejected = rejection(native([{"id": item.ids["v0"], "votes": [5, 5]} for item in real().items]), real())
    (problem,) = rejected.problems
    assert (problem.line, problem.field, problem.code) == (1, "votes[0]", "bad-vote")
    assert problem.message.startswith("2,500 times, for instance on lines 1, 2, 3: the field `votes[0]` must be 0 or 1")
    report = build_report(rejected, "vl-rewardbench")
    assert (report["ok"], len(report["problems"]), report["problem_count"]) == (False, 1, 1)


def test_twenty_problems_of_a_kind_are_told_one_by_one_and_more_do_not_hide_another() -> None:
    findings = ProblemCollector()
    for line in range(1, 21):
        findings.add("few", Message("few {n}", {"n": line}), line=line)
    for line in range(22, 2, -1):
        findings.add("many", Message("many {n}", {"n": line}), id=str(line), field=f"votes[{line}]")
    findings.add("many", Message("many {n}", {"n": 1}), field="votes[0]")
    findings.add("one", "one", line=5)
    rejected = findings.rejected()
    assert rejected.problem_count == len(rejected.problems) == 22
    assert [problem.code for problem in rejected.problems[3:7]] == ["few", "few", "one", "few"]
    assert rejected.problems[-1].message == "21 times, for instance for 22, 21, 20: many 22"


def test_the_first_hundred_problems_are_listed_and_all_are_counted() -> None:
    findings = ProblemCollector()
    for line in range(1, 151):
        findings.add("bad", f"sentence {line}", line=line)
    rejected = findings.rejected()
    assert [problem.line for problem in rejected.problems] == list(range(1, 101))
    assert rejected.problem_count == 150


def test_the_check_report_has_exactly_the_promised_keys() -> None:
    upload = parse_predictions(files.official(PAIRS, files.random_votes(len(PAIRS), 5)), TABLE)
    report = build_report(upload, "vl-rewardbench")
    assert list(report) == [
        "ok", "format", "benchmark", "revision", "items", "votes_per_item", "parse_rate", "first_shown_rate",
        "one_order", "warnings", "problems", "problem_count", "samples",
    ]  # fmt: skip
    assert (report["ok"], report["items"], report["votes_per_item"], report["problems"]) == (True, 14, 5, [])
    json.dumps(report, allow_nan=False)


def test_a_real_file_on_the_demo_is_refused_in_one_sentence_that_names_the_setting() -> None:
    dataset = [{**row, "id": f"demo-{row['id'].lower()}"} for row in pairs(SIZES)]
    data = native(by_id(real(), "v2", votes=[0] * len(real())))
    rejected = rejection(data, build_table(DEMO, {"demo": dataset}))
    (problem,) = rejected.problems
    assert (problem.code, rejected.problem_count) == ("other-benchmark", 1)
    assert "LABELS" in problem.message and "on line 1" in problem.message
