"""`vlrb.judge status`: how far a run is, from its journal alone."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from typing import Any

from vlrb.common.command_line import lines
from vlrb.common.messages import _, ngettext
from vlrb.judge.configuration import require_run
from vlrb.judge.journal import JOURNAL, read_journal
from vlrb.judge.predictions import PREDICTIONS
from vlrb.judge.report import OK, readable
from vlrb.judge.totals import describe


def status_command(arguments: argparse.Namespace) -> int:
    """Print the state of a run. Returns the exit code."""
    state = read_state(arguments.directory)
    if arguments.json:
        print(json.dumps(state))
        return OK
    run = _(
        "{model} on {pairs:,} pairs, {votes} votes each",
        model=state["model"],
        pairs=state["pairs"],
        votes=state["votes"],
    )
    print(lines([run, *readable(state), _where(state)]))
    return OK


def _where(state: Mapping[str, Any]) -> str:
    path, predicted = state["predictions"], state["predicted_pairs"]
    if not path:
        return _("No predictions yet.")
    if predicted == state["pairs"]:
        return _("Predictions: {path}", path=path)
    return _("Predictions: {path} (of {pairs})", path=path, pairs=ngettext("{n:,} pair", "{n:,} pairs", predicted))


def read_state(directory: Any) -> dict[str, Any]:
    """Return the state of a run as JSON has it."""
    recorded = require_run(directory)
    answers = read_journal(directory / JOURNAL)
    responses = 2 if any(key.response >= 0 for key in answers) else 1  # scored one by one
    wanted = recorded["pairs"] * recorded["votes"] * responses
    result = describe(answers.values(), wanted=wanted, reading=recorded["prompt"]["reading"])
    predictions = directory / PREDICTIONS
    return {
        **{name: recorded[name] for name in ("model", "api", "pairs", "votes")},
        **result,
        "complete": result["done"] >= result["wanted"],
        "predictions": str(predictions) if predictions.is_file() else None,
        "predicted_pairs": predictions.read_bytes().count(b"\n") if predictions.is_file() else 0,
    }
