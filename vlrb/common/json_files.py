"""JSON files that commands wrote earlier and people may have changed: read whole, and checked before they are used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vlrb.common.messages import _

if TYPE_CHECKING:
    from pydantic import ValidationError


class JsonFileFault(Exception):
    """A file is not what it should be; the message says in which way, without a full stop."""


def read_object(path: Path, *names: str) -> dict[str, Any]:
    """Return the object of a JSON file that a command wrote, with these names.

    Raises:
        JsonFileFault: it cannot be read, is no JSON object, or lacks a name.
    """
    try:
        value = json.loads(path.read_bytes())
    except OSError as error:
        raise JsonFileFault(error.strerror or type(error).__name__) from None
    except (ValueError, RecursionError):
        raise JsonFileFault(_("it is not JSON")) from None
    if not isinstance(value, dict):
        raise JsonFileFault(_("it holds no object"))
    for name in (name for name in names if name not in value):
        raise JsonFileFault(_("`{field}` is missing", field=name))
    return value


def first_problem(error: ValidationError) -> str:
    """Return which field of a line is wrong first, and in which way."""
    first = error.errors()[0]
    field = ".".join(map(str, first["loc"]))
    return f"`{field}`: {first['msg']}" if field else first["msg"]
