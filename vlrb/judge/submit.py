"""`vlrb judge submit`: hands the predictions to the service, with what the run was."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from typing import Any

from vlrb.benchmarks.spec import DEFAULT_BENCHMARK
from vlrb.client import submit
from vlrb.judge import JudgeError
from vlrb.judge.configuration import CHAT
from vlrb.judge.predictions import PREDICTIONS


def submit_command(arguments: argparse.Namespace) -> int:
    """Submit the predictions of a run, with what it knows of itself and the options leave out. Returns the exit
    code."""
    path = arguments.directory / PREDICTIONS
    if not path.is_file():
        raise JudgeError("There is no {path}. `vlrb judge run` writes it when every vote has an answer.", path=path)
    with path.open(encoding="utf-8") as file:
        known = describe_run(json.loads(file.readline())["run"])
    stated = {name: value for name, value in vars(arguments).items() if value is not None}
    return submit.run(argparse.Namespace(**{**vars(arguments), **known, **stated, "file": path}))


def describe_run(run: Mapping[str, Any]) -> dict[str, str]:
    """Return the fields of a submission that a run knows by itself."""
    fields = {"judge_type": "generative-pairwise" if run["api"] == CHAT else "scalar"}
    if run["benchmark"] != DEFAULT_BENCHMARK:
        fields["benchmark"] = run["benchmark"]
    temperature = run["parameters"].get("temperature")
    if temperature is not None:
        fields["temperature"] = f"{temperature:g}"
    if run["api"] == CHAT:
        fields["prompt"] = f"{run['prompt']['name']} (SHA-256 {run['prompt']['sha256']})"
    usage = run["usage"]
    cost = {
        "tokens_in": usage["prompt_tokens"] or None,
        "tokens_out": usage["completion_tokens"] or None,
        "price_usd": usage["cost"],  # by the prices that the run was told
        "wall_seconds": usage["wall_seconds"],
    }
    known = {name: f"{value:.12g}" for name, value in cost.items() if value is not None}
    return {**fields, **known, "notes": _notes(run)}


def _notes(run: Mapping[str, Any]) -> str:
    usage, engine = run["usage"], run["engine"]
    parts = [
        f"Run with judge ({', '.join(f'{name} {version}' for name, version in engine.items())}).",
        f"Model {run['model']}, order {run['order']}, {run['votes']} votes, {run['failed']} failed.",
        f"{usage['requests']} requests"
        + (f", {usage['seconds_per_request']:g} s a request." if usage["seconds_per_request"] is not None else "."),
    ]
    return "\n".join(parts)
