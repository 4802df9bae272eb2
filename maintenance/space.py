"""Commands `python -m maintenance space create|update|status`: the service on a Hugging Face Space, created with a
private bucket for the replica, updated, and looked at."""

from __future__ import annotations

import argparse
import getpass
import json
import os
import secrets
import subprocess
import tempfile
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

from operation.build import COMMIT_FILE, commit_of
from vlrb.common.command_line import say

if TYPE_CHECKING:  # its import takes a second, and most commands need nothing of it
    from huggingface_hub import HfApi

ROOT = Path(__file__).parents[1]
MOUNT = "/bucket"
VARIABLES = {"REPLICA_URL": MOUNT}  # a new bucket has no folder yet
SECRETS = ("SESSION_SECRET", "RECEIPT_KEY")
BUILD_SECONDS = 1800.0
# Never uploaded, even where git tracks them. A `*` of the Hub's patterns matches `/` too.
LEFT_OUT = (
    "data/*",
    "deploy/labels/*",
    "receipt-*.jws",
    ".env*",
    "*/.env*",
    "*.env",
    "*.pem",
    "*.key",
    "*.jsonl",
)


class SpaceError(ValueError):
    """The Hub refused something; the message says what, and what to do."""


@dataclass(frozen=True, slots=True)
class SpacePlan:
    """A Space `owner/name`, and what it is configured with. Values of secrets are never shown."""

    name: str
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    variables: Mapping[str, str] = field(default_factory=dict)
    folder: Path = field(default_factory=lambda: ROOT)
    private: bool = False

    @property
    def bucket(self) -> str:
        """The private bucket that holds the replica."""
        return f"{self.name}-replica"


def add_commands(commands: argparse._SubParsersAction[Any]) -> None:
    """Add `space` with its commands."""
    words = "the service on a Hugging Face Space; HF_TOKEN, or `hf auth login`, says who you are"
    area = commands.add_parser("space", help=words, description=words).add_subparsers(required=True, metavar="COMMAND")
    several: dict[str, Any] = {"action": "append", "default": []}
    for name, text, run in (
        ("create", "create a Space with its bucket, and start it", partial(_change, create)),
        ("update", "upload this code", partial(_change, update)),
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


def _change(change: Callable[[HfApi, SpacePlan], str], options: argparse.Namespace) -> int:
    with explained():
        print(change(_api(), _plan(options)))
    return 0


def _status(options: argparse.Namespace) -> int:
    with explained():
        result = status(_api(), options.space)
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


def create(api: HfApi, plan: SpacePlan) -> str:
    """Create the Space, or bring one that exists to the plan; return its address. Harmless when done twice.

    Each step asks the Hub for its own state, so a run that failed halfway is completed by the next one.
    """
    code = _archive(plan.folder)  # before anything is made
    api.create_bucket(plan.bucket, private=True, exist_ok=True)
    say(f"The private bucket {plan.bucket} holds the replica.")
    name, new = plan.name, not api.repo_exists(plan.name, repo_type="space")
    api.create_repo(name, repo_type="space", space_sdk="docker", exist_ok=True, private=plan.private or None)
    say(f"The Space {name} was created." if new else f"The Space {name} is there.")
    _mount(api, plan)
    private, public = _missing(api, plan.name)
    _configure(api, plan.name, private={**private, **plan.secrets}, public={**public, **plan.variables})
    return upload(api, plan, code=code)


def update(api: HfApi, plan: SpacePlan) -> str:
    """Upload the code and change what the plan names; return the address."""
    if not api.repo_exists(plan.name, repo_type="space"):
        raise SpaceError(f"There is no Space {plan.name}. Create it: python -m maintenance space create {plan.name}")
    code = _archive(plan.folder)
    _configure(api, plan.name, private=plan.secrets, public=plan.variables)
    return upload(api, plan, code=code)


def status(api: HfApi, name: str) -> dict[str, Any]:
    """Return the stage of a Space, its hardware and its address."""
    runtime = api.get_space_runtime(name)
    return {"space": name, "stage": str(runtime.stage), "hardware": runtime.hardware, "url": address(name)}


def upload(api: HfApi, plan: SpacePlan, *, code: bytes) -> str:
    """Upload the code of a commit, a ZIP file, wait until it runs, and return the address."""
    say("The code is uploaded, then the Space is built; that takes some minutes.")
    with tempfile.TemporaryDirectory() as copies:
        with ZipFile(BytesIO(code)) as archive:
            archive.extractall(copies)
        (Path(copies) / COMMIT_FILE).write_text(commit_of(plan.folder) + "\n", "utf-8")
        message, ignored = "Update the leaderboard", list(LEFT_OUT)
        api.upload_folder(
            repo_id=plan.name, folder_path=copies, repo_type="space", ignore_patterns=ignored, commit_message=message
        )
    try:
        runtime = api.wait_for_space(plan.name, timeout=BUILD_SECONDS)
    except TimeoutError as error:
        raise SpaceError(f"{error} Look again: python -m maintenance space status {plan.name}") from None
    if str(runtime.stage) != "RUNNING":
        raise SpaceError(f"The Space {plan.name} is in the stage {runtime.stage}. Its logs on the Hub say why.")
    return address(plan.name)


def address(name: str) -> str:
    """Return where a Space answers."""
    return f"https://{name.replace('/', '-').replace('.', '-').replace('_', '-').lower()}.hf.space"


def _archive(folder: Path) -> bytes:
    """Return the last commit as a ZIP file: nothing else tells code from labels that lie beside it.

    Raises SpaceError where git does not have the code.
    """
    command = ["git", "archive", "--format=zip", "HEAD"]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False) if (folder / ".git").exists() else None
    if done is None or done.returncode != 0:
        raise SpaceError(
            f"git has no commit of {folder}, so nothing says which files are code and which are not to be public. "
            "Nothing was uploaded. Clone the repository with git, and run the command there."
        )
    return done.stdout


