"""Hugging Face Space of the service: created with a private bucket for the replica, updated, and looked at."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from common.messages import _

if TYPE_CHECKING:  # its import takes a second, and most commands need nothing of it
    from huggingface_hub import HfApi

ROOT = Path(__file__).parents[1]
MOUNT = "/bucket"
VARIABLES = {"REPLICA_URL": f"{MOUNT}/board", "DURABILITY": "replicated"}
SESSION_SECRET = "SESSION_SECRET"  # noqa: S105 - a name
BUILD_SECONDS = 1800.0
# As .dockerignore has it, but for the Dockerfile itself.
LEFT_OUT = (
    ".git/**",
    ".venv*/**",
    "**/__pycache__/**",
    ".*_cache/**",
    "data/**",
    "test-results/**",
    ".env*",
    "**/*.pem",
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

    @property
    def bucket(self) -> str:
        """The private bucket that holds the replica."""
        return f"{self.name}-replica"


def create(api: HfApi, plan: SpacePlan, say: Callable[[str], object]) -> str:
    """Create the Space, or bring one that exists to the plan; return its address. Harmless when done twice.

    A new Space gets a random SESSION_SECRET where the plan has none; of one that exists it stays.
    """
    new = not _asked(lambda: api.repo_exists(plan.name, repo_type="space"))
    _asked(lambda: api.create_bucket(plan.bucket, private=True, exist_ok=True))
    say(_("The private bucket {bucket} holds the replica.", bucket=plan.bucket))
    _asked(lambda: api.create_repo(plan.name, repo_type="space", space_sdk="docker", exist_ok=True))
    name = plan.name
    say(_("The Space {name} was created.", name=name) if new else _("The Space {name} is there.", name=name))
    _mount(api, plan)
    generated = {SESSION_SECRET: secrets.token_hex(32)} if new else {}
    _configure(api, plan.name, {**generated, **plan.secrets}, {**VARIABLES, **plan.variables}, say)
    return upload(api, plan, say)


def update(api: HfApi, plan: SpacePlan, say: Callable[[str], object]) -> str:
    """Upload the code and change what the plan names; return the address."""
    if not _asked(lambda: api.repo_exists(plan.name, repo_type="space")):
        raise SpaceError(
            _("There is no Space {name}. Create it: python -m maintenance space create {name}", name=plan.name)
        )
    _configure(api, plan.name, plan.secrets, plan.variables, say)
    return upload(api, plan, say)


def status(api: HfApi, name: str) -> dict[str, Any]:
    """Return the stage of a Space, its hardware and its address."""
    runtime = _asked(lambda: api.get_space_runtime(name))
    return {"space": name, "stage": str(runtime.stage), "hardware": runtime.hardware, "url": address(name)}


def upload(api: HfApi, plan: SpacePlan, say: Callable[[str], object]) -> str:
    """Upload the code, wait until it runs, and return the address."""
    say(_("The code is uploaded, then the Space is built; that takes some minutes."))
    folder = str(plan.folder)
    _asked(
        lambda: api.upload_folder(
            repo_id=plan.name,
            folder_path=folder,
            repo_type="space",
            ignore_patterns=list(LEFT_OUT),
            commit_message="Update the leaderboard",
        )
    )
    try:
        runtime = _asked(lambda: api.wait_for_space(plan.name, timeout=BUILD_SECONDS))
    except TimeoutError as error:
        raise SpaceError(
            _("{error} Look again: python -m maintenance space status {name}", error=error, name=plan.name)
        ) from None
    if str(runtime.stage) != "RUNNING":
        raise SpaceError(
            _(
                "The Space {name} is in the stage {stage}. Its logs on the Hub say why.",
                name=plan.name,
                stage=runtime.stage,
            )
        )
    return address(plan.name)


def address(name: str) -> str:
    """Return where a Space answers."""
    return f"https://{name.replace('/', '-').replace('.', '-').replace('_', '-').lower()}.hf.space"


def _mount(api: HfApi, plan: SpacePlan) -> None:
    from huggingface_hub import Volume

    volume = Volume(type="bucket", source=plan.bucket, mount_path=MOUNT)
    _asked(lambda: api.set_space_volumes(plan.name, [volume]))


def _configure(
    api: HfApi, name: str, private: Mapping[str, str], public: Mapping[str, str], say: Callable[[str], object]
) -> None:
    for key, value in public.items():
        _asked(lambda key=key, value=value: api.add_space_variable(name, key, value))  # type: ignore[misc]
    for key, value in private.items():
        _asked(lambda key=key, value=value: api.add_space_secret(name, key, value))  # type: ignore[misc]
    if public or private:
        say(_("Set: {names}.", names=", ".join([*public, *private])))


def _asked(call: Callable[[], Any]) -> Any:
    """Return the Hub's answer. Raises SpaceError without what was sent."""
    from httpx2 import TransportError
    from huggingface_hub.errors import HfHubHTTPError

    try:
        return call()
    except HfHubHTTPError as error:
        code = error.response.status_code
        hint = _("Is HF_TOKEN a token that may write there?") if code in (401, 403, 404) else _("Try again later.")
        raise SpaceError(_("The Hub answered {code}. {hint}", code=code, hint=hint)) from None
    except TransportError as error:
        raise SpaceError(
            _(
                "The Hub cannot be reached ({name}). Check the network, then run the same command again.",
                name=type(error).__name__,
            )
        ) from None
