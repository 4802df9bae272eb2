"""`vlrb edition build`: answers of several models to checkable questions become pairs; people decide.

Steps, each with a journal: answers of every endpoint, their correctness, pairs of equal length. The same command goes
on after a kill.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from vlrb.benchmarks.items import fingerprint
from vlrb.common.command_line import say
from vlrb.common.messages import _, ngettext
from vlrb.editions.answer_checking import is_right
from vlrb.editions.asking import AskingLimits, ChatModel, ask_all
from vlrb.editions.errors import CurateError, listed
from vlrb.editions.pair_building import LENGTH_GAP, BuildCounts, BuiltPair, CandidateAnswer, build_pairs
from vlrb.editions.pools.images import read_image, store_image
from vlrb.editions.pools.pairs import DROPPED, check_name
from vlrb.editions.pools.pool import locked, write_json, write_lines
from vlrb.editions.pools.sources import open_source
from vlrb.judge.images import ImageSource
from vlrb.judge.pairs import PairFile, PairToJudge
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
_RANGES: Mapping[str, tuple[float, float]] = {
    "answers": (1, 100),
    "length_gap": (0, 1000),
    "most": (1, 10_000),
    "concurrency": (1, 10_000),
    "retry_wait": (0, 3600),
}
_CHECKED = re.compile(r"\b(RIGHT|WRONG|UNCLEAR)\b")
_SAMPLING = {"temperature": 0.7, "top_p": 0.95, "max_tokens": 2048}
_EXACT = {"temperature": 0.0, "max_tokens": 16}


@dataclass(frozen=True, slots=True)
class KnownQuestion:
    """A question whose answer is known. ``choices``: letter -> text, where it offers some."""

    pair: PairToJudge  # without responses yet
    answer: str
    choices: Mapping[str, str] | None
    category: str


def add_build_command(commands: Any) -> None:
    """Add `build`."""
    parser = commands.add_parser("build", help=_("pairs for questions with a known answer"), allow_abbrev=False)
    parser.add_argument("questions", metavar="FILE", help=_("lines with id, query, image, answer and perhaps choices"))
    parser.add_argument(
        "--endpoint", action="append", required=True, metavar="NAME=URL,MODEL", help=_("who answers (repeatable)")
    )
    parser.add_argument("--answers", type=int, default=1, metavar="K", help=_("answers of each endpoint (1)"))
    parser.add_argument("--checker", metavar="NAME=URL,MODEL", help=_("who compares answers that cannot be normalised"))
    parser.add_argument("--key-env", action="append", default=[], metavar="NAME=VARIABLE", help=_("key of an endpoint"))
    parser.add_argument("--length-gap", type=float, default=LENGTH_GAP, metavar="SHARE", help=f"({LENGTH_GAP})")
    parser.add_argument("--both-right", action="store_true", help=_("also pairs of two right answers"))
    parser.add_argument("--most", type=int, default=1, metavar="N", help=_("pairs of a question (1)"))
    parser.add_argument("--revision", metavar="COMMIT", help=_("commit of a Hub dataset"))
    parser.add_argument("--split", metavar="SPLIT", help=_("split of a Hub dataset (test, or the only one)"))
    parser.add_argument("--concurrency", type=int, default=16, metavar="N", help=_("most requests in flight (16)"))
    parser.add_argument(
        "--retry-wait", type=float, default=0.5, metavar="SECONDS", help=_("before the first retry (0.5)")
    )
    parser.add_argument("--output", type=Path, required=True, metavar="DIR")
    parser.set_defaults(run=build_command)


def build_command(arguments: argparse.Namespace) -> int:
    """Build pairs. Returns the exit code."""
    _check_numbers(arguments)
    questions = read_questions(arguments.questions, revision=arguments.revision, split=arguments.split)
    folder: Path = arguments.output
    with locked(folder):
        builder = PairBuilder(arguments, questions, folder=folder)
        pairs, counts = builder.pairs()
        lines = builder.lines(pairs)
        write_lines(folder / "pairs.jsonl", lines)
        write_json(folder / "build.json", {"questions": len(questions), "pairs": len(lines), "dropped": counts})
    dropped = ", ".join(f"{number:,} {name.replace('_', ' ')}" for name, number in counts.items())
    say(
        _(
            "{lines:,} pairs of {questions:,} questions. Combinations left out: {dropped}.",
            lines=len(lines),
            questions=len(questions),
            dropped=dropped,
        )
    )
    say(_("Next: vlrb edition pool import {path} --source NAME --licence L", path=folder / "pairs.jsonl"))
    return 0


def _check_numbers(arguments: argparse.Namespace) -> None:
    for name, (least, most) in _RANGES.items():
        value = getattr(arguments, name)
        if not least <= value <= most:
            raise CurateError(
                _(
                    "--{name} {value} makes no sense: give a number from {least:g} to {most:g}.",
                    name=name.replace("_", "-"),
                    value=value,
                    least=least,
                    most=most,
                )
            )


def read_questions(name: str, *, revision: str | None, split: str | None) -> list[KnownQuestion]:
    """Return the questions of a file.

    Raises:
        CurateError: rows cannot be used; the message names line, field and remedy.
    """
    source = open_source(name, revision=revision, split=split, usual="test")
    questions: list[KnownQuestion] = []
    problems: list[str] = []
    for row in source.rows():
        try:
            if row.problem:
                raise CurateError(row.problem)
            questions.append(_question(row.fields, len(questions), folder=source.folder))
        except CurateError as error:
            problems.append(f"{row.place}: {error}")
    if problems or not questions:
        raise CurateError(
            ngettext(
                "{name}: {n:,} row cannot be used.\n{listed}",
                "{name}: {n:,} rows cannot be used.\n{listed}",
                len(problems),
                name=name,
                listed=listed(problems),
            )
        )
    repeated = [
        question_id for question_id, count in Counter(question.pair.id for question in questions).items() if count > 1
    ]
    if repeated:
        raise CurateError(
            _("{name}: ids occur twice: {names}. Give each question its own.", name=name, names=", ".join(repeated[:5]))
        )
    return questions


def _question(row: Mapping[str, Any], number: int, *, folder: Path | None) -> KnownQuestion:
    query, answer, name = row.get("query", row.get("question")), row.get("answer"), str(row.get("id", number))
    if not isinstance(query, str) or not query.strip():
        raise CurateError(_("`query` must be a text"))
    if isinstance(answer, bool) or not isinstance(answer, str | int | float) or not str(answer).strip():
        raise CurateError(_("`answer` must be a text or a number: the answer that is known to be right"))
    image = row.get("image", row.get("image_path"))
    source = ImageSource(data=read_image(image, folder))
    choices = _choices(row.get("choices"))
    query = _with_choices(query, choices or {})
    pair = PairToJudge(
        number,
        name,
        query=query,
        responses=("", ""),
        image=source,
        fingerprint=fingerprint(query, ("", ""), dropped=DROPPED),
    )
    return KnownQuestion(pair, str(answer), choices=choices, category=str(row.get("category") or ""))


def _with_choices(query: str, choices: Mapping[str, str]) -> str:
    """Return a question with its choices below it, unless it has them: answering and checking models must see them."""
    if all(text.casefold() in query.casefold() for text in choices.values()):
        return query
    return "\n".join((query, *(f"{letter}. {text}" for letter, text in choices.items())))


def _choices(value: Any) -> dict[str, str] | None:
    if value is None:
        return None
    if isinstance(value, list) and value and all(isinstance(text, str) for text in value) and len(value) <= 10:
        return {"ABCDEFGHIJ"[place]: text for place, text in enumerate(value)}
    raise CurateError(_("`choices` must be a list of at most ten texts"))


class PairBuilder:
    """One build: its endpoints, its questions and its directory."""

    def __init__(self, arguments: argparse.Namespace, questions: Sequence[KnownQuestion], *, folder: Path) -> None:
        keys = dict(_named(text, "--key-env") for text in arguments.key_env)
        self._arguments, self._questions, self._folder = arguments, questions, folder
        self._models = [
            _model(text, "--endpoint", keys=keys, variables=arguments.variables) for text in arguments.endpoint
        ]
        checker = arguments.checker
        self._checker = _model(checker, "--checker", keys=keys, variables=arguments.variables) if checker else None
        self._limits = AskingLimits(arguments.concurrency, first_wait=arguments.retry_wait)
        if len({model.name for model in self._models}) < len(self._models):
            raise CurateError(_("Two endpoints have one name; give each its own with NAME=URL,MODEL."))

    def pairs(self) -> tuple[list[tuple[KnownQuestion, BuiltPair]], dict[str, int]]:
        """Return the pairs of all questions, and why other combinations were left out."""
        answers = self._answers()
        built: list[tuple[KnownQuestion, BuiltPair]] = []
        totals = Counter(asdict(BuildCounts(0, 0, undecided=0, lengths=0, same_text=0)))
        options = self._arguments
        for question in self._questions:
            result, counts = build_pairs(
                answers[question.pair.row], gap=options.length_gap, both_right=options.both_right, most=options.most
            )
            built += [(question, pair) for pair in result]
            totals.update(asdict(counts))
        return built, dict(totals)

    def _answers(self) -> dict[int, list[CandidateAnswer]]:
        """Return the answers to each question with their correctness."""
        asked = [question.pair for question in self._questions]
        answers: dict[int, list[CandidateAnswer]] = {pair.row: [] for pair in asked}
        for model in self._models:
            settings = {"votes": self._arguments.answers, "seed": 0, "parameters": _SAMPLING}
            given = ask_all(
                self._folder / "answers" / model.name,
                model,
                prompt=ANSWER_PROMPT,
                pairs=asked,
                settings=settings,
                limits=self._limits,
            )
            for key, answer in given.items():
                question = self._questions[key.row]
                text = (answer.text or "").strip()
                cut = answer.finish_reason in ("length", "max_tokens")
                right = None if not text or cut else is_right(text, question.answer, choices=question.choices)
                if text and not cut:
                    answers[key.row].append(CandidateAnswer(model.name, key.vote, text=text, right=right))
        return self._checked(answers) if self._checker else answers

    def _checked(self, answers: Mapping[int, Sequence[CandidateAnswer]]) -> dict[int, list[CandidateAnswer]]:
        """Ask the checker about answers whose correctness could not be told."""
        unclear = [
            (row, place) for row, held in answers.items() for place, answer in enumerate(held) if answer.right is None
        ]
        asked = [self._to_check(number, answers[row][place], row=row) for number, (row, place) in enumerate(unclear)]
        checked = {row: list(held) for row, held in answers.items()}
        if asked and self._checker:
            settings = {"votes": 1, "seed": 0, "parameters": _EXACT}
            given = ask_all(
                self._run("checks", asked),
                self._checker,
                prompt=CHECK_PROMPT,
                pairs=asked,
                settings=settings,
                limits=self._limits,
            )
            for number, (row, place) in enumerate(unclear):
                words = _CHECKED.findall((given[RequestKey(number, 0)].text or "").upper())
                right = {"RIGHT": True, "WRONG": False}.get(words[-1]) if words else None
                checked[row][place] = replace(checked[row][place], right=right)
        return checked

    def _run(self, step: str, asked: Sequence[PairToJudge]) -> Path:
        """Return the directory of a step about these pairs; others, of an earlier set of endpoints, stay."""
        return self._folder / step / PairFile(tuple(asked), frozenset()).sha256[:16]

    def _to_check(self, number: int, answer: CandidateAnswer, *, row: int) -> PairToJudge:
        question = self._questions[row]
        query = f"{question.pair.query}\n\nKnown answer: {question.answer}\n\nReply to be checked:\n{answer.text}"
        return PairToJudge(
            number, f"{question.pair.id}-{answer.endpoint}-{answer.vote}", query=query, responses=("", ""),
            image=question.pair.image, fingerprint=fingerprint(query, ("", ""), dropped=DROPPED),
        )  # fmt: skip

    def lines(self, pairs: Sequence[tuple[KnownQuestion, BuiltPair]]) -> list[dict[str, Any]]:
        """Return the lines that `pool import` takes; images are copied beside them."""
        lines = []
        for number, (question, pair) in enumerate(pairs):
            line = {
                "id": f"{question.pair.id}-{number}",
                "query": question.pair.query,
                "response": [pair.first.text, pair.second.text],
                "preferred": pair.preferred,
                "image": self._kept_image(question),
                "category": question.category,
                "answer": question.answer,
                "models": [pair.first.endpoint, pair.second.endpoint],
            }
            lines.append({name: value for name, value in line.items() if value not in (None, "")})
        return lines

    def _kept_image(self, question: KnownQuestion) -> str:
        return store_image(question.pair.image.read(), self._folder).path


def _named(text: str, option: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not value:
        raise CurateError(
            _(
                "{option} {text}: give NAME=..., such as qwen=http://localhost:8000/v1,Qwen2.5-VL-7B.",
                option=option,
                text=text,
            )
        )
    return check_name(name, option), value


def _model(text: str, option: str, *, keys: Mapping[str, str], variables: Mapping[str, str]) -> ChatModel:
    name, value = _named(text, option)
    url, comma, model = value.partition(",")
    if not comma or not model:
        raise CurateError(_("{option} {text}: give NAME=URL,MODEL.", option=option, text=text))
    variable = keys.get(name)
    if variable is None:
        return ChatModel(name, url, model=model, key=None)
    if not variables.get(variable):
        raise CurateError(_("The environment variable {variable} is not set.", variable=variable))
    return ChatModel(name, url, model=model, key=variables[variable])
