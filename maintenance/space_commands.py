"""Commands `python -m maintenance space create|update|status`: the service on a Hugging Face Space."""

from __future__ import annotations

import argparse
import getpass
import json
import os
from typing import TYPE_CHECKING, Any

from maintenance import space
from maintenance.space import SpaceError, SpacePlan
from vlrb.common.command_line import say

if TYPE_CHECKING:
    from huggingface_hub import HfApi


def add_commands(commands: argparse._SubParsersAction[Any]) -> None:
    """Add `space` with its commands."""
    words = "the service on a Hugging Face Space; HF_TOKEN, or `hf auth login`, says who you are"
    parser = commands.add_parser("space", help=words, description=words)
    area = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, text in (
        ("create", "create a Space with its bucket, and start it"),
        ("update", "upload this code"),
    ):
        command = area.add_parser(name, help=text, description=text)
        command.add_argument("space", metavar="OWNER/NAME")
        command.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a public variable")
        command.add_argument(
            "--secret",
            action="append",
            default=[],
            metavar="NAME",
            help="a secret: of the environment, or asked for",
        )
        if name == "create":
            command.add_argument("--private", action="store_true", help="only your account can open the Space")
        command.set_defaults(command=None, files=_create if name == "create" else _update)
    command = area.add_parser("status", help="whether it runs", description="whether it runs")
    command.add_argument("space", metavar="OWNER/NAME")
    command.set_defaults(command=None, files=_status)


def _create(options: argparse.Namespace) -> int:
    print(space.create(_api(), _plan(options), say=say))
    return 0


def _update(options: argparse.Namespace) -> int:
    print(space.update(_api(), _plan(options), say=say))
    return 0


def _status(options: argparse.Namespace) -> int:
    result = space.status(_api(), options.space)
    print(json.dumps(result))
    return 0 if result["stage"] == "RUNNING" else 1


def _plan(options: argparse.Namespace) -> SpacePlan:
    variables = dict(text.partition("=")[::2] for text in options.set)
    if not all("=" in text for text in options.set) or options.space.count("/") != 1:
        raise SpaceError("Write the Space as OWNER/NAME, and variables as NAME=VALUE.")
    secrets = {name: os.environ.get(name) or getpass.getpass(f"{name}: ") for name in options.secret}
    return SpacePlan(options.space, secrets, variables=variables, private=getattr(options, "private", False))


def _api() -> HfApi:
    from huggingface_hub import HfApi

    return HfApi(endpoint=os.environ.get("HF_ENDPOINT") or None, token=os.environ.get("HF_TOKEN") or None)
