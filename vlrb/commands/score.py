"""Command `vlrb score`: offline, without a server or a database."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

from vlrb.behaviour import behaviour_of
from vlrb.benchmarks.items import ItemTable, load_table
from vlrb.benchmarks.label_files import LabelsError, known_revision, load_labels, load_pairs
from vlrb.benchmarks.labels import LabelSet
from vlrb.benchmarks.pairs import pair_table
from vlrb.benchmarks.spec import DEFAULT_BENCHMARK, SpecError
from vlrb.benchmarks.spec_file import definitions_folder, load_spec
from vlrb.commands.check import readable
from vlrb.commands.scorecard_text import render
from vlrb.common.command_line import complain, say, translated
from vlrb.common.messages import _
from vlrb.predictions.parse import Predictions, UploadRejected, all_warnings, build_report, parse_predictions
from vlrb.protocols import category_counts, group_sums
from vlrb.scorecard import scorecard
from vlrb.scoring import Tally, tally


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add = parser.add_argument
    add("file", type=Path)
    add("--labels", required=True, help=_("JSONL, JSON or parquet file, or Hub dataset owner/name@commit"))
    add("--benchmark", default=DEFAULT_BENCHMARK, metavar="ID", help=_("id of the benchmark (vl-rewardbench)"))
    add("--edition", help=_("which pairs the labels must hold; what they hold if left out"))
    add("--revision", help=_("of the labels; recognised by their ids if left out"))
    add("--items", type=Path, metavar="PATH", help=_("manifest of pairs, where the benchmark comes without one"))
    add("--json", action="store_true", help=_("print JSON only"))


def run(options: argparse.Namespace) -> int:
    """Score a file by the same steps as the service. Returns the exit code: 0 scored, 1 not."""
    try:
        table, revision = _items(options)
        upload = parse_predictions(options.file.read_bytes(), table)
        card = card_of(upload, load_labels(options.labels, revision, table=table), table=table)
    except UploadRejected as rejected:
        print(readable(build_report(rejected, table.benchmark)), file=sys.stderr)
        return 1
    except (LabelsError, SpecError, OSError) as error:
        complain(_("error: {error}", error=translated(str(error))))
        return 1
    for warning in all_warnings(upload):
        complain(_("warning: {message}", message=warning.message))
    print(json.dumps(card, indent=1, ensure_ascii=False)) if options.json else say(render(card, table.spec))
    return 0


def _items(options: argparse.Namespace) -> tuple[ItemTable, str | None]:
    """Return the items, those of the labels' file where labels are public, and the revision. Raises LabelsError."""
    spec, revision = load_spec(options.benchmark, definitions_folder(os.environ)), options.revision or options.edition
    if options.items is None and (spec.public_labels or not spec.has_items):  # its own file, or a part of it
        pairs = load_pairs(options.labels, spec, edition=revision)
        return pair_table([pairs]), pairs.edition
    unnamed = options.items is not None and spec.id == DEFAULT_BENCHMARK  # the manifest tells its benchmark
    table = load_table(options.items, None if unnamed else spec)
    return table, known_revision(revision, table)


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
