"""Fields of forms from the declared parameters of actions, and the values of what was typed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from maintenance.registry import Action, ActionParameter
from maintenance.types import REASON_LIMIT, Conflict

_LONG_TEXTS = ("reason", "note")
_LONGEST = 2000


class FormField(NamedTuple):
    """A field. `kind`: text, lines, check, choice, number or file."""

    name: str
    label: str
    kind: str
    value: str = ""
    placeholder: str = ""
    required: bool = False
    choices: Sequence[str] = ()
    limit: int = _LONGEST


def form_fields(action: Action[Any, Any], without: Sequence[str] = (), *, typed: Mapping[str, str]) -> list[FormField]:
    """Return the fields of an action: those that it needs first. `typed`: what stands in them."""
    asked = [parameter for parameter in action.parameters if parameter.name not in without]
    asked.sort(key=lambda parameter: not _needed(parameter))
    return [_field(parameter, typed=typed) for parameter in asked]


def _needed(parameter: ActionParameter) -> bool:
    return parameter.required or parameter.name == "confirmation"


def _field(parameter: ActionParameter, *, typed: Mapping[str, str]) -> FormField:
    info, default = parameter.info, parameter.default
    kind = "text"
    if parameter.type is bool:
        kind = "check"
    elif info.is_file:
        kind = "file"
    elif parameter.is_mapping:
        kind = "lines"
    elif info.choices:
        kind = "choice"
    elif _is_count(parameter):
        kind = "number"
    plain = parameter.required or default is None or parameter.is_list or parameter.is_mapping or kind == "check"
    value = typed.get(parameter.name, "" if plain else f"{default}")
    usual = "" if default is None or parameter.required or parameter.is_list else f"{default}"
    choices = info.choices if {usual, value} <= {*info.choices} else dict.fromkeys((usual, value, *info.choices))
    return FormField(
        parameter.name,
        label_of(parameter),
        kind,
        value=value,
        placeholder=info.placeholder or (f"{info.metavar or 'FIELD=VALUE'}, one a line" if kind == "lines" else ""),
        required=_needed(parameter),
        choices=tuple(choices) if kind == "choice" else (),
        limit=REASON_LIMIT if parameter.name in _LONG_TEXTS else _LONGEST,
    )


def label_of(parameter: ActionParameter) -> str:
    """Return the label of a parameter's field."""
    return parameter.info.label or parameter.name.replace("_", " ").capitalize()


def typed_values(action: Action[Any, Any], typed: Mapping[str, str]) -> dict[str, Any]:
    """Return the values of an action; what was left empty keeps its default. Raises Conflict."""
    return {
        parameter.name: value_of(parameter, typed.get(parameter.name, ""))
        for parameter in action.parameters
        if typed.get(parameter.name) or parameter.required
    }


def value_of(parameter: ActionParameter, typed: str) -> Any:
    """Return what somebody typed as the action takes it. Raises Conflict."""
    info, text = parameter.info, typed.strip()
    if parameter.type is bool:
        return bool(text)
    if _is_count(parameter):
        return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0
    if parameter.is_list:
        return [(info.read or str)(part) for part in _parts(text, ",")]
    if parameter.is_mapping:
        pairs = [part.split("=", 1) for part in _parts(text, "\n")]
        if any(len(pair) == 1 or not pair[0].strip() for pair in pairs):
            raise Conflict("bad-pairs", "Write FIELD=VALUE, one a line.")
        return {name.strip(): value.strip() for name, value in pairs}
    if info.is_file:
        return typed
    return info.read(text) if info.read is not None else text


def _is_count(parameter: ActionParameter) -> bool:
    return parameter.type is int and parameter.info.read is None


def _parts(text: str, separator: str) -> list[str]:
    return [part.strip() for part in text.split(separator) if part.strip()]
