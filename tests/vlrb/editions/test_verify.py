"""Verification: what the queue of annotation is given, what follows from its labels, and how far people agree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.factories.suite.programs import edition_main as main
from tests.vlrb.editions.synthetic import lines
from vlrb.editions.pool import write_lines
from vlrb.label_quality.annotation import VERDICTS


def candidate(number: int, **more: Any) -> dict[str, Any]:
    """A line of candidates."""
    return {
        "id": f"S-{number}", "source": "S", "licence": "CC0-1.0", "query": f"Q{number}?", "preferred": 0,
        "response": [f"Left {number}.", f"Right {number}."], "image": "images/a.png", "image_sha256": "0" * 64,
        "image_hash": "", "category": "general", **more,
    }  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = [candidate(0, votes={"wrong": 12, "runs": 12}), *(candidate(number) for number in range(1, 6))]
    write_lines(tmp_path / "candidates.jsonl", lines)
    assert main(["verify", "export", str(tmp_path / "candidates.jsonl"), "--output", str(tmp_path / "v")]) == 0
    return tmp_path / "v"


def answer(annotator: str, verdict: str, **more: Any) -> dict[str, Any]:
    """An annotator's answer as the service exports it."""
    return {"annotator": annotator, "verdict": verdict, "errors": [], "note": "", "seconds": None, **more}


def labels(folder: Path, given: dict[int, dict[str, Any]]) -> Path:
    """The service's labels.jsonl; by pair what differs from two people who prefer A."""
    keys = [line["item"] for line in lines(folder / "queue" / "to_annotate.jsonl")]
    agreed = {"state": "agreed", "label": "a", "tags": [], "answers": [answer("ann", "a"), answer("bob", "a")]}
    write_lines(folder / "labels.jsonl", [{"item": keys[number], **agreed, **more} for number, more in given.items()])
    return folder / "labels.jsonl"


def test_the_queue_is_told_no_preference(folder: Path) -> None:
    queued = lines(folder / "queue" / "to_annotate.jsonl")
    assert {name for line in queued for name in line} == {"item", "id", "query", "response", "image", "label"}
    assert [line["label"] for line in queued] == [None] * 6


def test_labels_of_the_queue_decide_pairs_and_what_they_leave_is_open(folder: Path) -> None:
    path = labels(folder, {
        0: {"label": "b", "tags": ["counting"], "answers": [
            answer("ann", "b", errors=["counting"], seconds=60), answer("bob", "b", errors=["counting", "attribute"],
                                                                       seconds=70)]},
        1: {"state": "contested", "label": None, "answers": [answer("ann", "a"), answer("bob", "b")]},
        2: {"state": "decided", "label": "b", "answers": [answer("ann", "a"), answer("bob", "b")]},
        3: {"label": "vague-style", "answers": [answer("ann", "vague-style"), answer("bob", "poor-image")]},
        5: {"state": "gold", "label": "b", "answers": [answer("ann", "b"), answer("bob", "a")]},
    })  # fmt: skip
    assert main(["verify", "import", str(folder), str(path)]) == 0
    (first, second, gold) = lines(folder / "verified.jsonl")
    assert (first["id"], first["preferred"], first["tags"], first["votes"]["wrong"]) == ("S-0", 1, ["counting"], 12)
    assert (second["id"], second["preferred"], second["verification"]["state"]) == ("S-2", 1, "decided")
    assert (gold["id"], gold["preferred"]) == ("S-5", 1)
    assert [(one["id"], one["reason"]) for one in lines(folder / "dropped.jsonl")] == [("S-3", "vague-style")]
    assert [one["id"] for one in lines(folder / "open.jsonl")] == ["S-1", "S-4"]
    report = json.loads((folder / "agreement.json").read_text())
    assert report["pairs"] == {"agreed": 2, "contested": 1, "decided": 1, "open": 1, "gold": 1}
    assert report["labels_of_the_pool"] == {"pairs": 3, "kept": 0.0}
    assert (report["annotators"]["ann"]["gold_right"], report["annotators"]["bob"]["below_gold_minimum"]) == (1.0, True)
    assert report["annotators"]["bob"]["median_seconds"] == 70
    assert report["tags"]["counting"]["given"] == 2
    assert {one["annotator"] for one in lines(folder / "individual.jsonl")} == {"annotator-1", "annotator-2"}


def test_answers_of_people_who_were_left_out_are_no_part_of_the_agreement(folder: Path) -> None:
    path = labels(folder, {0: {"answers": [answer("ann", "a"), answer("bob", "b", left_out=True)]}})
    assert main(["verify", "import", str(folder), str(path)]) == 0
    assert list(json.loads((folder / "agreement.json").read_text())["annotators"]) == ["ann"]
    assert len(lines(folder / "individual.jsonl")) == 1


def test_how_often_people_pick_what_stands_first_is_reported(folder: Path) -> None:
    path = labels(folder, {
        0: {"answers": [answer("ann", "b", shown_first="b"), answer("bob", "b", shown_first="a")]},
        1: {"answers": [answer("ann", "a", shown_first="a"), answer("bob", "vague-style", shown_first="b")]},
    })  # fmt: skip
    assert main(["verify", "import", str(folder), str(path)]) == 0
    report = json.loads((folder / "agreement.json").read_text())["annotators"]
    assert (report["ann"]["picked_shown_first"], report["bob"]["picked_shown_first"]) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"item": "unknown"}, "`item`"),
        ({"state": "done"}, "`state`"),
        ({"label": "c"}, VERDICTS[0]),
        ({"answers": [answer("ann", "c")]}, VERDICTS[0]),
        ({"answers": [answer("ann", "a", errors=["nonsense"])]}, "`errors`"),
        ({"answers": [answer("ann", "a", seconds="long")]}, "`answers.0.seconds`"),
        ({"answers": {}}, "`answers`"),
    ],
)
def test_bad_labels_are_refused_by_line(
    folder: Path, fields: dict[str, Any], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", "import", str(folder), str(labels(folder, {0: {}, 1: fields}))]) == 2
    error = capsys.readouterr().err
    assert "line 2" in error and said in error
    assert not (folder / "verified.jsonl").exists()


def test_a_pair_with_two_lines_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = labels(folder, {0: {}})
    path.write_text(2 * path.read_text())
    assert main(["verify", "import", str(folder), str(path)]) == 2
    assert "line 2" in capsys.readouterr().err


def test_answers_name_the_errors_of_the_benchmark_that_the_command_names(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = labels(folder, {0: {"answers": [answer("ann", "a", errors=["recognition-text"])]}})
    take = ["verify", "import", str(folder), str(path), "--benchmark"]
    assert main([*take, "mm-rlhf-rewardbench"]) == 2, "it has no error tags"
    assert "`errors`" in capsys.readouterr().err
    assert main([*take, "no-such-benchmark"]) == 2
    assert main([*take, "vl-rewardbench"]) == 0
    assert json.loads((folder / "agreement.json").read_text())["tags"]["recognition"]["given"] == 1
