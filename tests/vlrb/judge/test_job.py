"""The command of a job on hired hardware does the run that its options describe, and ends when the server does."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.factories.suite.programs import judge_main as main
from tests.vlrb.judge.model_server import JUDGEMENT, completion, serving_model
from tests.vlrb.judge.running import item, predictions, write_items
from vlrb.judge.command_line import command_line

ROOT = Path(__file__).parents[3]
COMMIT = "0123456789abcdef"
GIVEN = [
    "--model", "o/m", "--items", "o/d", "--items-revision", COMMIT, "--bucket", "o/b", "--source", "https://x/y.git",
    "--source-revision", COMMIT,
]  # fmt: skip
SETTINGS = [
    "--order", "both", "--votes", "4", "--seed", "-3", "--limit", "2", "--prompt", "vlmevalkit",
    "--temperature", "none", "--top-p", "0.9", "--max-tokens", "512", "--set", "reasoning_effort=low",
    "--image-form", "jpeg", "--image-quality", "80", "--max-pixels", "1003520", "--fetch-images",
    "--items-split", "public+hidden", "--benchmark", "next", "--concurrency", "64", "--timeout", "30",
    "--attempts", "3", "--max-requests", "100", "--max-total-tokens", "5000", "--max-cost", "2.5",
    "--price-prompt", "1", "--price-reply", "2", "--retry-failed",
]  # fmt: skip


def printed(capsys: pytest.CaptureFixture[str], *more: str) -> list[str]:
    """The words of the command."""
    assert main(["job", *GIVEN, *more]) == 0
    return shlex.split(capsys.readouterr().out)


def run_words(script: str) -> list[str]:
    """The words of `judge run` in a script."""
    return shlex.split(script.splitlines()[-1].partition("-m vlrb judge ")[2])


def test_a_job_does_the_run_that_its_options_describe(capsys: pytest.CaptureFixture[str]) -> None:
    words = printed(capsys, *SETTINGS)
    start = "hf jobs run --flavor l40sx1 --timeout 6h --secrets HF_TOKEN --volume hf://buckets/o/b:/runs"
    assert words[:11] == start.split()
    here = ["--base-url", "http://127.0.0.1:8000/v1", "--model", "o/m", "--output", "/runs/o--m"]
    same = ["run", *here, "--items", "o/d", "--items-revision", COMMIT, *SETTINGS]
    assert command_line().parse_args(run_words(words[-1])) == command_line().parse_args(same)


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (["--scorer", "my:judge"], "A job takes no --scorer"),
        (["--base-url=http://x/v1"], "A job takes no --base-url"),
        (["--serve", "--dtype 'half"], "a quotation mark is not closed"),
        (["--votes", "17"], "1 to 16 votes"),
        (["--max-cost", "3"], "--max-cost needs prices"),
        (["--prompt", "missing.txt"], "There is no prompt"),
        (["--api", "classify", "--endpoint", "/v1/classify"], "a job serves the model with vLLM"),
    ],
)
def test_what_a_job_cannot_do_is_refused_before_anything_is_hired(
    more: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["job", *GIVEN, *more]) == 2
    assert expected in capsys.readouterr().err


def test_scores_are_served_by_the_pooling_runner(capsys: pytest.CaptureFixture[str]) -> None:
    script = printed(capsys, "--api", "classify", "--serve", "--convert classify")[-1]
    assert "vllm serve o/m --port 8000 --runner pooling --convert classify &" in script
    assert command_line().parse_args(run_words(script)).votes == 1


def test_a_job_clones_the_commit_that_printed_it(capsys: pytest.CaptureFixture[str]) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("needs a checkout")
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert main(["job", *GIVEN[:-2]]) == 0
    assert f"git fetch --quiet --depth 1 https://x/y.git {head.stdout.strip()}\n" in capsys.readouterr().out


def execute(script: str, folder: Path, *, vllm: str, port: int) -> subprocess.CompletedProcess[str]:
    """Execute a script as the container does; what it would download is here already."""
    programs = folder / "bin"
    programs.mkdir()
    items = write_items(folder / "items", [item(number) for number in range(3)])
    clone = f"mkdir -p judge/o; ln -s {ROOT}/* judge/; cp {items} judge/o/d; cp {items.parent}/image.png judge/o/"
    python = f'if [ "$2" = pip ]; then exit 0; fi; exec {sys.executable} "$@"'
    clone = f'echo "$@" >> {folder}/git; if [ "$1" = init ]; then {clone}; fi'
    for name, does in {"git": clone, "python3": python, "vllm": f'echo "$@" > {folder}/vllm; {vllm}'}.items():
        (programs / name).write_text(f"#!/bin/bash\n{does}\n")
        (programs / name).chmod(0o755)
    local = script.replace("8000", str(port)).replace("/runs/", f"{folder}/runs/").replace("sleep 5", "sleep 0.1")
    environ = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "TMPDIR": str(folder)}
    return subprocess.run(
        ["bash", "-c", local], env=environ, cwd=folder, capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.skipif(shutil.which("curl") is None, reason="the container has curl")
def test_the_script_serves_the_model_and_judges_with_a_prompt_of_ones_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    template = "Ä {query}\r\n1: {a0}\r\n2: {a1}\n"
    (tmp_path / "my prompt.txt").write_bytes(template.encode())
    script = printed(capsys, "--prompt", f"{tmp_path}/my prompt.txt", "--votes", "2", "--order", "both")[-1]
    with serving_model(lambda path, body, times: completion(JUDGEMENT.format(1))) as model:
        done = execute(script, tmp_path, vllm="exec sleep 60", port=int(model.url.split(":")[2].removesuffix("/v1")))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "vllm").read_text().startswith("serve o/m --port ")
    assert (tmp_path / "git").read_text().splitlines() == [
        "init --quiet judge", f"fetch --quiet --depth 1 https://x/y.git {COMMIT}", "checkout --quiet FETCH_HEAD",
    ]  # fmt: skip
    lines = predictions(tmp_path / "runs" / "o--m")
    assert (len(lines), lines[0]["run"]["order"], lines[0]["run"]["votes"]) == (3, "both", 2)
    prompt = json.loads((tmp_path / "runs" / "o--m" / "run.json").read_text())["prompt"]
    assert (prompt["name"], prompt["template"]) == ("my prompt.txt", template)
    assert prompt["sha256"] == hashlib.sha256(template.encode()).hexdigest()


@pytest.mark.skipif(shutil.which("curl") is None, reason="the container has curl")
def test_the_script_ends_with_an_error_when_the_server_ends(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = printed(capsys)[-1]
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # bound and not listening: every connection is refused
        done = execute(script, tmp_path, vllm="echo 'CUDA out of memory' >&2; exit 3", port=unused.getsockname()[1])
    assert done.returncode == 1
    assert "CUDA out of memory" in done.stderr and "vLLM has ended" in done.stderr
    assert not (tmp_path / "runs").exists()
