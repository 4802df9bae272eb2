"""Command line `python -m workers [--drain]`."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence

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
    from operation.replica import ReplicaUnusable
    from storage.database import DatabaseUnusable, UnknownSchema
    from storage.labels.label_sets import LabelSetChanged
    from storage.own_boards import OtherBoards
    from vlrb.benchmarks.label_files import LabelsError, LabelsUnreachable
    from workers import main

    try:
        main.work(WorkerSettings.from_env(os.environ), until_empty=options.drain)
    except LabelSetChanged as error:
        reason = translated(_(LabelSetChanged.__doc__ or ""))
        complain(_("error: LABELS: label revision {revision}: {reason}", revision=error, reason=reason))
    except (LabelsError, SpecError, SettingsError, ReplicaUnusable, DatabaseUnusable, OSError) as error:
        setting = "LABELS: " if isinstance(error, LabelsError) and os.environ.get("LABELS", "").strip() else ""
        complain(_("error: {error}", error=setting + translated(str(error))))
        later = (LabelsUnreachable, ReplicaUnusable, DatabaseUnusable, OSError)
        if isinstance(error, later) and not isinstance(error, UnknownSchema | OtherBoards):
            return 1
    else:
        return 0
    return WRONG_CONFIGURATION


def command_line() -> argparse.ArgumentParser:
    """Return every command with its options."""
    parser = CommandParser(prog="python -m workers", description=_("Scores submissions against hidden labels."))
    parser.add_argument("--drain", action="store_true", help=_("stop when nothing waits to be scored"))
    return parser
