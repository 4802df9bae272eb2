"""Pairs for checkable questions: correctness, length, and the files of models that were asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.factories.suite.programs import edition_main as main
from tests.vlrb.editions.synthetic import lines, picture
from vlrb.editions.answer_checking import final_answer, is_right
from vlrb.editions.building import CandidateAnswer, build_pair, with_choices


@pytest.mark.parametrize(
    ("text", "known", "right"),
    [
        ("So it is. Answer: 42", "42", True),
        ("Answer: 1,200", "1200", True),
        ("First I thought Answer: 4.\nAnswer: 5", "5", True),
        (r"Thus \boxed{\frac{1}{2}}", r"\frac{1}{2}", True),
        ("Answer: the red car.", "the  red car", True),
        ("Answer: -3", "3", False),
        ("It is 42.", "42", None),
    ],
)
def test_final_answers_are_compared_normalised(text: str, known: str, right: bool | None) -> None:
    assert is_right(text, known) is right


@pytest.mark.parametrize(
    ("given", "known", "right"),
    [
        ("\u22124", "4", None),
        ("1/2", "0.5", None),
        ("50%", "50", None),
        ("2\u00b2", "22", None),
        ("4 dogs", "4", None),
        ("Yes", "no", False),
        ("true", "Yes", True),
        ("A", "B", False),
    ],
)
def test_what_the_forms_of_two_answers_do_not_tell_is_undecided(given: str, known: str, right: bool | None) -> None:
    assert is_right(f"Answer: {given}", known) is right
    assert is_right(rf"\boxed{{{given}}}", known) is right


def test_a_last_box_that_cannot_be_read_gives_no_answer() -> None:
    assert final_answer(r"First \boxed{4}, so \boxed{\frac{1}{\sqrt{2}}}") is None


@pytest.mark.parametrize(
    ("text", "known", "right"),
    [
        ("Answer: B", "green", None),
        ("Answer: B. red", "B", None),
        ("Answer: B", "B", True),
        ("Answer: (B)", "blue", True),
        ("Answer: Blue", "B", True),
        ("Answer: violet", "B", None),
    ],
)
def test_choices_are_compared_by_letter_or_text(text: str, known: str, right: bool | None) -> None:
    assert is_right(text, known, choices={"A": "red", "B": "blue"}) is right


def test_choices_stand_in_the_question_that_everybody_sees() -> None:
    choices = {"A": "three", "B": "four"}
    assert with_choices("How many?", choices) == "How many?\nA. three\nB. four"
    assert with_choices("How many? (A) Three (B) Four", choices) == "How many? (A) Three (B) Four"


def test_a_long_answer_is_cut() -> None:
    assert len(final_answer("Answer: " + "x" * 10_000) or "") == 400


def words(count: int, mark: str) -> str:
    return " ".join([mark, *["word"] * (count - 1)])


def answer(name: str, count: int, *, right: bool | None) -> CandidateAnswer:
    return CandidateAnswer(name, text=words(count, name), right=right)


def test_the_right_and_the_wrong_answer_of_the_closest_lengths_make_a_pair() -> None:
    right, far, near = answer("a", 100, right=True), answer("b", 110, right=False), answer("c", 109, right=False)
    assert build_pair([right, far, near, answer("d", 100, right=None)]) == (right, near)
    assert build_pair([right, far]) == "lengths", "the gap of the shorter is 0.1, which is too much"
    assert build_pair([far, near]) == build_pair([]) == "no_right_answer"
    assert build_pair([right, answer("d", 100, right=None)]) == "no_wrong_answer"


def write(path: Path, lines: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def build(folder: Path, *more: str) -> int:
    return main(["build", str(folder / "questions.jsonl"), "--output", str(folder / "build"), *more])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Questions, and answers of a good and a bad model; question 2 gets no final answer, and 3 two wrong ones."""
    (tmp_path / "a.png").write_bytes(picture(1))
    rows = [{"id": f"q{n}", "query": f"What is number {n}?", "answer": n, "image": "a.png"} for n in range(5)]
    write(tmp_path / "questions.jsonl", rows)
    for model in ("good", "bad"):
        answers = []
        for number in range(5):
            said = number if model == "good" and number != 3 else 9
            start = (
                f"A {'careful' if model == 'good' else 'hasty'} look at number {number} says so many words about it."
            )
            answers.append({"id": f"q{number}", "text": start if number == 2 else f"{start}\nAnswer: {said}"})
        write(tmp_path / f"{model}.jsonl", answers)
    return tmp_path


def test_answers_become_pairs_and_go_into_a_pool(folder: Path) -> None:
    assert build(folder) == 0
    asked = lines(folder / "build" / "to_answer.jsonl")
    assert [line["id"] for line in asked] == [f"q{n}" for n in range(5)] and "number 4?" in asked[4]["prompt"]
    assert (folder / "build" / asked[0]["image"]).read_bytes() == picture(1)
    given = [f"--answers={model}={folder / model}.jsonl" for model in ("good", "bad")]
    assert build(folder, *given) == 0
    built = lines(folder / "build" / "pairs.jsonl")
    assert [line["id"] for line in built] == ["q0", "q1", "q4"], "nobody can tell which answer to q2 is right"
    assert all("careful" in line["response"][line["preferred"]] for line in built)
    assert json.loads((folder / "build" / "build.json").read_text())["dropped"] == {"no_right_answer": 2}
    given = ["--source", "Built", "--licence", "x", "--category", "reasoning", "--into", str(folder / "pool")]
    assert main(["pool", "import", str(folder / "build" / "pairs.jsonl"), *given]) == 0
    pool = lines(folder / "pool" / "pairs.jsonl")
    assert len(pool) == 3 and all("careful" in line["response"][line["preferred"]] for line in pool)


@pytest.mark.parametrize(
    ("name", "row", "said"),
    [
        ("questions", {"query": "", "answer": 1, "image": "a.png"}, "`query`"),
        ("questions", {"query": "Q?", "image": "a.png"}, "`answer`"),
        ("questions", {"query": "Q?", "answer": 1, "image": "../a.png"}, "below"),
        ("questions", {"query": "Q?", "answer": 1, "image": "a.png", "choices": "A"}, "`choices`"),
        ("good", {"id": "q9", "text": "Answer: 1"}, "`id`"),
        ("good", {"id": "q1", "text": None}, "`text`"),
    ],
)
def test_bad_questions_and_answers_are_refused_by_line(
    folder: Path, name: str, row: dict[str, Any], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder / f"{name}.jsonl", [row])
    assert build(folder, f"--answers=good={folder / 'good.jsonl'}") == 2
    error = capsys.readouterr().err
    assert ("line 1" in error or "row 1" in error) and said in error
