"""Files that people really have, in ../shared/data/cases, give exactly the tally that stands beside them."""

import gzip
import json
from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.factories.specs import VL
from tests.real_data import real_file, rows
from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.pairs import pair_table, read_pairs
from vlrb.benchmarks.spec_file import load_spec
from vlrb.predictions.parse import Predictions, parse_predictions
from vlrb.protocols import has_unread_replies
from vlrb.votes import majority, resolved

FILES = {"v0": "items_v0.jsonl", "v1": "items_v1.json", "v2": "labels_v2.jsonl"}
CASES = {
    "01-details-scores/base_model_results.json": "expected",
    "01-details-scores/public_qwen2-vl-2b-instruct-base.json": "expected_real",
    **dict.fromkeys(
        (
            "03-lwe-vanilla/vlrewardbench.jsonl.gz",
            "04-lwe-both-orders/vlrewardbench.jsonl.gz",
            "07-mmrlhf-reward-on-multimodal/answers_chunk0_of_1.jsonl.gz",
            "09-official-multimodal-n-samples/gpt4o_n3.jsonl.gz",
            "11-arm-thinker-pair-rm/model.jsonl.gz",
            "12-inspect-requeued-samples/control.eval",
            "12-inspect-requeued-samples/requeued.eval",
            "13-inspect-chunked/chunked.eval",
            "14-openai-responses-batch/batch.jsonl.gz",
            "14-openai-responses-batch/control-chat/batch.jsonl.gz",
            "16-vlmevalkit-table-saved-by-excel/bom_semicolon.csv.gz",
            "16-vlmevalkit-table-saved-by-excel/utf8.tsv.gz",
            "17-nan-scores/merge_null.jsonl",
            "17-nan-scores/native_null.jsonl",
            "17-nan-scores/native_null2.jsonl",
            "18-official-multimodal-none-text/gpt4o.jsonl.gz",
            "21-mm-judgebench-csv/gpt.csv",
        ),
        "expected",
    ),
}


@cache
def table_and_labels(revision: str) -> tuple[ItemTable, Any]:
    """Return the items and the preferred response of each; ``revision``: of VL-RewardBench, "" is the other benchmark.

    No label is -9.
    """
    if not revision:
        pairs = read_pairs(rows("benchmarks/multimodal_rewardbench_part.json"), load_spec("multimodal-rewardbench"))
        table = pair_table([pairs])
        return table, pairs.labels(pairs.edition, table=table).preferred
    table = ItemTable.load(VL)
    preferred = np.full(len(table), -9)
    preferred[list(table.in_revision(revision))] = [row["human_ranking"].index(0) for row in rows(FILES[revision])]
    return table, preferred


def read_case(name: str, revision: str) -> Predictions:
    data = real_file(f"data/cases/{name}").read_bytes()
    return parse_predictions(gzip.decompress(data) if name.endswith(".gz") else data, table_and_labels(revision)[0])


def test_verdicts_that_only_the_tools_own_reading_finds_give_no_number_under_its_name() -> None:
    name = "28-vlmevalkit-short-verdicts/half.tsv.gz"
    upload = read_case(name, "v1")
    assert has_unread_replies(upload.behaviour.parse_rate, upload.behaviour.first_shown_rate)


@pytest.mark.parametrize("name", CASES)
def test_a_file_that_people_have_gives_exactly_its_tally(name: str) -> None:
    expected = json.loads(real_file(f"data/cases/{name.split('/')[0]}/{CASES[name]}.json").read_text())
    revision = expected.get("revision", "")
    table, preferred = table_and_labels(revision)
    upload = read_case(name, revision)
    verdicts = majority(resolved(upload.votes.matrix, preferred[:, np.newaxis]))
    for category, counts in expected["tally"].items():
        held = np.array([item.category == category for item in table.items]) & (preferred >= 0)
        decided = held & ((verdicts == 0) | (verdicts == 1))
        agree = int((verdicts == preferred)[decided].sum())
        told = {"n": int(held.sum()), "agree": agree, "reject": int(decided.sum()) - agree}
        assert {**told, "undecided": told["n"] - int(decided.sum())} == counts, category
    assert upload.votes.k == expected.get("votes", 1 if upload.votes.k == 1 else upload.votes.k)
    if failed := expected.get("failed"):
        assert [len(told.ids) for told in upload.warnings if told.code == "failed-reply"] == [min(failed, 100)]
