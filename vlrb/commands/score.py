"""Command `vlrb score`: offline, without a server or a database."""

from __future__ import annotations

import argparse
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vlrb.behaviour import behaviour_of
from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.label_files import LabelsError, known_revision, load_labels, load_pairs, load_table
from vlrb.benchmarks.labels import LabelSet
from vlrb.benchmarks.pairs import pair_table
from vlrb.benchmarks.spec import DEFAULT_BENCHMARK, BenchmarkSpec, SpecError
from vlrb.benchmarks.spec_file import definitions_folder, load_spec
from vlrb.commands.scorecard_text import render
from vlrb.common.command_line import CommandParser, complain, say, translated
from vlrb.common.messages import _
from vlrb.predictions.parse import Predictions, UploadRejected, all_warnings, parse_predictions
from vlrb.predictions.problems import Problem
from vlrb.protocols import category_counts, group_sums
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


def _scored(options: argparse.Namespace) -> ScoringResult:
    spec, revision = load_spec(options.benchmark, definitions_folder(os.environ)), options.revision or options.edition
    if options.items is None and (spec.public_labels or not spec.has_items):  # its own file, or a part of it
        pairs = load_pairs(options.labels, spec, edition=revision)
        return score(
            options.file, options.labels, revision=pairs.edition, table=pair_table([pairs]), as_json=options.json
        )
    if spec.synthetic and options.items is None:
        raise LabelsError(_("{title} has no manifest of its own; name its items.json with --items", title=spec.title))
    table = items_of(spec, options.items)
    revision = known_revision(revision, table)
    return score(options.file, options.labels, revision=revision, table=table, as_json=options.json)


@dataclass(frozen=True, slots=True)
class ScoringResult:
    """Output: the scorecard (empty where the file was rejected), remarks, and whether it was scored."""

    scored: bool
    text: str
    remarks: tuple[str, ...]


def items_of(spec: BenchmarkSpec, items: Path | None) -> ItemTable:
    """Return the items of a benchmark, or those of a manifest, which tells its benchmark where the command named none.
    Raises LabelsError."""
    return load_table(items, None if items is not None and spec.id == DEFAULT_BENCHMARK else spec)


def score(file: Path, labels: str, *, revision: str | None, table: ItemTable, as_json: bool) -> ScoringResult:
    """Score a file by the same steps as the service. Raises LabelsError and OSError."""
    try:
        upload = parse_predictions(file.read_bytes(), table)
    except UploadRejected as rejected:
        count = rejected.problem_count
        summary = _("error: {file} was rejected: {problem_count} problem(s)", file=file, problem_count=count)
        return ScoringResult(False, "", remarks=(*_other(rejected), *map(_explain, rejected.problems), summary))
    label_set = load_labels(labels, revision, table=table)
    card = card_of(upload, label_set, table=table)
    text = json.dumps(card, indent=1, ensure_ascii=False) if as_json else render(card, table.spec)
    remarks = (_("warning: {message}", message=warning.message) for warning in all_warnings(upload))
    return ScoringResult(True, text, remarks=tuple(remarks))


def card_of(upload: Predictions, label_set: LabelSet, *, table: ItemTable) -> dict[str, Any]:
    """Return the scorecard of a file that was read, with `groups` where pairs come in groups."""
    counted = tally(upload.votes, label_set, table=table)
    behaviour = behaviour_of(
        upload.votes, upload.orders, preferred=label_set.preferred, margins=upload.margins, table=table
    )
    card = scorecard(counted, behaviour, benchmark=table.benchmark, label_revision=label_set.revision)
    return card if table.spec.grouped is None else {**card, "groups": _groups(counted)}


def _groups(counted: Tally) -> dict[str, dict[str, float]]:
    """Return by category the groups and those wholly right by majority; a pair half right halves its group."""
    spec = counted.spec
    groups, right, *_sums = group_sums(category_counts(counted.counts, spec), spec, votes="majority")
    return {
        key: {"n": int(groups[place]), "right": float(right[place])} for place, key in enumerate(spec.category_keys)
    }


def _other(rejected: UploadRejected) -> list[str]:
    """Return the advice to name another benchmark, where a rejected file is of that one."""
    if rejected.other is None:
        return []
    message = _(
        "This looks like a file of {title}. Score it with --benchmark {id} and that benchmark's labels.",
        title=rejected.other.title,
        id=rejected.other.id,
    )
    return [message]


def _explain(problem: Problem) -> str:
    line = _("line {line}", line=problem.line) if problem.line is not None else ""
    where = ", ".join(part for part in (line, f"field `{problem.field}`" if problem.field else "") if part)
    return f"{where}: {problem.message}" if where else problem.message


def count_file(labels: str, data: bytes, *, revision: str, table: ItemTable) -> Tally:
    """Return the tally of a file under a revision of labels. Raises LabelsError and UploadRejected."""
    upload = parse_predictions(data, table)
    return tally(upload.votes, load_labels(labels, revision, table=table), table=table)
