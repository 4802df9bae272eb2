"""`vlrb edition build`: a right and a wrong answer of nearly the same length for questions with a known answer.

Models are asked by whatever runs them: `to_answer.jsonl` holds what each is asked, and its answers come as a file.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from vlrb.common.command_line import CommandError
from vlrb.common.json_files import write_json
from vlrb.editions.answer_checking import is_right
from vlrb.editions.images import read_image, store_image
from vlrb.editions.pool import write_lines
from vlrb.editions.pool_import import ImportSettings, check_name
from vlrb.editions.sources import folder_of, listed, read_lines, read_source

ANSWER_PROMPT = (
    "{query}\n\nExplain your reasoning step by step. End with a line of its own:\nAnswer: <your final answer>"
)
LENGTH_GAP = 0.1
_COLUMNS = ImportSettings()


@dataclass(frozen=True, slots=True)
class KnownQuestion:
    """A question whose answer is known. ``choices``: letter -> text, where it offers some; then ``query`` has them.

    ``image``: where the folder of the build keeps it.
    """

    id: str
    query: str
    image: str
    answer: str
    choices: Mapping[str, str]
    category: str | None


class AnswerLine(BaseModel, strict=True):
    """A line of a model's answers."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class CandidateAnswer:
    """An answer to a question. ``right``: None where nobody can tell."""

    model: str
    text: str
    right: bool | None


def read_questions(name: str, folder: Path) -> list[KnownQuestion]:
    """Return the questions of a file or Hub dataset; their images are kept in the folder.

    Raises:
        CommandError: rows cannot be used; the message names line, field and remedy.
    """
    questions: dict[str, KnownQuestion] = {}
    problems: list[str] = []
    for number, row in enumerate(read_source(name, [*_COLUMNS.names, "choices"])):
        try:
            image = read_image(_COLUMNS.value(row, "image"), folder_of(name))
            question = _question(row, number, image=image, folder=folder)
            if question.id in questions:
                raise CommandError(f"the id {question.id!r} occurs twice; give each question its own")
            questions[question.id] = question
        except CommandError as error:
            problems.append(f"row {number + 1}: {error}")
    if problems or not questions:
        raise CommandError(f"{name}: rows that cannot be used: {len(problems):,}.\n{listed(problems)}")
    return list(questions.values())


def _question(row: Mapping[str, Any], number: int, *, image: bytes, folder: Path) -> KnownQuestion:
    query, answer, choices = _COLUMNS.value(row, "query"), row.get("answer"), row.get("choices") or []
    if not isinstance(query, str) or not query.strip():
        raise CommandError("`query` must be a text")
    if isinstance(answer, bool) or not isinstance(answer, str | int | float) or not str(answer).strip():
        raise CommandError("`answer` must be a text or a number: the answer that is known to be right")
    if not isinstance(choices, list) or len(choices) > 10 or not all(isinstance(text, str) for text in choices):
        raise CommandError("`choices` must be a list of at most ten texts")
    by_letter = dict(zip("ABCDEFGHIJ", choices, strict=False))
    name, category = str(row.get("id", number)), str(row.get("category") or "") or None
    query, path = with_choices(query, by_letter), store_image(image, folder)["image"]
    return KnownQuestion(name, query, path, answer=str(answer), choices=by_letter, category=category)


def with_choices(query: str, choices: Mapping[str, str]) -> str:
    """Return a question with its choices below it, unless it has them: answering and checking models must see them."""
    if all(text.casefold() in query.casefold() for text in choices.values()):
        return query
    return "\n".join((query, *(f"{letter}. {text}" for letter, text in choices.items())))


