"""Items, and runs of the command, for the tests of a judge."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from tests.factories.suite.programs import judge_main as main

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def item(number: int, **more: Any) -> dict[str, Any]:
    """A pair with labels, as dataset files have them; nothing of these may go anywhere."""
    return {
        "id": f"RLAIF-V-{number}",
        "query": f"What is number {number}?",
        "response": [f"It is {number}.", f"It is not {number}, surely."],
        "image": "image.png",
        "human_ranking": [0, 1],
        "rationale": "SECRET-LABEL",
        **more,
    }


def write_items(folder: Path, items: list[dict[str, Any]]) -> Path:
    """Write items and their image; returns the file."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "image.png").write_bytes(PNG)
    path = folder / "items.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in items))
    return path


def run(url: str, items: Path, output: Path, *more: str, votes: int = 1) -> int:
    """`judge run` in this process, with short waits; returns the exit code."""
    given = ["--base-url", url, "--model", "m", "--items", str(items), "--output", str(output)]
    try:
        return main(["run", *given, "--votes", str(votes), "--retry-wait", "0.01", *more])
    except SystemExit as wrong_use:  # argparse
        return int(str(wrong_use.code))


def predictions(output: Path) -> list[dict[str, Any]]:
    """The lines of the predictions."""
    return [json.loads(line) for line in (output / "predictions.jsonl").read_text().splitlines()]
