"""Figures and predictions of a run, as each start leaves them behind; and `vlrb judge status`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from vlrb.common.command_line import lines
from vlrb.common.messages import _, ngettext
from vlrb.judge import JudgeError
from vlrb.judge.configuration import CHAT, read_run
from vlrb.judge.journal import JOURNAL, read_journal
from vlrb.judge.predictions import PREDICTIONS
from vlrb.judge.texts import as_money
from vlrb.judge.totals import describe


def engine_versions() -> dict[str, str]:
    """Return the libraries that ask, with their versions."""
    return {name: version(name) for name in ("openai", "tenacity")}


def run_metadata(recorded: Mapping[str, Any], report: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the first line of the predictions says about their run. No address, no key."""
    kept = ("api", "model", "votes", "order", "seed", "parameters", "image_form", "benchmark", "items", "items_sha256")
    prompt = recorded["prompt"]
    used = ("requests", "prompt_tokens", "completion_tokens", "seconds_per_request", "cost",
            "wall_seconds")  # fmt: skip
    return {
        **{name: recorded[name] for name in kept},
        "prompt": {"name": prompt["name"], "sha256": prompt["sha256"]},
        "reading": prompt["reading"],
        "engine": engine_versions(),
        "usage": {name: report[name] for name in used},
        "failed": report["failed"],
    }


def readable(report: Mapping[str, Any]) -> list[str]:
    """Return the lines of a report for people."""
    done = _(
        "{answers:,} of {wanted:,} answers, {failed:,} failed votes",
        answers=report["answers"],
        wanted=report["wanted"],
        failed=report["failed"],
    )
    reasons = [
        _("  {count:,} failed with: {reason}", count=count, reason=reason)
        for reason, count in report["failure_reasons"].items()
    ]
    return [done, *reasons, *_verdicts(report), *_expense(report)]


def _verdicts(report: Mapping[str, Any]) -> Iterator[str]:
    if report["empty"] or report["truncated"]:
        yield _(
            "  empty               {empty:,}, cut at the token limit {truncated:,}",
            empty=report["empty"],
            truncated=report["truncated"],
        )
    if report["parse_rate"] is not None:
        yield _("  readable verdicts   {share:.1%}", share=report["parse_rate"])
    if report["first_shown_rate"] is not None:
        yield _("  picked first answer {share:.1%} of the time (50% is unbiased)", share=report["first_shown_rate"])


def _expense(report: Mapping[str, Any]) -> Iterator[str]:
    yield _(
        "  requests            {requests:,}; tokens: {prompts:,} of prompts, {replies:,} of replies",
        requests=report["requests"],
        prompts=report["prompt_tokens"],
        replies=report["completion_tokens"],
    )
    if report["seconds_per_request"] is not None:
        yield _("  time of a request   {seconds:g} s", seconds=report["seconds_per_request"])
    if report["cost"] is not None:
        cost, whole = as_money(report["cost"]), as_money(report["cost_of_all"])
        yield _("  cost                {cost}; of the whole run about {whole}", cost=cost, whole=whole)


def status_command(arguments: argparse.Namespace) -> int:
    """Print how far a run is, from its journal alone. Returns the exit code."""
    state = read_state(arguments.directory)
    if arguments.json:
        print(json.dumps(state))
        return 0
    run = _(
        "{model} on {pairs:,} pairs, {votes} votes each", **{key: state[key] for key in ("model", "pairs", "votes")}
    )
    print(lines([run, *readable(state), _where(state)]))
    return 0


def _where(state: Mapping[str, Any]) -> str:
    path, predicted = state["predictions"], state["predicted_pairs"]
    if not path:
        return _("No predictions yet.")
    if predicted == state["pairs"]:
        return _("Predictions: {path}", path=path)
    return _("Predictions: {path} (of {pairs})", path=path, pairs=ngettext("{n:,} pair", "{n:,} pairs", predicted))


def read_state(directory: Path) -> dict[str, Any]:
    """Return the state of a run as JSON has it."""
    recorded = read_run(directory)
    if recorded is None:
        raise JudgeError("{folder} holds no run. `vlrb judge run --output {folder} ...` starts one.", folder=directory)
    answers = read_journal(directory / JOURNAL)
    wanted = recorded["pairs"] * recorded["votes"] * (1 if recorded["api"] == CHAT else 2)  # a score for each response
    result = describe(answers.values(), wanted=wanted, reading=recorded["prompt"]["reading"])
    predictions = directory / PREDICTIONS
    return {
        **{name: recorded[name] for name in ("model", "api", "pairs", "votes")},
        **result,
        "complete": result["done"] >= result["wanted"],
        "predictions": str(predictions) if predictions.is_file() else None,
        "predicted_pairs": predictions.read_bytes().count(b"\n") if predictions.is_file() else 0,
    }