def _mount(api: HfApi, plan: SpacePlan) -> None:
    """Mount the bucket; other volumes of the Space stay."""
    from huggingface_hub import Volume

    known = api.get_space_runtime(plan.name).volumes or []
    if any((volume.source, volume.mount_path) == (plan.bucket, MOUNT) for volume in known):
        return
    others = [volume for volume in known if volume.mount_path != MOUNT]
    own = Volume(type="bucket", source=plan.bucket, mount_path=MOUNT)
    api.set_space_volumes(plan.name, [*others, own])


def _missing(api: HfApi, name: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the secrets and variables that every Space needs and this one lacks."""
    private = api.get_space_secrets(name)
    public = api.get_space_variables(name)
    generated = {key: b64encode(secrets.token_bytes(32)).decode() for key in SECRETS if key not in private}
    return generated, {key: value for key, value in VARIABLES.items() if key not in public}


def _configure(api: HfApi, name: str, *, private: Mapping[str, str], public: Mapping[str, str]) -> None:
    for key, value in public.items():
        api.add_space_variable(name, key, value)
    for key, value in private.items():
        api.add_space_secret(name, key, value)
    if public or private:
        say(f"Set: {', '.join([*public, *private])}.")


@contextmanager
def explained() -> Iterator[None]:
    """Raise SpaceError for what the Hub's client raises, without what was sent."""
    from httpx2 import TransportError
    from huggingface_hub.errors import HfHubHTTPError

    try:
        yield
    except HfHubHTTPError as error:
        code = error.response.status_code
        hint = "Is HF_TOKEN a token that may write there?" if code in (401, 403, 404) else "Try again later."
        raise SpaceError(f"The Hub answered {code}. {hint}") from None
    except TransportError as error:
        raise SpaceError(
            f"The Hub cannot be reached ({type(error).__name__}). Check the network, then run the same command again."
        ) from None
