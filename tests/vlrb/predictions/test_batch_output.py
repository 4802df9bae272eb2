"""Raw results of batch services are votes, in the shapes that services write and in any order."""

from __future__ import annotations

import json
import random
from base64 import urlsafe_b64encode
from typing import Any

import pytest

from tests.factories.refusals import refuses
from tests.factories.specs import INVENTED
from vlrb.benchmarks.items import ItemTable, fingerprint
from vlrb.benchmarks.pairs import build_table
from vlrb.predictions.parse import UploadRejected, parse_predictions

SAID = "Overall Judgment: Answer {} is better."
ROWS: list[dict[str, Any]] = [
    {"id": f"RLAIF-V-{number}", "query": f"Q{number}?", "response": [f"One {number}.", f"Other {number}."]}
    for number in range(3)
]
ROWS.append({**ROWS[2], "id": "RLAIF-V-3"})  # the same texts as the third pair


def table() -> ItemTable:
    return build_table(INVENTED, {"v0": ROWS})


def name(row: int, vote: int, *, swapped: bool) -> str:
    pair = ROWS[row]
    mark = urlsafe_b64encode(bytes.fromhex(fingerprint(pair["query"], pair["response"]))).decode().rstrip("=")
    return f"r{row}-v{vote}-{'s' if swapped else 'o'}-{mark}"


def completion(text: Any) -> dict[str, Any]:
    return {"choices": [{"message": {"role": "assistant", "content": text}}]}


def result(shape: str, custom_id: str, *, text: str | None) -> dict[str, Any]:
    """A line of a result file; no text is a failure."""
    if shape == "anthropic":
        if text is None:
            return {"custom_id": custom_id, "result": {"type": "errored", "error": {"message": "no"}}}
        message = {"content": [{"type": "thinking", "thinking": "Answer 2"}, {"type": "text", "text": text}]}
        return {"custom_id": custom_id, "result": {"type": "succeeded", "message": message}}
    if text is None:
        return {"id": "b", "custom_id": custom_id, "response": None, "error": {"code": "batch_expired"}}
    body = completion([{"type": "text", "text": text}] if shape == "parts" else text)
    response = body if shape == "vllm" else {"status_code": 200, "request_id": "r", "body": body}
    return {"id": "b", "custom_id": custom_id, "response": response, "error": None}


def read(lines: list[dict[str, Any]]) -> list[list[int]]:
    data = "".join(json.dumps(line) + "\n" for line in lines).encode()
    upload = parse_predictions(data, table())
    assert upload.format == "batch"
    return [[int(vote) for vote in row] for row in upload.votes.matrix]


def votes(shape: str) -> list[dict[str, Any]]:
    """Two votes a pair: answer 1 in both orders, so first 0 and then 1; the last pair always prefers 1."""
    lines = []
    for row in range(len(ROWS)):
        for vote in (0, 1):
            swapped = vote == 1
            said = SAID.format(1 if row < 3 or swapped else 2)
            lines.append(result(shape, name(row, vote, swapped=swapped), text=said))
    return lines


@pytest.mark.parametrize("shape", ["openai", "parts", "vllm", "anthropic"])
def test_results_are_votes_in_the_order_stored(shape: str) -> None:
    lines = votes(shape)
    random.Random(1).shuffle(lines)
    assert read(lines) == [[0, 1], [0, 1], [0, 1], [1, 1]]


@pytest.mark.parametrize("shape", ["openai", "anthropic"])
def test_what_failed_is_undecided_and_a_later_answer_counts(shape: str) -> None:
    lines = votes(shape)
    failed = result(shape, lines[0]["custom_id"], text=None)
    assert read([failed, *lines[1:]])[0][0] not in (0, 1)
    assert read([failed, *lines]) == read([*lines, failed]) == read(lines)


def test_an_answer_that_comes_twice_is_a_problem() -> None:
    lines = votes("openai")
    with refuses(UploadRejected, "duplicate-item"):
        read([*lines, lines[0]])


def test_requests_of_ones_own_name_the_pair_by_its_id() -> None:
    lines = [result("openai", f"{row['id']}--v0-s", text=SAID.format(2)) for row in ROWS]
    assert read(lines) == [[0]] * 4


@pytest.mark.parametrize("custom_id", ["request-1", "r0-v0", 7, None, "r0-v0-x-" + "A" * 43])
def test_a_custom_id_that_does_not_tell_pair_and_order_is_refused(custom_id: Any) -> None:
    with refuses(UploadRejected, "bad-field"):
        read([result("openai", custom_id, text=SAID.format(1))])


@pytest.mark.parametrize(
    "response", [7, {}, {"body": 7}, {"choices": [7]}, {"status_code": 500, "body": completion("x")}]
)
def test_odd_results_are_undecided(response: Any) -> None:
    lines = votes("openai")
    lines[0]["response"] = response
    assert read(lines)[0][0] not in (0, 1)
