"""JSON files that commands wrote earlier and people may have changed: read whole, and checked before they are used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vlrb.common import atomic_files
from vlrb.common.command_line import CommandError
from vlrb.common.messages import _

if TYPE_CHECKING:
    from pydantic import ValidationError


def read_object(path: Path, *names: str) -> dict[str, Any]:
    """Return the object of a JSON file that a command wrote, with these names.

    Raises:
        CommandError: it cannot be read, is no JSON object, or lacks a name.
    """
    try:
        value = json.loads(path.read_bytes())
        problem = "" if isinstance(value, dict) else _("it holds no object")
    except OSError as error:
        problem = error.strerror or type(error).__name__
    except (ValueError, RecursionError):
        problem = _("it is not JSON")
    missing = [] if problem else [name for name in names if name not in value]
    if problem or missing:
        problem = problem or _("`{field}` is missing", field=missing[0])
        raise CommandError(_("{file} cannot be used: {problem}.", file=path, problem=problem))
    return value  # type: ignore[no-any-return]


def first_problem(error: ValidationError) -> str:
    """Return which field of a line is wrong first, and in which way."""
    first = error.errors()[0]
    field = ".".join(map(str, first["loc"]))
    return f"`{field}`: {first['msg']}" if field else first["msg"]


def write_json(path: Path, value: Any) -> None:
    """Replace a JSON file in one step."""
    data = (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()
    atomic_files.write(path, data, mode=atomic_files.PUBLIC)
