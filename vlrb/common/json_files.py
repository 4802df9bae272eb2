"""JSON files that commands wrote earlier and people may have changed: read whole, and checked before they are used.

A shape is a type or several, a list with the shape of its parts, or an object of names and shapes; a name that ends in
"?" may be missing. Booleans are no numbers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from vlrb.common.messages import _

Shape = type | tuple[type, ...] | Sequence[Any] | Mapping[str, Any]
MAYBE_NUMBER, MAYBE_TEXT = (int, float, type(None)), (str, type(None))
_KINDS: Mapping[type, str] = {
    dict: _("an object"),
    list: _("a list"),
    str: _("a text"),
    int: _("a number"),
    float: _("a number"),
    bool: _("true or false"),
    type(None): "null",
}


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
    _check_object(value, {}, name="")
    for name in (name for name in names if name not in value):
        raise JsonFileFault(_("`{field}` is missing", field=name))
    return value  # type: ignore[no-any-return]


def check_shape(value: Any, shape: Shape, *, name: str = "") -> None:
    """Raise JsonFileFault where a value has another shape; it names the place."""
    if isinstance(shape, Mapping):
        _check_object(value, shape, name=name)
    elif isinstance(shape, list):
        _check_kind(value, (list,), name=name)
        for number, part in enumerate(value):
            check_shape(part, shape[0], name=f"{name}.{number}" if name else str(number))
    else:
        _check_kind(value, shape if isinstance(shape, tuple) else (shape,), name=name)


def _check_object(value: Any, shape: Mapping[str, Shape], *, name: str) -> None:
    _check_kind(value, (dict,), name=name)
    for key, inner in shape.items():
        plain = key.removesuffix("?")
        place = f"{name}.{plain}" if name else plain
        if plain in value:
            check_shape(value[plain], inner, name=place)
        elif plain == key:
            raise JsonFileFault(_("`{field}` is missing", field=place))


def _check_kind(value: Any, kinds: Sequence[Any], *, name: str) -> None:
    if type(value) in kinds:
        return
    names = list(dict.fromkeys(_KINDS[kind] for kind in kinds))
    wanted, seen = names[0] if len(names) == 1 else " / ".join(names), _KINDS[type(value)]
    if name:
        raise JsonFileFault(_("`{field}` is {seen}, not {wanted}", field=name, seen=seen, wanted=wanted))
    raise JsonFileFault(_("it holds {seen}, not {wanted}", seen=seen, wanted=wanted))
