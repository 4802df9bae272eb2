"""Actions at the rows of a table of the maintain page: which ones, for which rows, and what a dialog asks for. Pure.

The registry stays the one source: a row action is a registered action whose one parameter is the key of the row.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from maintenance.page.form_values import value
from maintenance.page.reason_templates import reasons_for
from maintenance.registry import Action, ActionParameter, ActionRegistry
from maintenance.types import REASON_LIMIT, Conflict
from vlrb.common.messages import _

MOST_ROWS = 200  # of one request
MOST_BUTTONS = 3  # at a row; more are in a menu
_ASIDE = re.compile(r"(For|Raises) [^.]*\.")  # who may do it, and what programs meet
_LONG_TEXTS = ("reason", "note")
_BAD = _("The page sent something that is not a request. Load it again.")


class RowKey(NamedTuple):
    """A row that something can be done about. `without`: names of actions that its state does not allow."""

    key: str
    name: str  # how a dialog calls it
    without: tuple[str, ...] = ()


class DialogField(NamedTuple):
    """A field of a dialog. `kind`: text, area, check, choice, number or pairs."""

    name: str
    label: str
    kind: str
    value: str
    placeholder: str
    required: bool
    choices: Sequence[str] = ()
    templates: Sequence[str] = ()
    suggestions: str = ""  # id of a list of them
    limit: int = 2000


class Dialog(NamedTuple):
    """What is asked before an action. `effect` says what will happen."""

    action: str
    title: str
    effect: str
    danger: bool
    fields: Sequence[DialogField]
    more: Sequence[DialogField]


@dataclass(frozen=True, slots=True)
class RowActions:
    """The actions of a table whose rows' keys are values of `parameter`.

    `single`: names of those that are for one row at a time; `choices`: parameter -> what it may be, where the
    declaration cannot know; `suggestions`: parameters for which the table lists other rows.
    """

    table: str  # id of the table on the page
    parameter: str
    actions: Mapping[str, Action[Any, Any]]
    single: Sequence[str] = ()
    alone: bool = False  # no action is for several rows at once
    choices: Mapping[str, Sequence[str]] = field(default_factory=dict)
    suggestions: Sequence[str] = ()

    @classmethod
    def of(
        cls, registry: ActionRegistry, table: str, *, parameter: str, areas: Sequence[str], **more: Any
    ) -> RowActions:
        """Return all actions of some areas that have a button and this parameter, those that destroy last."""
        actions = [
            action
            for action in registry
            if action.area in areas
            and action.declared.button
            and parameter in {parameter.name for parameter in action.parameters}
        ]
        ordered = sorted(actions, key=lambda action: action.declared.danger)
        return cls(table, parameter, actions={action.name: action for action in ordered}, **more)

    @property
    def in_menu(self) -> bool:
        """Return whether rows have one button for all of their actions."""
        return len(self.actions) > MOST_BUTTONS

    @property
    def bulk(self) -> list[Action[Any, Any]]:
        """Return the actions for several rows at once."""
        return [action for name, action in self.actions.items() if name not in self.single and not self.alone]

    def without(self, *names: str) -> RowActions:
        """Return the same without some actions, which are laid out in another way."""
        return replace(self, actions={name: action for name, action in self.actions.items() if name not in names})

    def possible(self, row: RowKey) -> bool:
        """Return whether anything can be done to a row among others."""
        return any(action.name not in row.without for action in self.bulk)

    def dialogs(self) -> list[Dialog]:
        """Return one dialog an action."""
        return [self._dialog(action) for action in self.actions.values()]

    def _dialog(self, action: Action[Any, Any]) -> Dialog:
        asked = [parameter for parameter in action.parameters if parameter.name != self.parameter]
        fields = [(parameter, self._field(action, parameter)) for parameter in asked]
        declared = action.declared
        return Dialog(
            action.name,
            declared.button,
            effect=effect_of(action),
            danger=declared.danger,
            fields=[
                html_field for parameter, html_field in fields if parameter.required or parameter.name == "confirmation"
            ],
            more=[
                html_field
                for parameter, html_field in fields
                if not parameter.required and parameter.name != "confirmation"
            ],
        )

    def _field(self, action: Action[Any, Any], parameter: ActionParameter) -> DialogField:
        name, info = parameter.name, parameter.info
        choices = tuple(self.choices.get(name, info.choices))
        long = name in _LONG_TEXTS
        kind = (
            "check"
            if parameter.type is bool
            else "pairs"
            if parameter.is_mapping and choices
            else "choice"
            if choices and not parameter.is_list
            else "number"
            if parameter.type is int and info.read is None
            else "area"
            if long
            else "text"
        )
        plain = parameter.required or parameter.default is None or kind in ("check", "pairs") or parameter.is_list
        default = "" if plain or parameter.is_mapping else str(parameter.default)
        if kind == "choice" and default not in choices:
            choices = (default, *choices)
        return DialogField(
            name,
            label_of(parameter),
            kind=kind,
            value=default,
            placeholder=info.placeholder,
            required=parameter.required or name == "confirmation",
            choices=choices,
            templates=reasons_for(action.name) if long else (),
            suggestions=f"{self.table}-{name}" if name in self.suggestions else "",
            limit=REASON_LIMIT if long else 2000,
        )


def effect_of(action: Action[Any, Any]) -> str:
    """Return what a dialog says will happen."""
    return action.declared.effect or " ".join(_ASIDE.sub("", action.description).split())


def label_of(parameter: ActionParameter) -> str:
    """Return the label of a parameter's field."""
    return parameter.info.label or parameter.name.replace("_", " ").capitalize()


