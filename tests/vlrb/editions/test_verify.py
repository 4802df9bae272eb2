"""Verification: what annotators see, what follows from their answers, and how far they agree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.factories.suite.programs import edition_main as main
from vlrb.editions.commands.verify_command import keyed
from vlrb.editions.pools.pool import read_pair_file, write_lines
from vlrb.editions.verification import VerificationRules, assign, outcome
from vlrb.label_quality.annotation import VERDICTS
from vlrb.label_quality.annotator_agreement import PersonAnswer

RULES = VerificationRules(2, frozenset({"boss"}), tag_of={})


def candidate(number: int, **more: Any) -> dict[str, Any]:
    """A line of candidates."""
    return {
        "id": f"S-{number}", "source": "S", "licence": "CC0-1.0", "query": f"Q{number}?", "preferred": 0,
        "response": [f"Left {number}.", f"Right {number}."], "image": "images/a.png", "image_sha256": "0" * 64,
        "image_hash": "", "category": "general", **more,
    }  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = [candidate(0, draft={"preferred": 1, "rationale": "SECRET-DRAFT"}, votes={"wrong": 12, "runs": 12})]
    lines += [candidate(number) for number in range(1, 6)]
    write_lines(tmp_path / "candidates.jsonl", lines)
    keys = list(keyed(read_pair_file(tmp_path / "candidates.jsonl")))
    write_lines(tmp_path / "gold.jsonl", [{"item": keys[5], "verdict": "b"}])
    given = ["--annotator", "ann", "--annotator", "bob", "--reviewer", "boss"]
    given += ["--gold", str(tmp_path / "gold.jsonl")]
    assert main(["verify", "export", str(tmp_path / "candidates.jsonl"), "--output", str(tmp_path / "v"), *given]) == 0
    return tmp_path / "v"


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def answer(folder: Path, given: dict[int, dict[str, Any]]) -> Path:
    """Answers by pair and annotator; a text is a verdict."""
    keys = [line["item"] for line in lines(folder / "items.jsonl")]
    out = []
    for number, people in given.items():
        for name, said in people.items():
            more = said if isinstance(said, dict) else {"verdict": said}
            out.append({"item": keys[number], "annotator": name, **more})
    write_lines(folder / "answers.jsonl", out)
    return folder / "answers.jsonl"


@pytest.mark.parametrize("line", [{"item": ["x"], "verdict": "a"}, {"item": {}, "verdict": "a"}, {"verdict": ["a"]}])
def test_a_gold_line_of_the_wrong_shape_is_named(
    folder: Path, line: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    gold = folder / "wrong.jsonl"
    write_lines(gold, [line])
    candidates = folder / "private" / "candidates.jsonl"
    assert main(["verify", "export", str(candidates), "--output", str(folder / "w"), "--gold", str(gold)]) == 2
    said = capsys.readouterr().err
    assert "line 1" in said and "`item`" in said


def test_annotators_see_neither_labels_nor_drafts(folder: Path) -> None:
    public = "".join(path.read_text() for path in folder.glob("*.*") if path.is_file())
    assert "preferred" not in public
    assert "SECRET-DRAFT" not in public
    assert "verdict" not in public
    assert lines(folder / "private" / "drafts.jsonl")[0]["preferred"] == "b"


def test_every_pair_is_assigned_to_as_many_people_evenly_and_in_their_own_order() -> None:
    items = [str(number) for number in range(30)]
    given = assign(items, ["ann", "bob", "cy"], count=2)
    assert {len(own) for own in given.values()} == {20}
    assert all(sum(item in own for own in given.values()) == 2 for item in items)
    shared = [item for item in given["ann"] if item in given["bob"]]
    assert shared != [item for item in given["bob"] if item in given["ann"]]


def test_half_of_the_people_of_a_pair_are_shown_a_first(folder: Path) -> None:
    items = [str(number) for number in range(40)]
    for count in (2, 3, 4):
        given = assign(items, ["ann", "bob", "cy", "dan"], count=count)
        assert given == assign(items, ["ann", "bob", "cy", "dan"], count=count)
        for item in items:
            shown = [own[item] for own in given.values() if item in own]
            assert (len(shown), abs(shown.count("a") - shown.count("b"))) == (count, count % 2)
        assert all(0.25 < list(own.values()).count("a") / len(own) < 0.75 for own in given.values())
    written = lines(folder / "assignments.jsonl")
    shown_first = sorted(pair for one in written for pair in zip(one["items"], one["shown_first"], strict=True))
    assert [first for _, first in shown_first] == ["a", "b"] * 6, "two people, two orders"


def test_how_often_people_pick_what_stands_first_is_reported(folder: Path) -> None:
    path = answer(folder, {
        0: {"ann": {"verdict": "b", "shown_first": "b"}, "bob": {"verdict": "b", "shown_first": "a"}},
        1: {"ann": {"verdict": "a", "shown_first": "a"}, "bob": {"verdict": "vague-style", "shown_first": "b"}},
    })  # fmt: skip
    assert main(["verify", "import", str(folder), str(path)]) == 0
    report = json.loads((folder / "agreement.json").read_text())["annotators"]
    assert (report["ann"]["picked_shown_first"], report["bob"]["picked_shown_first"]) == (1.0, 0.0)
    assert [one["shown_first"] for one in lines(folder / "individual.jsonl")] == ["b", "a", "a", "b"]


def test_answers_about_pairs_that_are_assigned_to_others_are_refused(
    tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    export = [
        "verify",
        "export",
        str(tmp_path / "candidates.jsonl"),
        "--output",
        str(tmp_path / "w"),
        "--reviewer",
        "r",
    ]
    assert main([*export, "--annotator", "ann", "--annotator", "bob", "--annotator", "cy"]) == 0
    own = {one["annotator"]: one["items"] for one in lines(tmp_path / "w" / "assignments.jsonl")}
    (of_others, *_) = [one["item"] for one in lines(tmp_path / "w" / "items.jsonl") if one["item"] not in own["cy"]]
    said = [{"item": item, "annotator": name, "verdict": "a"} for name, items in own.items() for item in items]
    said.append({"item": of_others, "annotator": "r", "verdict": "b"})
    write_lines(tmp_path / "said.jsonl", said)
    take = ["verify", "import", str(tmp_path / "w"), str(tmp_path / "said.jsonl")]
    assert main(take) == 0, "reviewers decide any pair"
    write_lines(tmp_path / "said.jsonl", [*said, {"item": of_others, "annotator": "cy", "verdict": "a"}])
    assert main(take) == 2
    assert "is not assigned to 'cy'" in capsys.readouterr().err
    taken_over = [{"annotator": name, "items": [*items, of_others]} for name, items in own.items()]
    write_lines(tmp_path / "w" / "assignments.jsonl", taken_over)
    assert main(take) == 0


def test_answers_decide_pairs(folder: Path) -> None:
    path = answer(folder, {
        0: {"ann": {"verdict": "b", "errors": ["counting"], "seconds": 60},
            "bob": {"verdict": "b", "errors": ["counting", "attribute"], "seconds": 70}},
        1: {"ann": "a", "bob": "b"},
        2: {"ann": "a", "bob": "b", "boss": "b"},
        3: {"ann": "vague-style", "bob": "poor-image"},
        4: {"ann": "a"},
        5: {"ann": "b", "bob": "a"},
    })  # fmt: skip
    assert main(["verify", "import", str(folder), str(path)]) == 0
    (first, second) = lines(folder / "verified.jsonl")
    assert (first["id"], first["preferred"], first["tags"], first["votes"]["wrong"]) == ("S-0", 1, ["counting"], 12)
    assert (second["id"], second["preferred"], second["verification"]["by_reviewer"]) == ("S-2", 1, True)
    assert [one["id"] for one in lines(folder / "adjudicate.jsonl")] == ["S-1", "S-5"]
    assert [one["id"] for one in lines(folder / "dropped.jsonl")] == ["S-3"]
    assert [one["id"] for one in lines(folder / "open.jsonl")] == ["S-4"]
    report = json.loads((folder / "agreement.json").read_text())
    assert report["draft"] == {"drafts": 1, "draft_kept": 1.0, "labels": 2, "label_kept": 0.0}
    assert (report["annotators"]["ann"]["gold_right"], report["annotators"]["bob"]["below_gold_minimum"]) == (1.0, True)
    assert report["annotators"]["bob"]["median_seconds"] == 70
    assert report["tags"]["counting"]["given"] == 2
    assert "boss" not in report["annotators"], "reviewers are not blind"
    assert len(lines(folder / "individual.jsonl")) == 12
    assert {one["annotator"] for one in lines(folder / "individual.jsonl")} == {f"annotator-{n}" for n in (1, 2, 3)}


def test_an_annotator_may_be_left_out(folder: Path) -> None:
    path = answer(folder, {0: {"ann": "a", "bob": "b", "boss": "a"}, 1: {"ann": "a", "bob": "b"}})
    assert main(["verify", "import", str(folder), str(path), "--exclude", "bob"]) == 0
    assert "S-1" in [one["id"] for one in lines(folder / "open.jsonl")], "one answer is not enough"
    assert lines(folder / "verified.jsonl")[0]["preferred"] == 0


@pytest.mark.parametrize(
    ("verdicts", "unanimous", "state"),
    [
        ("a", False, "open"),
        ("a a", False, "verified"),
        ("a b", False, "adjudicate"),
        ("a a b", False, "verified"),
        ("a a b", True, "adjudicate"),
        ("both-false vague-style", True, "dropped"),
        ("a both-false", False, "adjudicate"),
    ],
)
def test_more_than_half_decide_once_there_are_enough(verdicts: str, unanimous: bool, state: str) -> None:
    given = [PersonAnswer("x", str(number), verdict=verdict) for number, verdict in enumerate(verdicts.split())]
    assert outcome(given, VerificationRules(2, frozenset(), tag_of={}, unanimous=unanimous)).state == state


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"item": "unknown"}, "not a candidate"),
        ({"verdict": "c"}, VERDICTS[0]),
        ({"annotator": ""}, "`annotator`"),
        ({"errors": ["nonsense"]}, "`errors`"),
        ({"seconds": -1}, "`seconds`"),
        ({"shown_first": "c"}, "`shown_first`"),
    ],
)
def test_bad_answers_are_refused_by_line(
    folder: Path, fields: dict[str, Any], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = answer(folder, {0: {"ann": {"verdict": "a", **fields}}})
    assert main(["verify", "import", str(folder), str(path)]) == 2
    error = capsys.readouterr().err
    assert "line 1" in error
    assert said in error
    assert not (folder / "verified.jsonl").exists()


def test_answers_name_the_errors_of_the_benchmark_that_the_command_names(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = answer(folder, {0: {name: {"verdict": "a", "errors": ["recognition-text"]} for name in ("ann", "bob")}})
    take = ["verify", "import", str(folder), str(path), "--benchmark"]
    assert main([*take, "mm-rlhf-rewardbench"]) == 2, "it has no error tags"
    assert "`errors`" in capsys.readouterr().err
    assert main([*take, "no-such-benchmark"]) == 2
    assert main([*take, "vl-rewardbench"]) == 0
    assert lines(folder / "verified.jsonl")[0]["tags"] == ["recognition"]


@pytest.mark.parametrize("again", ["--annotator", "--reviewer"])
def test_nobody_is_named_twice(folder: Path, again: str, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--output", str(folder / "again"), "--annotator", "ann", "--annotator", "bob", again, "ann"]
    assert main(["verify", "export", str(folder.parent / "candidates.jsonl"), *given]) == 2
    assert "'ann': name everybody once" in capsys.readouterr().err


@pytest.mark.parametrize("stranger", ["dora", "adjudicator:dora"])
def test_answers_of_somebody_who_has_no_part_are_refused(
    folder: Path, stranger: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = answer(folder, {0: {"ann": "a", "bob": "a", "adjudicator:boss": "a", stranger: "b"}})
    assert main(["verify", "import", str(folder), str(path)]) == 2
    error = capsys.readouterr().err
    assert f"line 4: '{stranger}' has no part" in error and "known are ann, bob, boss" in error
    assert not (folder / "verified.jsonl").exists()
    assert main(["verify", "import", str(folder), str(path), "--exclude", stranger]) == 0
    assert lines(folder / "verified.jsonl")[0]["verification"]["by_reviewer"] is True


def test_labels_of_the_service_count_but_for_who_was_left_out_and_a_maintainer_decides(tmp_path: Path) -> None:
    write_lines(tmp_path / "candidates.jsonl", [candidate(number) for number in range(3)])
    out = tmp_path / "v"
    assert main(["verify", "export", str(tmp_path / "candidates.jsonl"), "--output", str(out)]) == 0
    first, second, third = (json.loads(line)["item"] for line in (out / "items.jsonl").read_text().splitlines())

    def pair(item: str, verdicts: str, **more: Any) -> dict[str, Any]:
        given = [{"annotator": f"p{place}", "verdict": verdict} for place, verdict in enumerate(verdicts)]
        return {"item": item, "state": "agreed", "label": "a", "answers": given, **more}

    lines = [pair(first, "aa"), pair(second, "ab", state="decided", label="b"), pair(third, "aa")]
    lines[2]["answers"][0]["left_out"] = True
    write_lines(tmp_path / "labels.jsonl", lines)
    assert main(["verify", "import", str(out), str(tmp_path / "labels.jsonl")]) == 0
    decided = [json.loads(line) for line in (out / "verified.jsonl").read_text().splitlines()]
    assert [(line["id"], line["preferred"]) for line in decided] == [("S-0", 0), ("S-1", 1)]
    assert [json.loads(line)["id"] for line in (out / "open.jsonl").read_text().splitlines()] == ["S-2"]
