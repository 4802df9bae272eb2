"""`vlrb.judge job`: prints the Hugging Face Jobs command that does a run on hired hardware."""

from __future__ import annotations

import argparse
import base64
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vlrb.common.command_line import CommandParser
from vlrb.common.messages import _
from vlrb.judge.commands.run_command import OK
from vlrb.judge.configuration import CHAT
from vlrb.judge.errors import JudgeError
from vlrb.judge.options import add_endpoint_options, add_question_options, check_choices
from vlrb.judge.prompts import PROMPTS, find_prompt

IMAGE = "vllm/vllm-openai:latest"
_OWN = ("--base-url", "--scorer", "--output", "--api-key-env")  # of a run; a job decides these itself
_TEXT_ONLY = "/v1/classify"  # of SGLang
_LARGEST_PROMPT = 32 * 1024  # octets; a word of a command has at most 128 KiB

_SCRIPT = """\
set -eu
cd "$(mktemp -d)"
git init --quiet judge
cd judge
git fetch --quiet --depth 1 {source} {commit}
git checkout --quiet FETCH_HEAD
python3 -m pip install --quiet --target packages -r requirements-judge.txt
{prompt}{serve} &
server=$!
trap "kill $server 2> /dev/null || true" EXIT
until curl -sf http://127.0.0.1:8000/health > /dev/null; do
  if ! kill -0 $server 2> /dev/null; then echo "vLLM has ended; its last messages say why." >&2; exit 1; fi
  if [ "$SECONDS" -gt 3600 ]; then echo "vLLM does not serve the model within an hour." >&2; exit 1; fi
  sleep 5
done
PYTHONPATH=packages {run}
"""
"""Packages lie apart, so that vLLM keeps the versions that it was built with."""


def add_command(commands: Any) -> None:
    """Add `job` to the subparsers of a command line."""
    job = commands.add_parser(
        "job",
        help=_("print the Hugging Face Jobs command of a run"),
        epilog=_("All other options are those of `judge run`; the run of the job gets them as they are."),
        allow_abbrev=False,
    )
    job.add_argument("--model", required=True, metavar="ID", help=_("of the Hub: owner/name"))
    job.add_argument("--items", required=True, metavar="DATASET", help=_("Hub dataset (owner/name)"))
    job.add_argument("--items-revision", required=True, metavar="COMMIT", help=_("its commit"))
    job.add_argument("--bucket", required=True, metavar="OWNER/NAME", help=_("Hub bucket that keeps the run"))
    job.add_argument("--source", required=True, metavar="GIT_URL", help=_("address from which this project is cloned"))
    job.add_argument(
        "--source-revision", metavar="COMMIT", help=_("commit that is cloned (that of this checkout); it must be there")
    )
    job.add_argument("--hardware", default="l40sx1", metavar="FLAVOR", help=_("of `hf jobs hardware` (l40sx1)"))
    job.add_argument("--time", default="6h", metavar="TIME", help=_("after which the job is ended (6h)"))
    job.add_argument("--image", default=IMAGE, metavar="IMAGE", help=_("container image ({image})", image=IMAGE))
    job.add_argument(
        "--serve",
        default="",
        metavar="OPTIONS",
        help=_("more options of `vllm serve`: --serve='--max-model-len 32768'"),
    )
    job.set_defaults(run=job_command)


def job_command(arguments: argparse.Namespace) -> int:
    """Print the command. Returns the exit code."""
    for name in ("model", "items", "bucket"):
        if getattr(arguments, name).count("/") != 1:
            raise JudgeError(
                _("--{name} {value}: give owner/name on the Hub.", name=name, value=getattr(arguments, name))
            )
    arguments.source_revision = arguments.source_revision or _commit_here()
    print(shlex.join(jobs_command(arguments)))
    return OK


