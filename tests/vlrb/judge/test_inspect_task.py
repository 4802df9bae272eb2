"""The task for Inspect, run by Inspect in an environment of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.factories import labels
from tests.factories.small_benchmark import table
from tests.vlrb.judge.model_server import JUDGEMENT, Reply, completion, refusal, serving_model
from tests.vlrb.judge.running import run, write_items
from vlrb.predictions.parse import parse_predictions

ROOT = Path(__file__).parents[3]
UV = Path(sys.executable).with_name("uv")
VOTES = 2


@pytest.mark.slow
def test_inspect_sends_what_a_run_sends_and_its_log_holds_the_same_votes(tmp_path: Path) -> None:
    pairs = [{name: pair[name] for name in ("id", "query", "response")} for pair in labels.pairs(3)]
    items = write_items(tmp_path / "items", [{**pair, "image": "image.png"} for pair in pairs])
    with serving_model(_answer) as model:
        assert run(model.url, items, tmp_path / "run", "--seed", "7", votes=VOTES) == 0
        sent = _counted(model.bodies)
        model.asked.clear()
        log = _inspect(tmp_path, model.url, items)
        assert _counted(model.bodies) == sent  # failures included: none is asked for again
    whole = parse_predictions((tmp_path / "run" / "predictions.jsonl").read_bytes(), table())
    logged = parse_predictions(log, table())
    assert logged.format == "inspect"
    votes = [np.sort(read.votes.matrix, axis=1).tolist() for read in (logged, whole)]  # Inspect logs them as they come
    assert votes[0] == votes[1]
    assert (logged.votes.matrix < 0).any()  # empty and refused


def _answer(path: str, body: Any, number: int) -> Reply:
    """A verdict that the text decides; some are empty, some refused."""
    octet = sha256(body["messages"][0]["content"][0]["text"].encode()).digest()[0]
    if octet % 8 == 0:
        return refusal(400, "the content policy forbids it") if octet % 16 else completion("")
    return completion(JUDGEMENT.format(1 + octet % 2))


def _counted(bodies: list[Any]) -> list[str]:
    return sorted(json.dumps({**body, "model": "m"}, sort_keys=True) for body in bodies)


def _inspect(folder: Path, url: str, items: Path) -> bytes:
    python = folder / "env" / "bin" / "python"
    _ran(str(UV), "venv", "--quiet", "--python", sys.executable, str(folder / "env"), cwd=folder)
    quickly = ("--quiet", "--link-mode", "symlink")  # 600 MB would be copied
    _ran(str(UV), "pip", "install", *quickly, "--python", str(python), f"{ROOT}[inspect]", cwd=folder)
    _ran(
        str(python.with_name("inspect")), "eval", "vlrb/vl_rewardbench", "--model", "vlrb/o4-judge",
        "--model-base-url", url, "-T", f"items={items}", "-T", f"votes={VOTES}", "-T", "seed=7",
        "--no-log-images", "--display", "none", cwd=folder,
    )  # fmt: skip
    (log,) = (folder / "logs").glob("*.eval")
    return log.read_bytes()


def _ran(*command: str, cwd: Path) -> None:
    home = {"HOME": str(cwd), "OPENAI_API_KEY": "EMPTY"} if command[0].endswith("inspect") else {}  # traces go home
    environment = os.environ | home
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr + done.stdout
