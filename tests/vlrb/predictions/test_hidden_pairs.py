"""Files about labelled pairs whose labels are hidden: no vote may refer to the label."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.pair_files import mm_rlhf_items
from vlrb.benchmarks.pairs import pair_table, read_pairs
from vlrb.benchmarks.spec_file import load_spec
from vlrb.predictions.parse import parse_predictions
from vlrb.readers.problems import UploadRejected

SPEC = load_spec("mm-rlhf-rewardbench")
ITEMS = mm_rlhf_items(seed=5)


def lines(row: dict[str, object], *fields: str) -> bytes:
    return "\n".join(json.dumps({**{name: item[name] for name in fields}, **row}) for item in ITEMS).encode()


@pytest.mark.parametrize("row", [{"votes": [0]}, {"rewards": [1.0, 0.0]}], ids=["native", "rewards"])
def test_a_vote_without_responses_is_refused_where_the_preferred_one_is_stored_first(row: dict[str, object]) -> None:
    public = pair_table([read_pairs(ITEMS, SPEC)])
    hidden = pair_table([read_pairs(ITEMS, replace(SPEC, public_labels=False))])
    data = lines(row, "id")
    assert parse_predictions(data, public).votes.matrix.shape == (len(ITEMS), 1)
    with pytest.raises(UploadRejected) as refused:
        parse_predictions(data, hidden)
    assert {problem.code for problem in refused.value.problems} == {"order-unclear"}


def _codes(data: bytes) -> list[str]:
    return [warning.code for warning in parse_predictions(data, pair_table([read_pairs(ITEMS, SPEC)])).warnings]


def test_a_file_whose_judge_was_shown_the_preferred_response_first_says_so() -> None:
    rewards = [[0.1 * (number % 3), 0.1] for number in range(len(ITEMS))]
    files = {
        turned: "\n".join(
            json.dumps({"id": item["id"], "image": "", "rewards": pair, "critic": "", **turned_fields})
            for item, pair in zip(ITEMS, rewards, strict=True)
        ).encode()
        for turned, turned_fields in (("", {}), ("reverse", {"reverse": True}))
    }
    assert [_codes(data) for data in files.values()] == [["order-tells-label"], []]
    alone = files[""].replace(b', "critic": ""', b"")  # a scorer of single responses saw no order
    assert alone != files[""] and _codes(alone) == []


@pytest.mark.parametrize("vote", [0, 1])
def test_votes_that_need_no_judge_are_remarked_on(vote: int) -> None:
    assert _codes(lines({"votes": [vote]}, "id")) == [("baseline-votes", "one-sided-votes")[vote]]
    mixed = b"\n".join(
        json.dumps({"id": item["id"], "votes": [number % 5 // 4]}).encode() for number, item in enumerate(ITEMS)
    )
    assert _codes(mixed) == []
