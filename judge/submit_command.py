"""`python -m judge submit`: hands the predictions of a whole revision to the service, with what the run was."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judge.errors import JudgeError
from judge.predictions import PREDICTIONS, dry_run


def submit_command(arguments: argparse.Namespace) -> int:
    """Check that a whole revision is there, then submit it. Returns the exit code.

    Options after the directory are those of `python -m submissions submit`.
    """
    from submissions import client

    path = arguments.directory / PREDICTIONS
    if not path.is_file():
        raise JudgeError(f"There is no {path}. `python -m judge run` writes it when every vote has an answer.")
    run = read_metadata(path)
    said = list(dry_run(path, run.get("benchmark", "vl-rewardbench")))
    if not said[-1].startswith("Ready"):
        raise JudgeError("\n".join([*said, "A submission covers a whole revision: run all of its pairs."]))
    defaults = describe_run(run)
    options = [word for name, value in defaults.items() if name not in arguments.rest for word in (name, value)]
    parser = argparse.ArgumentParser(prog="python -m judge", allow_abbrev=False)
    client.add_commands(parser.add_subparsers(), arguments.variables)
    parsed = parser.parse_args(["submit", str(path), "--model", arguments.model, *options, *arguments.rest])
    return int(parsed.run(parsed))


def read_metadata(path: Path) -> dict[str, Any]:
    """Return what the first line of a file of predictions says about its run."""
    with path.open("rb") as file:
        run: dict[str, Any] = json.loads(file.readline()).get("run", {})
    return run


def describe_run(run: Mapping[str, Any]) -> dict[str, str]:
    """Return the fields of a submission that a run knows by itself."""
    if not run:
        return {}
    fields = {"--judge-type": "generative-pairwise" if run["api"] == "chat" else "scalar"}
    temperature = run["parameters"].get("temperature")
    if temperature is not None and not any(one["parameter"] == "temperature" for one in run["refused_parameters"]):
        fields["--temperature"] = f"{temperature:g}"
    if run["api"] == "chat":
        fields["--prompt"] = f"{run['prompt']['name']} (SHA-256 {run['prompt']['sha256']})"
    return fields | {"--notes": _notes(run)}


def _notes(run: Mapping[str, Any]) -> str:
    usage, engine = run["usage"], run["engine"]
    tokens = f"{usage['prompt_tokens']} prompt tokens, {usage['completion_tokens']} reply tokens"
    parts = [
        f"Run with judge ({', '.join(f'{name} {version}' for name, version in engine.items())}).",
        f"Model {run['model']}, order {run['order']}, {run['votes']} votes, {run['failed']} failed.",
        f"{usage['requests']} requests, {tokens}"
        + (f", {usage['seconds_per_request']:g} s a request" if usage["seconds_per_request"] is not None else "")
        + (f", cost {usage['cost']:.2f}." if usage["cost"] is not None else "."),
    ]
    changes = [f"{one['parameter']} -> {one['renamed_to'] or 'not sent'}" for one in run["refused_parameters"]]
    return "\n".join([*parts, *([f"Parameters refused by the model: {', '.join(changes)}."] if changes else [])])
