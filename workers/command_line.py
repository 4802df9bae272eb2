"""Command line `python -m workers [--drain] | commitment --labels PATH ... |
compare BEFORE AFTER`."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from settings import SettingsError, WorkerSettings
from vlrb.benchmarks.spec import SpecError
from vlrb.common.command_line import CommandParser, complain, translated
from vlrb.common.messages import _
from workers import WRONG_CONFIGURATION


def run(arguments: Sequence[str] | None) -> int:
    """Return the exit code: 0 done, 1 not possible, 2 wrong use, WRONG_CONFIGURATION where no other try would help."""
    options = command_line().parse_args(arguments)
    # Before numpy is imported: our matrices are small, and on a busy machine several BLAS threads wait for one another
    # (bulk scoring took four times as long).
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from operation.replication.replica import ReplicaUnusable
    from vlrb.benchmarks.label_files import LabelsError, LabelsUnreachable

    try:
        if options.command == "commitment":
            return _commitment(options)
        if options.command == "compare":
            return _compare_labels(options)
        return _serve(options, WorkerSettings.from_env(os.environ))
    except BrokenPipeError:
        raise
    except (LabelsError, SpecError, SettingsError, ReplicaUnusable, OSError) as error:
        final = options.command is None and not isinstance(error, LabelsUnreachable | ReplicaUnusable | OSError)
        setting = "LABELS: " if isinstance(error, LabelsError) and os.environ.get("LABELS", "").strip() else ""
        complain(_("error: {error}", error=setting + translated(str(error))))
        return WRONG_CONFIGURATION if final else 1


def _commitment(options: argparse.Namespace) -> int:
    from vlrb.benchmarks.label_files import load_labels, load_table
    from vlrb.label_quality.label_diff import commitment

    print(commitment(load_labels(options.labels, options.revision, table=load_table(options.items)), options.salt))
    return 0


def _compare_labels(options: argparse.Namespace) -> int:
    """Print the pairs whose labels differ, as CSV."""
    from vlrb.benchmarks.label_files import load_labels, load_table
    from vlrb.common.csv_text import csv_table
    from vlrb.label_quality.label_diff import label_changes

    table = load_table(options.items)
    old, new = (load_labels(source, None, table=table) for source in (options.before, options.after))
    head = ("pair", "category", "change", "before", "after", "tags_before", "tags_after")
    found = (change.to_json() for change in label_changes(old, new, table=table))
    rows = [[" ".join(row[name]) if name.startswith("tags") else row[name] for name in head] for row in found]
    print(csv_table(head, rows).decode().replace("\r\n", "\n"), end="")
    return 0


def _serve(options: argparse.Namespace, settings: WorkerSettings) -> int:
    from storage.database import DatabaseUnusable, UnknownSchema
    from storage.labels.label_sets import LabelSetChanged
    from storage.own_boards import OtherBoards
    from workers import main

    try:
        main.work(settings, until_empty=options.drain)
    except LabelSetChanged as error:
        complain(
            _(
                "error: LABELS: label revision {revision}: {reason}",
                revision=error,
                reason=translated(LabelSetChanged.__doc__ or ""),
            )
        )
        return WRONG_CONFIGURATION
    except (UnknownSchema, OtherBoards) as error:
        complain(_("error: {error}", error=translated(str(error))))
        return WRONG_CONFIGURATION
    except DatabaseUnusable as error:
        complain(_("error: {error}", error=translated(str(error))))
        return 1
    return 0


def command_line() -> argparse.ArgumentParser:
    """Return every command with its options."""
    parser = CommandParser(prog="python -m workers", description=_("Scores submissions against hidden labels."))
    parser.add_argument("--drain", action="store_true", help=_("stop when nothing waits to be scored"))
    commands = parser.add_subparsers(dest="command")
    commitment = commands.add_parser(
        "commitment", help=_("what a label file was committed to with, once its salt is out")
    )
    commitment.add_argument(
        "--labels", required=True, help=_("JSONL, JSON or parquet file, or Hub dataset owner/name@commit")
    )
    commitment.add_argument("--revision", required=True, help=_("the name under which they were imported"))
    commitment.add_argument(
        "--salt", type=bytes.fromhex, required=True, help=_("in hex, as the log of decisions has it")
    )
    commitment.add_argument("--items", type=Path, help=_("item manifest (default: VL-RewardBench)"))
    compare = commands.add_parser("compare", help=_("list the pairs whose labels two files state otherwise, as CSV"))
    compare.add_argument("before", help=_("labels, as for `vlrb score`"))
    compare.add_argument("after", help=_("labels, as for `score`"))
    compare.add_argument("--items", type=Path, help=_("item manifest (default: VL-RewardBench)"))
    return parser
