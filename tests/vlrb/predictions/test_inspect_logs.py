"""Logs of inspect_ai are read within bounds, whatever stands in them."""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pyarrow
import pytest

from submissions.sandbox import read_isolated
from tests.factories.labels import pairs, table
from tests.factories.refusals import refuses
from vlrb.predictions.parse import UploadRejected, parse_predictions

PROMPT = "You ...\n\nQuestion: {}\n\nAnswer 1: {}\n\nAnswer 2: {}\n\nPlease evaluate both answers based on"
ZSTD = 93
PAIRS = pairs(1)
EVERY_PAIR = [[0, 1]] * len(PAIRS)


def sample(number: int, epoch: int, *, swapped: bool, reply: str) -> dict[str, Any]:
    """One vote as inspect_ai writes it, with a label that nobody may read."""
    pair = PAIRS[number]
    first, second = pair["response"][::-1] if swapped else pair["response"]
    content = [{"type": "text", "text": PROMPT.format(pair["query"], first, second)}, {"type": "image", "image": "x"}]
    return {
        "id": pair["id"],
        "epoch": epoch,
        "input": [{"role": "user", "content": content}],
        "target": "1",
        "output": {"model": "m", "completion": reply, "choices": []},
        "scores": {"match": {"value": "C"}},
    }


def votes() -> list[dict[str, Any]]:
    said = "Overall Judgment: Answer 1 is better."
    return [sample(i, epoch, swapped=epoch == 2, reply=said) for i in range(len(PAIRS)) for epoch in (1, 2)]


def archive(samples: list[dict[str, Any]], method: int = ZSTD) -> bytes:
    """A `.eval` file."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED if method == ZSTD else method) as packed:
        packed.writestr("header.json", b"{}")
        for one in samples:
            name, content = f"samples/{one['id']}_epoch_{one['epoch']}.json", json.dumps(one).encode()
            packed.writestr(name, pyarrow.compress(content, "zstd", asbytes=True) if method == ZSTD else content)
    return as_zstd(out.getvalue(), samples) if method == ZSTD else out.getvalue()


def as_zstd(data: bytes, samples: list[dict[str, Any]]) -> bytes:
    """Say in the directory what the members are: the standard library writes no zstd before Python 3.14."""
    found = bytearray(data)
    plain = [json.dumps(one).encode() for one in samples]
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        place = packed.start_dir
        for member in packed.infolist():
            if member.filename.startswith("samples/"):
                content = plain.pop(0)
                struct.pack_into("<H", found, place + 10, ZSTD)
                struct.pack_into("<I", found, place + 16, zlib.crc32(content))
                struct.pack_into("<I", found, place + 24, len(content))
            name, extra, comment = struct.unpack_from("<HHH", found, place + 28)
            place += 46 + name + extra + comment
    return bytes(found)


def read(data: bytes) -> list[list[int]]:
    upload = parse_predictions(data, table(1))
    assert upload.format == "inspect"
    return [[int(vote) for vote in row] for row in upload.votes.matrix]


@pytest.mark.parametrize("method", [ZSTD, zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED])
def test_an_eval_log_is_votes_by_epoch_in_the_order_shown(method: int) -> None:
    assert read(archive(votes(), method)) == EVERY_PAIR


def test_a_json_log_says_the_same_in_whatever_order_the_replies_came() -> None:
    for samples in (votes(), votes()[::-1]):
        log = {"version": 2, "status": "success", "eval": {"task": "x"}, "results": {}, "samples": samples}
        assert read(json.dumps(log).encode()) == EVERY_PAIR


def test_a_prompt_of_another_kind_needs_the_order_in_the_metadata() -> None:
    samples = [one | {"input": "Which is better?", "metadata": {"swapped": one["epoch"] == 2}} for one in votes()]
    assert read(archive(samples)) == EVERY_PAIR
    with refuses(UploadRejected, "missing-field"):
        read(archive([one | {"input": "Which is better?"} for one in votes()]))


def test_a_sample_whose_call_failed_is_undecided() -> None:
    samples = votes()
    samples[0]["output"] = {"choices": []}
    assert read(archive(samples))[0][0] not in (0, 1)


def test_texts_may_be_attached() -> None:
    samples = votes()
    samples[0] |= {
        "attachments": {"a1": samples[0]["output"]["completion"]},
        "output": {"completion": "attachment://a1"},
    }
    assert read(archive(samples)) == EVERY_PAIR


def test_a_json_log_of_fifty_megabytes_is_read_in_the_sandbox(tmp_path: Path) -> None:
    one, *rest = votes()
    samples = [one | {"messages": [{"role": "user", "content": "x" * 2**20}] * 50}, *rest]
    path = tmp_path / "log.json"
    path.write_text(json.dumps({"version": 2, "eval": {"task": "x"}, "samples": samples}))
    manifest = tmp_path / "items.json"
    manifest.write_text(json.dumps(table(1).to_json()))
    report, upload = read_isolated(path, manifest)
    assert report["ok"] and upload is not None


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_of_a_sample_that_was_requeued_the_last_record_counts() -> None:
    failed = {**votes()[0], "output": {"choices": []}}
    assert read(archive([failed, *votes()[1:], votes()[0]])) == EVERY_PAIR


def test_a_log_that_is_cut_off_is_refused_with_the_reason() -> None:
    whole = archive(votes())
    with pytest.raises(UploadRejected) as rejected:
        parse_predictions(whole[: len(whole) // 2], table(1))
    (problem,) = rejected.value.problems
    assert problem.code == "bad-eval"
    assert "the log is damaged" in problem.message


def test_a_bomb_and_damage_are_refused() -> None:
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("header.json", b"{}")
        packed.writestr("samples/1_epoch_1.json", b" " * 50_000_000)
    whole = archive(votes())
    lying = bytearray(whole)
    with zipfile.ZipFile(io.BytesIO(whole)) as packed:
        place = packed.start_dir + 46 + len("header.json")
    struct.pack_into("<I", lying, place + 24, 10)  # the first sample is longer than the directory says
    for data, code in ((bomb.getvalue(), "zip-bomb"), (bytes(lying), "bad-eval"), (whole[:400] + whole[500:], None)):
        with pytest.raises(UploadRejected) as refused:
            parse_predictions(data, table(1))
        assert code is None or refused.value.problems[0].code == code