@dataclass(frozen=True, slots=True)
class RowRequest:
    """What a page asks: an action, for these rows, with these texts by parameter."""

    action: str
    keys: Sequence[str]
    typed: Mapping[str, Any]

    @classmethod
    def of(cls, sent: Any, known: Collection[str]) -> RowRequest:
        """Return the request that a browser has sent. Raises Conflict for anything else."""
        if not isinstance(sent, Mapping):
            raise Conflict("bad-request", _BAD)
        action, keys, fields = str(sent.get("action")), sent.get("keys"), sent.get("fields")
        if action not in known or not isinstance(keys, list) or not isinstance(fields, list) or not _texts(keys):
            raise Conflict("bad-request", _BAD)
        if len(keys) > MOST_ROWS:
            raise Conflict(
                "too-many",
                _("{count} rows are chosen; at most {most_rows} at once.", count=len(keys), most_rows=MOST_ROWS),
            )
        if not all(_texts(pair) and len(pair) == 2 for pair in fields):
            raise Conflict("bad-request", _BAD)
        return cls(action, keys, typed=dict(fields))

    def values(self, action: Action[Any, Any], parameter: str) -> list[dict[str, Any]]:
        """Return the values of each call: one a row, or one in all where the parameter takes several."""
        by_name = {each.name: each for each in action.parameters}
        given = {
            name: _mapping(name, self.typed) if each.is_mapping and f"{name}.value" in self.typed else value(each, text)
            for name, each in by_name.items()
            if name != parameter and (text := _typed(each, self.typed)) is not None
        }
        keyed = by_name[parameter]
        if keyed.is_list:
            return [{**given, parameter: value(keyed, ",".join(self.keys))}]
        return [{**given, parameter: value(keyed, key)} for key in self.keys]


def _typed(parameter: ActionParameter, typed: Mapping[str, Any]) -> Any:
    text = typed.get(parameter.name)
    if parameter.type is bool:
        return text == "on"
    if parameter.type is int and parameter.info.read is None:
        return float(text) if text and text.lstrip("-").isdigit() and len(text) < 10 else text and 0
    return text


def _mapping(name: str, typed: Mapping[str, Any]) -> dict[str, str]:
    return {typed[name]: typed[f"{name}.value"]}


def _texts(values: Any) -> bool:
    """Return whether something is a list of texts, with at least one."""
    return isinstance(values, list) and bool(values) and all(isinstance(text, str) for text in values)
