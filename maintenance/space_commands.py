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
    area = commands.add_parser("space", help=words, description=words).add_subparsers(required=True, metavar="COMMAND")
    several: dict[str, Any] = {"action": "append", "default": []}
    for name, text, run in (
        ("create", "create a Space with its bucket, and start it", _create),
        ("update", "upload this code", _update),
        ("status", "whether it runs", _status),
    ):
        command = area.add_parser(name, help=text, description=text)
        command.add_argument("space", metavar="OWNER/NAME")
        command.set_defaults(command=None, files=run)
        if name == "create":
            command.add_argument("--private", action="store_true", help="only your account can open the Space")
        if name != "status":
            command.add_argument("--set", **several, metavar="NAME=VALUE", help="a public variable")
            command.add_argument(
                "--secret", **several, metavar="NAME", help="a secret: of the environment, or asked for"
            )


def _create(options: argparse.Namespace) -> int:
    with space.explained():
        print(space.create(_api(), _plan(options), say=say))
    return 0


def _update(options: argparse.Namespace) -> int:
    with space.explained():
        print(space.update(_api(), _plan(options), say=say))
    return 0


def _status(options: argparse.Namespace) -> int:
    with space.explained():
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
