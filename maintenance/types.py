"""Results and errors of the use cases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from typing import Any, NamedTuple

from auth import Forbidden, Identity, Role, require
from common.refused import Refused
from storage.clock import iso
from storage.database import LARGEST
from vlrb.common.messages import _

REASON_LIMIT = 500


@dataclass(frozen=True, slots=True)
class ActionResult:
    """Result of a use case. A repeated request changes nothing."""

    changed: bool
    message: str
    seq: int | None = None  # of the audit event
    task_id: int | None = None  # what a worker does about it


class NotFound(Refused):
    """There is no such entry, revision or task here."""

    status, code = 404, "not-found"


class Conflict(Refused):
    """It cannot be done in the present state; the message says why and what would help."""

    status = 409

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Entry(NamedTuple):
    """An entry as a decision needs it. Instants are seconds since 1970, UTC."""

    id: str
    benchmark: str
    owner: str
    model: str
    version: str
    content_sha256: str
    hidden_at: float | None
    withdrawn_at: float | None
    withdrawn_reason: str | None
    verified_at: float | None
    flag: str | None

    @property
    def gone(self) -> str | None:
        """Why it is not on the board; None if it is there."""
        if self.withdrawn_at is not None:
            return _("is withdrawn")
        return _("is hidden") if self.hidden_at is not None else None


def require_maintainer(user: Identity) -> Identity:
    """Let a maintainer go on. Raises Unauthenticated, Forbidden."""
    return require(user, Role.MAINTAINER)


def require_owner_of(user: Identity, owner: str) -> Identity:
    """Let the owner of an entry, or a maintainer, go on. Raises Unauthenticated, Forbidden."""
    if Role.MAINTAINER in user.roles:
        return require(user, Role.MAINTAINER)
    require(user, Role.SUBMITTER)
    # Without sign-in everybody has the same account, and nobody can show that an entry is theirs.
    if user.auth_method == "local" or user.account != owner:
        raise Forbidden(_("This needs the entry's owner or a maintainer."), user, needed=Role.MAINTAINER)
    return user


def clean_reason(text: str, what: str = "reason", *, limit: int = REASON_LIMIT) -> str:
    """Return a sentence for the record, cleaned. Raises Conflict where there is none, or too much of it."""
    cleaned = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    if not cleaned:
        raise Conflict(f"{what}-needed", _("Say a {what}: it goes on record.", what=_(what)))
    if len(cleaned) > limit:
        raise Conflict(
            f"{what}-too-long",
            _("The {what} has {count} characters; at most {limit} fit.", what=_(what), count=len(cleaned), limit=limit),
        )
    return cleaned


def require_confirmed(typed: str, expected: str, *, effect: str = "") -> None:
    """Raise Conflict, with what would happen, where a confirmation is not what has to be typed."""
    if typed != expected:
        raise Conflict("not-confirmed", f"{effect} To confirm, type {expected}.".strip())


def to_jsonable(value: Any) -> Any:
    """Dataclasses and named tuples as plain dictionaries, all the way down; instants (`at`, `..._at`) as ISO 8601."""
    if is_dataclass(value) and not isinstance(value, type):
        return _fields({name: getattr(value, name) for name in value.__dataclass_fields__})
    if hasattr(value, "_asdict"):
        return _fields(value._asdict())
    if isinstance(value, Mapping):
        return _fields(value)
    if isinstance(value, list | tuple):
        return [to_jsonable(item) for item in value]
    return value


def _fields(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: iso(item) if isinstance(item, float) and (name == "at" or name.endswith("_at")) else to_jsonable(item)
        for name, item in values.items()
    }


def plural(count: int, one: str, *, many: str = "") -> str:
    """Return a count with its noun."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def file_text(path: str) -> str:
    """Return the text of a file; bytes that are none stay, for who reads it to name. Raises Conflict."""
    try:
        return Path(path).read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise Conflict("no-file", f"{path}: {error.strerror}") from None


def absolute_path(text: str) -> str:
    """Return the absolute path of a file or folder that is here; other sources as they are."""
    return str(Path(text).absolute()) if Path(text).exists() else text


def whole_number(text: str) -> int:
    """Return the number of something that is numbered, as people type it. Raises Conflict for what no such thing
    has."""
    typed = text.strip()
    if not (typed.isascii() and typed.isdecimal() and len(typed) <= len(str(LARGEST)) and int(typed) <= LARGEST):
        raise Conflict("bad-number", _("Say which one by its number, as the list shows it."))
    return int(typed)
