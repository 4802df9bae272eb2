"""Questions with a known answer, the answers of several models to them, and the pairs that these make."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from vlrb.benchmarks.items import fingerprint
from vlrb.editions.answer_checking import is_right
from vlrb.editions.asking import ChatModel, ChatQuestions, ask_all
from vlrb.editions.errors import CurateError, listed
from vlrb.editions.pair_building import BuiltPair, CandidateAnswer
from vlrb.editions.pools.images import read_image, store_image
from vlrb.editions.pools.pool import DROPPED
from vlrb.editions.pools.sources import open_source
from vlrb.judge.engine import EngineLimits
from vlrb.judge.images import ImageSource
from vlrb.judge.pairs import PairToJudge
from vlrb.judge.plan import RequestKey
from vlrb.judge.prompts import Prompt

ANSWER_PROMPT = Prompt(
    "answer",
    "{query}\n\nExplain your reasoning step by step. End with a line of its own:\nAnswer: <your final answer>",
    without="<image>\n",
)
CHECK_PROMPT = Prompt(
    "check",
    "Question: {query}\n\nDoes the reply come to the known answer? "
    "Do not solve the question yourself. Reply with one word: RIGHT, WRONG or UNCLEAR.",
)
_CHECKED = re.compile(r"\b(RIGHT|WRONG|UNCLEAR)\b")
_SAMPLING = {"temperature": 0.7, "top_p": 0.95, "max_tokens": 2048}
_EXACT = {"temperature": 0.0, "max_tokens": 16}


@dataclass(frozen=True, slots=True)
class KnownQuestion:
    """A question whose answer is known. ``choices``: letter -> text, where it offers some."""

    pair: PairToJudge  # without responses yet
    answer: str
    choices: Mapping[str, str]
    category: str


def read_questions(name: str) -> list[KnownQuestion]:
    """Return the questions of a file.

    Raises:
        CurateError: rows cannot be used; the message names line, field and remedy.
    """
    source = open_source(name, usual="test")
    questions: list[KnownQuestion] = []
    problems: list[str] = []
    for row in source.rows():
        try:
            questions.append(_question(row.fields, len(questions), folder=source.folder))
        except CurateError as error:
            problems.append(f"{row.place}: {error}")
    if problems or not questions:
        raise CurateError(f"{name}: rows that cannot be used: {len(problems):,}.\n{listed(problems)}")
    repeated = [key for key, count in Counter(question.pair.id for question in questions).items() if count > 1]
    if repeated:
        raise CurateError(f"{name}: ids occur twice: {', '.join(repeated[:5])}. Give each question its own.")
    return questions


def _question(row: Mapping[str, Any], number: int, *, folder: Path | None) -> KnownQuestion:
    query, answer, choices = row.get("query", row.get("question")), row.get("answer"), row.get("choices") or []
    if not isinstance(query, str) or not query.strip():
        raise CurateError("`query` must be a text")
    if isinstance(answer, bool) or not isinstance(answer, str | int | float) or not str(answer).strip():
        raise CurateError("`answer` must be a text or a number: the answer that is known to be right")
    if not isinstance(choices, list) or len(choices) > 10 or not all(isinstance(text, str) for text in choices):
        raise CurateError("`choices` must be a list of at most ten texts")
    image = ImageSource(data=read_image(row.get("image", row.get("image_path")), folder))
    by_letter = dict(zip("ABCDEFGHIJ", choices, strict=False))
    pair = _to_ask(number, str(row.get("id", number)), query=with_choices(query, by_letter), image=image)
    return KnownQuestion(pair, str(answer), choices=by_letter, category=str(row.get("category") or ""))


def _to_ask(number: int, name: str, *, query: str, image: ImageSource) -> PairToJudge:
    digest = fingerprint(query, ("", ""), dropped=DROPPED)
    return PairToJudge(number, name, query=query, responses=("", ""), image=image, fingerprint=digest)


def with_choices(query: str, choices: Mapping[str, str]) -> str:
    """Return a question with its choices below it, unless it has them: answering and checking models must see them."""
    if all(text.casefold() in query.casefold() for text in choices.values()):
        return query
    return "\n".join((query, *(f"{letter}. {text}" for letter, text in choices.items())))


def ask_models(
    folder: Path, models: Sequence[ChatModel], *, questions: Sequence[KnownQuestion], votes: int, limits: EngineLimits
) -> dict[int, list[CandidateAnswer]]:
    """Return question number -> whole answers of all models, with their correctness where it can be told."""
    asked = ChatQuestions(ANSWER_PROMPT, [question.pair for question in questions], _SAMPLING, votes)
    answers: dict[int, list[CandidateAnswer]] = {number: [] for number in range(len(questions))}
    for model in models:
        given = ask_all(folder / "answers" / model.name, model, questions=asked, limits=limits)
        for key, answer in given.items():
            text, question = (answer.text or "").strip(), questions[key.row]
            if text and answer.finish_reason not in ("length", "max_tokens"):
                right = is_right(text, question.answer, choices=question.choices)
                answers[key.row].append(CandidateAnswer(model.name, key.vote, text=text, right=right))
    return answers


def ask_checker(
    folder: Path,
    checker: ChatModel,
    *,
    questions: Sequence[KnownQuestion],
    answers: Mapping[int, list[CandidateAnswer]],
    limits: EngineLimits,
) -> None:
    """Ask a model about answers whose correctness could not be told, and set it."""
    unclear = [(row, place) for row, held in answers.items() for place, one in enumerate(held) if one.right is None]
    asked = []
    for number, (row, place) in enumerate(unclear):
        question, answer = questions[row], answers[row][place]
        query = f"{question.pair.query}\n\nKnown answer: {question.answer}\n\nReply to be checked:\n{answer.text}"
        name = f"{question.pair.id}-{answer.endpoint}-{answer.vote}"
        asked.append(_to_ask(number, name, query=query, image=question.pair.image))
    if not asked:
        return
    to_check = ChatQuestions(CHECK_PROMPT, asked, _EXACT)
    run = folder / "checks" / to_check.sha256[:16]  # others, of an earlier set of endpoints, stay
    given = ask_all(run, checker, questions=to_check, limits=limits)
    for number, (row, place) in enumerate(unclear):
        words = _CHECKED.findall((given[RequestKey(number, 0)].text or "").upper())
        right = {"RIGHT": True, "WRONG": False}.get(words[-1]) if words else None
        answers[row][place] = replace(answers[row][place], right=right)


def pair_lines(pairs: Sequence[tuple[KnownQuestion, BuiltPair]], folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines that `pool import` takes; images are copied beside them."""
    for number, (question, pair) in enumerate(pairs):
        line = {
            "id": f"{question.pair.id}-{number}",
            "query": question.pair.query,
            "response": [pair.first.text, pair.second.text],
            "preferred": pair.preferred,
            "image": store_image(question.pair.image.read(), folder).path,
            "category": question.category,
            "answer": question.answer,
            "models": [pair.first.endpoint, pair.second.endpoint],
        }
        yield {name: value for name, value in line.items() if value not in (None, "")}
