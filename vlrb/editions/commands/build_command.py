"""`vlrb edition build`: answers of several models to checkable questions become pairs; people decide."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import Any

from vlrb.editions.building import (
    build_pair,
    pair_line,
    read_answers,
    read_questions,
    to_answer,
    to_check,
)
from vlrb.editions.pools.pool import write_json, write_lines
from vlrb.editions.pools.pool_import import check_name


def add_build_command(commands: Any) -> None:
    """Add `build`."""
    parser = commands.add_parser("build", help="pairs for questions with a known answer", allow_abbrev=False)
    about = "lines with id, query, image, answer and perhaps choices, or a Hub dataset"
    parser.add_argument("questions", metavar="FILE", help=about)
    about = "lines with id and text of a model (repeatable)"
    parser.add_argument("--answers", action="append", default=[], metavar="MODEL=FILE", help=about)
    parser.add_argument("--checks", type=Path, metavar="FILE", help="lines with id and text about to_check.jsonl")
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
    answers = read_answers(files, questions, checks=arguments.checks)
    unclear = list(to_check(questions, answers))
    write_lines(folder / "to_check.jsonl", unclear)
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
    if unclear:
        print(f"Answers that only a model or people can compare: {len(unclear):,}, in {folder / 'to_check.jsonl'}.")
    print(f"Next: vlrb edition pool import {folder / 'pairs.jsonl'} --source NAME --licence L")
    return 0
