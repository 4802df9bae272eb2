"""`vlrb judge submit`: hands the predictions to the service, with what the run was."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from typing import Any

from vlrb.benchmarks.spec import DEFAULT_BENCHMARK
from vlrb.judge import JudgeError
from vlrb.judge.configuration import CHAT
from vlrb.judge.predictions import PREDICTIONS


def submit_command(arguments: argparse.Namespace) -> int:
    """Submit the predictions of a run. Returns the exit code.

    Options after the directory are those of `vlrb submit`.
    """
    from vlrb.client import submit

    path = arguments.directory / PREDICTIONS
    if not path.is_file():
        raise JudgeError("There is no {path}. `vlrb judge run` writes it when every vote has an answer.", path=path)
    with path.open(encoding="utf-8") as file:
        defaults = describe_run(json.loads(file.readline())["run"])
    options = [word for name, value in defaults.items() if name not in arguments.rest for word in (name, value)]
    return submit.run([str(path), "--model", arguments.model, *options, *arguments.rest])


def describe_run(run: Mapping[str, Any]) -> dict[str, str]:
    """Return the fields of a submission that a run knows by itself."""
    fields = {"--judge-type": "generative-pairwise" if run["api"] == CHAT else "scalar"}
    if run["benchmark"] != DEFAULT_BENCHMARK:
        fields["--benchmark"] = run["benchmark"]
    temperature = run["parameters"].get("temperature")
    if temperature is not None:
        fields["--temperature"] = f"{temperature:g}"
    if run["api"] == CHAT:
        fields["--prompt"] = f"{run['prompt']['name']} (SHA-256 {run['prompt']['sha256']})"
    return fields | _cost(run["usage"]) | {"--notes": _notes(run)}


def _cost(usage: Mapping[str, Any]) -> dict[str, str]:
    """Return what the run cost, as far as it knows: prices are those that it was told."""
    known = {
        "--tokens-in": usage["prompt_tokens"] or None,
        "--tokens-out": usage["completion_tokens"] or None,
        "--price-usd": usage["cost"],
        "--wall-seconds": usage["wall_seconds"],
    }
    return {name: f"{value:.12g}" for name, value in known.items() if value is not None}


def _notes(run: Mapping[str, Any]) -> str:
    usage, engine = run["usage"], run["engine"]
    parts = [
        f"Run with judge ({', '.join(f'{name} {version}' for name, version in engine.items())}).",
        f"Model {run['model']}, order {run['order']}, {run['votes']} votes, {run['failed']} failed.",
        f"{usage['requests']} requests"
        + (f", {usage['seconds_per_request']:g} s a request." if usage["seconds_per_request"] is not None else "."),
    ]
    return "\n".join(parts)
