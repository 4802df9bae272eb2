"""`vlrb edition build`: answers of several models to checkable questions become pairs; people decide.

Steps, each with a journal: answers of every endpoint, their correctness, pairs of equal length. The same command goes
on after a kill.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vlrb.editions.answering import ask_checker, ask_models, pair_lines, read_questions
from vlrb.editions.asking import ChatModel
from vlrb.editions.errors import CurateError
from vlrb.editions.pair_building import LENGTH_GAP, build_pairs
from vlrb.editions.pools.pool import locked, write_json, write_lines
from vlrb.editions.pools.pool_import import check_name
from vlrb.judge.engine import EngineLimits

_RANGES: Mapping[str, tuple[float, float]] = {
    "answers": (1, 100),
    "length_gap": (0, 1000),
    "most": (1, 10_000),
    "concurrency": (1, 10_000),
    "retry_wait": (0, 3600),
}


def add_build_command(commands: Any) -> None:
    """Add `build`."""
    parser = commands.add_parser("build", help="pairs for questions with a known answer", allow_abbrev=False)
    about = "lines with id, query, image, answer and perhaps choices, or a Hub dataset"
    parser.add_argument("questions", metavar="FILE", help=about)
    model: dict[str, Any] = {"metavar": "NAME=URL,MODEL"}
    parser.add_argument("--endpoint", action="append", required=True, help="who answers (repeatable)", **model)
    parser.add_argument("--answers", type=int, default=1, metavar="K", help="answers of each endpoint (1)")
    parser.add_argument("--checker", help="who compares answers that cannot be normalised", **model)
    parser.add_argument("--key-env", action="append", default=[], metavar="NAME=VARIABLE", help="key of an endpoint")
    parser.add_argument("--length-gap", type=float, default=LENGTH_GAP, metavar="SHARE", help=f"({LENGTH_GAP})")
    parser.add_argument("--both-right", action="store_true", help="also pairs of two right answers")
    parser.add_argument("--most", type=int, default=1, metavar="N", help="pairs of a question (1)")
    parser.add_argument("--concurrency", type=int, default=16, metavar="N", help="most requests in flight (16)")
    parser.add_argument("--retry-wait", type=float, default=0.5, metavar="SECONDS", help="before the first retry (0.5)")
    parser.add_argument("--output", type=Path, required=True, metavar="DIR")
    parser.set_defaults(run=build_command)


def build_command(arguments: argparse.Namespace) -> int:
    """Build pairs. Returns the exit code."""
    for name, (least, most) in _RANGES.items():
        value = getattr(arguments, name)
        if not least <= value <= most:
            option = name.replace("_", "-")
            raise CurateError(f"--{option} {value} makes no sense: give a number from {least:g} to {most:g}.")
    questions = read_questions(arguments.questions)
    models = [_model(text, "--endpoint", arguments=arguments) for text in arguments.endpoint]
    checker = _model(arguments.checker, "--checker", arguments=arguments) if arguments.checker else None
    if len({model.name for model in models}) < len(models):
        raise CurateError("Two endpoints have one name; give each its own with NAME=URL,MODEL.")
    folder: Path = arguments.output
    limits = EngineLimits(arguments.concurrency, first_wait=arguments.retry_wait)
    with locked(folder):
        answers = ask_models(folder, models, questions=questions, votes=arguments.answers, limits=limits)
        if checker:
            ask_checker(folder, checker, questions=questions, answers=answers, limits=limits)
        pairs, dropped = [], Counter[str]()
        options = {"gap": arguments.length_gap, "both_right": arguments.both_right, "most": arguments.most}
        for number, question in enumerate(questions):
            built, reasons = build_pairs(answers[number], **options)
            pairs += [(question, pair) for pair in built]
            dropped += reasons
        write_lines(folder / "pairs.jsonl", pair_lines(pairs, folder))
        write_json(folder / "build.json", {"questions": len(questions), "pairs": len(pairs), "dropped": dropped})
    reasons_text = ", ".join(f"{number:,} {name.replace('_', ' ')}" for name, number in dropped.items()) or "none"
    print(f"{len(pairs):,} pairs of {len(questions):,} questions. Combinations left out: {reasons_text}.")
    print(f"Next: vlrb edition pool import {folder / 'pairs.jsonl'} --source NAME --licence L")
    return 0


def _named(text: str, option: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not value:
        raise CurateError(f"{option} {text}: give NAME=..., such as qwen=http://localhost:8000/v1,Qwen2.5-VL-7B.")
    return check_name(name, option), value


def _model(text: str, option: str, *, arguments: argparse.Namespace) -> ChatModel:
    name, value = _named(text, option)
    url, _comma, model = value.partition(",")
    if not model:
        raise CurateError(f"{option} {text}: give NAME=URL,MODEL.")
    variable = dict(_named(given, "--key-env") for given in arguments.key_env).get(name)
    key = arguments.variables.get(variable) if variable else None
    if variable and not key:
        raise CurateError(f"The environment variable {variable} is not set.")
    return ChatModel(name, url, model=model, key=key)
