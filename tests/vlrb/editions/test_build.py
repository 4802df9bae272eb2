"""Pairs for checkable questions: correctness, length, and the files of models that were asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

from tests.factories.suite.programs import edition_main as main
from tests.vlrb.editions.synthetic import picture
from vlrb.editions.answer_checking import final_answer, is_right
from vlrb.editions.building import CandidateAnswer, build_pairs, length_gap, with_choices


@pytest.mark.parametrize(
    ("text", "known", "right"),
    [
        ("So it is. Answer: 42", "42", True),
        ("Answer: 42.0", "42", True),
        ("Answer: 1,200", "1200", True),
        ("Answer: 1/2", "0.5", True),
        ("**Answer:** 3.", "3", True),
        ("First I thought Answer: 4.\nAnswer: 5", "5", True),
        (r"Thus \boxed{\frac{1}{2}}", r"\frac{1}{2}", True),
        ("Answer: the red car.", "the  red car", True),
        ("Answer: The red car", "red car!", None),
        ("Answer: 30°", "30", True),
        ("Answer: 12", "21", False),
        ("Answer: -3", "3", False),
        ("It is 42.", "42", None),
        ("Answer: ", "42", None),
        ("Answer: 1/0", "1/0", True),
    ],
)
def test_final_answers_are_compared_normalised(text: str, known: str, right: bool | None) -> None:
    assert is_right(text, known) is right


@pytest.mark.parametrize(
    ("given", "known", "right"),
    [
        ("\u22124", "4", False),
        ("\u22124", "-4", True),
        (r"$-\dfrac{1}{2}$", "-0.5", True),
        (r"\frac{1}{2}", "1/2", True),
        ("\uff14", "4", True),
        ("50%", "0.5", True),
        ("50%", "60%", False),
        ("50%", "50", None),
        ("0,500", "0.5", None),
        ("1,5", "15", None),
        ("\u221a2", "2", None),
        ("\u00b14", "4", None),
        ("<4", "4", None),
        ("2\u00b2", "22", None),
        ("2*3", "23", None),
        ("5!", "5", None),
        ("4 dogs", "4", None),
        ("12cm", "12", None),
        ("x=3", "3", None),
        ("three", "3", None),
        ("dogs", "dog", None),
        ("not left", "left", None),
        ("Yes", "no", False),
        ("true", "Yes", True),
        ("bicycle", "motorcycle", None),
        ("gm", "mg", None),
        ("automobile", "car", None),
        ("A", "B", False),
        ("(B)", "B", True),
    ],
)
def test_what_the_forms_of_two_answers_do_not_tell_is_undecided(given: str, known: str, right: bool | None) -> None:
    assert is_right(f"Answer: {given}", known) is right
    assert is_right(rf"\boxed{{{given}}}", known) is right


@settings(deadline=None, max_examples=50)
@drawn(
    st.integers(-999, 999), st.sampled_from("\u221a\u00b1<>\u2264\u2260~\u2248!^*/|\u00b2\u00b3\u03c0=x\u20ac\u221e")
)
def test_a_number_with_a_sign_before_or_behind_it_is_neither_right_nor_wrong(number: int, sign: str) -> None:
    assert is_right(f"Answer: {sign}{number}", str(number)) is None
    assert is_right(f"Answer: {number}{sign}", str(number)) is None


def test_a_last_box_that_cannot_be_read_gives_no_answer() -> None:
    assert final_answer(r"First \boxed{4}, so \boxed{\frac{1}{\sqrt{2}}}") is None


@pytest.mark.parametrize(
    ("text", "known", "right"),
    [
        ("Answer: B", "green", None),
        ("Answer: B. red", "B", None),
        ("Answer: B", "B", True),
        ("Answer: (B)", "blue", True),
        ("Answer: B. blue", "B", True),
        ("Answer: Blue", "B", True),
        ("Answer: A", "B", False),
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


@pytest.mark.parametrize(("first", "second", "gap"), [(100, 110, 0.1), (110, 100, 0.1), (50, 54, 0.08)])
def test_the_length_gap_is_relative_to_the_shorter(first: int, second: int, gap: float) -> None:
    assert length_gap(words(first, "a"), words(second, "b")) == pytest.approx(gap)


def answer(name: str, count: int, *, right: bool | None) -> CandidateAnswer:
    return CandidateAnswer(name, name, text=words(count, name), right=right)


def test_a_right_and_a_wrong_answer_of_nearly_equal_length_make_a_pair() -> None:
    given = [
        answer("a", 100, right=True),
        answer("b", 110, right=False),
        answer("c", 109, right=False),
        answer("d", 100, right=None),
    ]
    pairs, counts = build_pairs(given, most=5)
    assert [(right.model, wrong.model) for right, wrong in pairs] == [("a", "c")]
    assert counts == {"both_wrong": 1, "lengths": 1, "undecided": 3}


def test_two_right_answers_make_a_pair_only_if_asked() -> None:
    given = [answer("a", 100, right=True), answer("b", 101, right=True)]
    assert build_pairs(given)[0] == []
    (pair,), _ = build_pairs(given, both_right=True)
    assert pair[1].right


def write(path: Path, lines: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


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
    unclear = lines(folder / "build" / "to_check.jsonl")
    assert [line["id"] for line in unclear] == ["q2-good-0", "q2-bad-0"] and "Known answer: 2" in unclear[0]["prompt"]
    said = [{"id": line["id"], "text": "RIGHT" if "careful" in line["prompt"] else "Wrong."} for line in unclear]
    write(folder / "checks.jsonl", said)
    assert build(folder, *given, "--checks", str(folder / "checks.jsonl")) == 0
    built = lines(folder / "build" / "pairs.jsonl")
    assert [line["id"] for line in built] == ["q0-0", "q1-1", "q2-2", "q4-3"]
    assert all("careful" in line["response"][line["preferred"]] for line in built)
    assert json.loads((folder / "build" / "build.json").read_text())["dropped"] == {"both_wrong": 1}
    given = ["--source", "Built", "--licence", "x", "--category", "reasoning", "--into", str(folder / "pool")]
    assert main(["pool", "import", str(folder / "build" / "pairs.jsonl"), *given]) == 0
    pool = lines(folder / "pool" / "pairs.jsonl")
    assert len(pool) == 4 and all("careful" in line["response"][line["preferred"]] for line in pool)


@pytest.mark.parametrize("options", [["--length-gap", "nan"], ["--most", "0"], ["--answers", "no/name=x"]])
def test_options_that_make_no_sense_are_refused(
    folder: Path, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert build(folder, *options) == 2
    assert options[0] in capsys.readouterr().err


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
