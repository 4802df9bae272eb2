"""`python -m judge job`: prints the Hugging Face Jobs command that does a run on hired hardware."""

from __future__ import annotations

import argparse
import shlex
from typing import Any

from common.messages import _
from judge.commands.run_command import OK
from judge.errors import JudgeError

IMAGE = "vllm/vllm-openai:latest"
_WAIT = "until curl -sf http://127.0.0.1:8000/health > /dev/null; do sleep 5; done"


def add_command(commands: Any) -> None:
    """Add `job` to the subparsers of a command line."""
    job = commands.add_parser("job", help=_("print the Hugging Face Jobs command of a run"))
    job.add_argument("--model", required=True, metavar="ID", help=_("of the Hub: owner/name"))
    job.add_argument("--items", required=True, metavar="DATASET", help=_("Hub dataset (owner/name)"))
    job.add_argument("--items-revision", required=True, metavar="COMMIT", help=_("its commit"))
    job.add_argument("--bucket", required=True, metavar="OWNER/NAME", help=_("Hub bucket that keeps the run"))
    job.add_argument("--source", required=True, metavar="GIT_URL", help=_("address from which this project is cloned"))
    job.add_argument("--votes", type=int, default=5, metavar="K", help=_("votes for each pair (5)"))
    job.add_argument("--hardware", default="l40sx1", metavar="FLAVOR", help=_("of `hf jobs hardware` (l40sx1)"))
    job.add_argument("--time", default="6h", metavar="TIME", help=_("after which the job is ended (6h)"))
    job.add_argument("--image", default=IMAGE, metavar="IMAGE", help=_("container image ({image})", image=IMAGE))
    job.set_defaults(run=job_command)


def job_command(arguments: argparse.Namespace) -> int:
    """Print the command. Returns the exit code."""
    for name in ("model", "items", "bucket"):
        if getattr(arguments, name).count("/") != 1:
            raise JudgeError(
                _("--{name} {value}: give owner/name on the Hub.", name=name, value=getattr(arguments, name))
            )
    print(shlex.join(jobs_command(arguments)))
    return OK


def jobs_command(arguments: argparse.Namespace) -> list[str]:
    """Return the words of the command. The run lies in a bucket, so that the same command goes on with it."""
    folder = f"/run/{arguments.model.replace('/', '--')}"
    run = [
        "python3", "-m", "judge", "run", "--base-url", "http://127.0.0.1:8000/v1", "--model", arguments.model,
        "--items", arguments.items, "--items-revision", arguments.items_revision, "--votes", str(arguments.votes),
        "--output", folder,
    ]  # fmt: skip
    script = " && ".join(
        [
            f"git clone --depth 1 {shlex.quote(arguments.source)} /judge",
            "cd /judge",
            "python3 -m pip install --quiet -r requirements-judge.txt",
            f"{{ vllm serve {shlex.quote(arguments.model)} --port 8000 & }}",
            f"{{ {_WAIT}; }}",
            shlex.join(run),
        ]
    )
    return [
        "hf", "jobs", "run", "--flavor", arguments.hardware, "--timeout", arguments.time, "--secrets", "HF_TOKEN",
        "--volume", f"hf://buckets/{arguments.bucket}:/run", "--detach", arguments.image, "bash", "-c", script,
    ]  # fmt: skip
