"""Commands `vlrb score`, `commitment` and `compare`: offline, without a server or a database."""

from __future__ import annotations

import argparse
import json
import os
from dataclasses import dataclass
from pathlib import Path

from vlrb.behaviour import behaviour_of
from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.label_files import LabelsError, known_revision, load_labels, load_table
from vlrb.benchmarks.spec import DEFAULT_BENCHMARK, BenchmarkSpec, SpecError
from vlrb.benchmarks.spec_file import definitions_folder, load_spec
from vlrb.commands import score_pairs
from vlrb.commands.scorecard_text import render
from vlrb.common.command_line import CommandParser, complain, say, translated
from vlrb.common.csv_text import csv_table
from vlrb.common.messages import _
from vlrb.label_quality.label_diff import commitment, label_changes
from vlrb.predictions.parse import UploadRejected, all_warnings, parse_predictions
from vlrb.scorecard import scorecard
from vlrb.scoring import Tally, tally


def run(arguments: list[str]) -> int:
    """Run `vlrb score`; returns the exit code: 0 scored, 1 not."""
    options = command_line().parse_args(arguments)
    try:
        result = _scored(options)
    except (LabelsError, SpecError, OSError) as error:
        complain(_("error: {error}", error=translated(str(error))))
        return 1
    for remark in result.remarks:
        complain(remark)
    if result.scored:
        print(result.text) if options.json else say(result.text)
    return 0 if result.scored else 1


def command_line() -> argparse.ArgumentParser:
    """Return the options of the command."""
    score = CommandParser(
        prog="vlrb score", description=_("score a file offline and print its scorecard; writes nothing")
    )
    score.add_argument("file", type=Path)
    score.add_argument(
        "--labels", required=True, help=_("JSONL, JSON or parquet file, or Hub dataset owner/name@commit")
    )
    score.add_argument(
        "--benchmark", default=DEFAULT_BENCHMARK, help=_("id of the benchmark (default: VL-RewardBench)")
    )
    score.add_argument("--edition", help=_("which pairs the labels must hold; what they hold if left out"))
    score.add_argument("--revision", help=_("of the labels; recognised by their ids if left out"))
    score.add_argument("--items", type=Path, help=_("item manifest (default: VL-RewardBench)"))
    score.add_argument("--json", action="store_true", help=_("print the scorecard as JSON"))
    return score


def _scored(options: argparse.Namespace) -> ScoringError | score_pairs.BenchmarkResult:
    spec = load_spec(options.benchmark, definitions_folder(os.environ))
    if score_pairs.uses_label_revisions(spec, options.items):
        table = items_of(spec, options.items)
        revision = known_revision(options.revision or options.edition, table)
        return score(options.file, options.labels, revision=revision, table=table, as_json=options.json)
    return score_pairs.score_benchmark(
        options.file,
        Path(options.labels),
        spec=spec,
        edition=options.edition or options.revision,
        as_json=options.json,
    )


@dataclass(frozen=True, slots=True)
class ScoringError:
    """Output: the scorecard (empty where the file was rejected), remarks, and whether it was scored."""

    scored: bool
    text: str
    remarks: tuple[str, ...]


def items_of(spec: BenchmarkSpec, items: Path | None) -> ItemTable:
    """Return the items of a benchmark, or those of a manifest, which tells its benchmark where the command named none.
    Raises LabelsError."""
    return load_table(items, None if items is not None and spec.id == DEFAULT_BENCHMARK else spec)


def score(file: Path, labels: str, *, revision: str | None, table: ItemTable, as_json: bool) -> ScoringError:
    """Score a file. Raises LabelsError and OSError."""
    try:
        upload = parse_predictions(file.read_bytes(), table)
    except UploadRejected as rejected:
        remarks = [
            (_("line {line}: ", line=problem.line) if problem.line is not None else "") + problem.message
            for problem in rejected.problems
        ]
        return ScoringError(
            False,
            "",
            remarks=(
                *remarks,
                _(
                    "error: {file} was rejected: {problem_count} problem(s)",
                    file=file,
                    problem_count=rejected.problem_count,
                ),
            ),
        )
    label_set = load_labels(labels, revision, table=table)
    counted = tally(upload.votes, label_set, table=table)
    behaviour = behaviour_of(upload.votes, upload.orders, preferred=label_set.preferred)
    card = scorecard(counted, behaviour, benchmark=table.benchmark, label_revision=label_set.revision)
    text = json.dumps(card, indent=1) if as_json else render(card, counted.spec)
    return ScoringError(
        True, text, remarks=tuple(_("warning: {message}", message=warning.message) for warning in all_warnings(upload))
    )


def count_file(labels: str, data: bytes, *, revision: str, table: ItemTable) -> Tally:
    """Return the tally of a file under a revision of labels. Raises LabelsError and UploadRejected."""
    upload = parse_predictions(data, table)
    return tally(upload.votes, load_labels(labels, revision, table=table), table=table)


def commitment_of(labels: str, revision: str, *, items: Path | None, salt: bytes) -> str:
    """Return the public commitment to a label file, 64 hex digits, for anyone who has it and the salt. Raises
    LabelsError."""
    return commitment(load_labels(labels, revision, table=load_table(items)), salt)


def label_changes_of(before: str, after: str, *, items: Path | None) -> str:
    """Return the pairs whose labels differ, as CSV. Raises LabelsError."""
    table = load_table(items)
    old, new = (load_labels(source, None, table=table) for source in (before, after))
    head = ("pair", "category", "change", "before", "after", "tags_before", "tags_after")
    rows = [
        (
            change.pair,
            change.category,
            change.change,
            change.before,
            change.after,
            " ".join(change.tags_before),
            " ".join(change.tags_after),
        )
        for change in label_changes(old, new, table=table)
    ]
    return csv_table(head, rows).decode().replace("\r\n", "\n")