def jobs_command(arguments: argparse.Namespace) -> list[str]:
    """Return the words of the command. The run lies in a bucket, so that the same command goes on with it.

    Raises:
        JudgeError: `judge run` would refuse the options, or they are about another machine.
    """
    return [
        "hf", "jobs", "run", "--flavor", arguments.hardware, "--timeout", arguments.time, "--secrets", "HF_TOKEN",
        "--volume", f"hf://buckets/{arguments.bucket}:/runs", "--detach", arguments.image, "bash", "-c",
        job_script(arguments),
    ]  # fmt: skip


def job_script(arguments: argparse.Namespace) -> str:
    """Return what the container does: serve the model, then run the judge with the options given."""
    run = _run_words(arguments)
    parsed = _checked(run, arguments.rest)
    run += ["--votes", str(parsed.votes)]  # of an option that is given twice the last one counts
    serve = ["vllm", "serve", arguments.model, "--port", "8000"]
    serve += [] if parsed.api == CHAT else ["--runner", "pooling"]
    prompt = "" if parsed.prompt.lower() in PROMPTS else _prompt_line(parsed.prompt)
    if prompt:
        run += ["--prompt", _prompt_path(parsed.prompt)]
    return _SCRIPT.format(
        source=shlex.quote(arguments.source),
        commit=shlex.quote(arguments.source_revision),
        prompt=prompt,
        serve=shlex.join([*serve, *_serve_words(arguments.serve)]),
        run=shlex.join(["python3", "-m", "vlrb", "judge", "run", *run]),
    )


def _commit_here() -> str:
    """Return the commit of this checkout, so that the job does the run with the program that printed it.

    Raises:
        JudgeError: this is no checkout.
    """
    root = Path(__file__).resolve().parents[3]
    asked = ["git", "-C", str(root), "rev-parse", "--verify", "--quiet", "HEAD"]
    try:
        if (root / ".git").exists():  # and not the repository of somebody who has this program in a folder of it
            return subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        pass
    raise JudgeError(_("This is not a checkout of a commit. Name one with --source-revision."))


def _serve_words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        raise JudgeError(_("--serve {text}: a quotation mark is not closed.", text=text)) from None


def _run_words(arguments: argparse.Namespace) -> list[str]:
    return [
        "--base-url", "http://127.0.0.1:8000/v1", "--model", arguments.model, "--items", arguments.items,
        "--items-revision", arguments.items_revision, "--output", f"/runs/{arguments.model.replace('/', '--')}",
        *arguments.rest,
    ]  # fmt: skip


def _checked(run: list[str], rest: Sequence[str]) -> argparse.Namespace:
    """Return the options of a run, parsed. Raises JudgeError where the run would be refused."""
    refused = next((flag for word in rest for flag in _OWN if word.partition("=")[0] == flag), None)
    if refused:
        raise JudgeError(_("A job takes no {option}: it serves the model and keeps the run by itself.", option=refused))
    parser = CommandParser(prog="vlrb judge job", allow_abbrev=False)
    add_question_options(parser)
    add_endpoint_options(parser)
    parsed = parser.parse_args(run)
    parsed.votes = check_choices(parsed, parsed.api)
    if (parsed.endpoint or "").endswith(_TEXT_ONLY):
        raise JudgeError(
            _("--endpoint {endpoint} is one of SGLang; a job serves the model with vLLM.", endpoint=parsed.endpoint)
        )
    return parsed


def _prompt_path(name: str) -> str:
    return f"prompts/{Path(name).name}"


def _prompt_line(name: str) -> str:
    """Return the line of the script that writes a prompt of one's own, byte for byte."""
    find_prompt(name)
    data = Path(name).read_bytes()
    if len(data) > _LARGEST_PROMPT:
        raise JudgeError(
            _("{path} has more than {size:,} bytes; a job takes no larger prompt.", path=name, size=_LARGEST_PROMPT)
        )
    text = base64.b64encode(data).decode("ascii")
    return f"mkdir prompts && echo {text} | base64 -d > {shlex.quote(_prompt_path(name))}\n"