def read_answers(files: Mapping[str, Path], questions: Sequence[KnownQuestion]) -> dict[str, list[CandidateAnswer]]:
    """Return question id -> answers, with their correctness where their form tells it.

    ``files``: model -> lines with ``id`` of a question and ``text``.

    Raises:
        CommandError: a line is no answer, or about no question.
    """
    known = {question.id: question for question in questions}
    answers: dict[str, list[CandidateAnswer]] = {name: [] for name in known}
    for model, path in files.items():
        for place, answer in read_lines(path, AnswerLine):
            if answer.id not in known:
                raise CommandError(f"{place}: `id` {answer.id!r} is not in the file of what is asked.")
            if text := answer.text.strip():
                right = is_right(text, known[answer.id].answer, choices=known[answer.id].choices)
                answers[answer.id].append(CandidateAnswer(model, text, right=right))
    return answers


def to_answer(questions: Sequence[KnownQuestion]) -> Iterator[dict[str, str]]:
    """Yield what each model is asked."""
    for question in questions:
        yield {"id": question.id, "prompt": ANSWER_PROMPT.format(query=question.query), "image": question.image}


def length_gap(first: CandidateAnswer, second: CandidateAnswer) -> float:
    """Return |l1 - l2| / min(l1, l2) of the numbers of words; no answer is without words."""
    words, other = len(first.text.split()), len(second.text.split())
    return abs(words - other) / min(words, other)


def build_pair(answers: Sequence[CandidateAnswer]) -> tuple[CandidateAnswer, CandidateAnswer] | str:
    """Return the right and the wrong answer of the closest lengths, or why there is no such pair."""
    right, wrong = ([answer for answer in answers if answer.right is kind] for kind in (True, False))
    if not right or not wrong:
        return "no_wrong_answer" if right else "no_right_answer"
    closest = min(product(right, wrong), key=lambda both: (length_gap(*both), both[0].model, both[1].model))
    return closest if length_gap(*closest) < LENGTH_GAP else "lengths"


def pair_line(question: KnownQuestion, pair: tuple[CandidateAnswer, CandidateAnswer]) -> dict[str, Any]:
    """Return the line that `pool import` takes."""
    line = {"id": question.id, "query": question.query, "image": question.image, "category": question.category}
    return {**line, "response": [answer.text for answer in pair], "preferred": 0}


def add_build_command(commands: Any) -> None:
    """Add `build`."""
    parser = commands.add_parser("build", help="pairs for questions with a known answer", allow_abbrev=False)
    about = "lines with id, query, image, answer and perhaps choices, or a Hub dataset"
    parser.add_argument("questions", metavar="FILE", help=about)
    about = "lines with id and text of a model (repeatable)"
    parser.add_argument("--answers", action="append", default=[], metavar="MODEL=FILE", help=about)
    parser.add_argument("--output", type=Path, required=True, metavar="DIR")
    parser.set_defaults(run=build_command)


def build_command(arguments: argparse.Namespace) -> int:
    """Build pairs. Returns the exit code."""
    files = {}
    for text in arguments.answers:
        model, _equals, path = text.partition("=")
        files[check_name(model, "--answers")] = Path(path)
    folder: Path = arguments.output
    questions = read_questions(arguments.questions, folder)
    write_lines(folder / "to_answer.jsonl", to_answer(questions))
    if not files:
        print(f"{len(questions):,} questions in {folder / 'to_answer.jsonl'}: ask models, then give --answers.")
        return 0
    answers = read_answers(files, questions)
    lines: list[dict[str, Any]] = []
    dropped = Counter[str]()
    for question in questions:
        built = build_pair(answers[question.id])
        if isinstance(built, str):
            dropped[built] += 1
        else:
            lines.append(pair_line(question, built))
    write_lines(folder / "pairs.jsonl", lines)
    write_json(folder / "build.json", {"questions": len(questions), "pairs": len(lines), "dropped": dropped})
    left_out = ", ".join(f"{number:,} {name.replace('_', ' ')}" for name, number in dropped.items()) or "none"
    print(f"{len(lines):,} pairs of {len(questions):,} questions. Questions left out: {left_out}.")
    if unclear := sum(answer.right is None for given in answers.values() for answer in given):
        print(f"Answers whose form does not tell whether they are right: {unclear:,}.")
    print(f"Next: vlrb edition pool import {folder / 'pairs.jsonl'} --source NAME --licence L")
    return 0
