"""`vlrb edition build`: answers of several models to checkable questions become pairs; people decide."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import Any

from vlrb.editions.building import (
    LENGTH_GAP,
    build_pairs,
    pair_line,
    read_answers,
    read_questions,
    to_answer,
    to_check,
)
from vlrb.editions.errors import CurateError
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
    parser.add_argument("--length-gap", type=float, default=LENGTH_GAP, metavar="SHARE", help=f"({LENGTH_GAP})")
    parser.add_argument("--both-right", action="store_true", help="also pairs of two right answers")
    parser.add_argument("--most", type=int, default=1, metavar="N", help="pairs of a question (1)")
    parser.add_argument("--output", type=Path, required=True, metavar="DIR")
    parser.set_defaults(run=build_command)


def build_command(arguments: argparse.Namespace) -> int:
    """Build pairs. Returns the exit code."""
    if not arguments.length_gap >= 0 or arguments.most < 1:
        raise CurateError("--length-gap takes a share from 0, --most a number from 1.")
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
    options = {"gap": arguments.length_gap, "both_right": arguments.both_right, "most": arguments.most}
    for question in questions:
        built, reasons = build_pairs(answers[question.id], **options)
        for pair in built:
            lines.append(pair_line(f"{question.id}-{len(lines)}", question, pair=pair))
        dropped += reasons
    write_lines(folder / "pairs.jsonl", lines)
    write_json(folder / "build.json", {"questions": len(questions), "pairs": len(lines), "dropped": dropped})
    left_out = ", ".join(f"{number:,} {name.replace('_', ' ')}" for name, number in dropped.items()) or "none"
    print(f"{len(lines):,} pairs of {len(questions):,} questions. Combinations left out: {left_out}.")
    if unclear:
        print(f"Answers that only a model or people can compare: {len(unclear):,}, in {folder / 'to_check.jsonl'}.")
    print(f"Next: vlrb edition pool import {folder / 'pairs.jsonl'} --source NAME --licence L")
    return 0
