"""Commands of maintainers, generated from the registered actions. Prints nothing itself."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from maintenance import views
from maintenance.action_context import ActionContext
from maintenance.actions import operations
from maintenance.registry import Action, ActionParameter, ActionRegistry
from maintenance.types import ActionResult, Conflict, to_jsonable
from maintenance.view import terminal

_WAIT_SECONDS = 0.3


@dataclass(frozen=True, slots=True)
class CliContext:
    """Context of the commands."""

    actions: ActionContext
    note: Callable[[str], None] = lambda text: None  # progress


@dataclass(frozen=True, slots=True)
class CliResult:
    """Output of a command: text for people, data for programs, and whether it succeeded."""

    text: str
    data: Any
    ok: bool = True


Command = Callable[[CliContext, argparse.Namespace], CliResult]


class CommandTree:
    """Commands by their words. A group is added with its first command. `areas`: group -> its help."""

    def __init__(self, commands: Any, areas: Mapping[str, str]) -> None:
        self._groups = {"": commands}
        self._areas = areas

    def add(self, words: str, help: str, *, run: Command) -> argparse.ArgumentParser:
        """Return the parser of a new command, for its arguments."""
        group, _space, name = words.rpartition(" ")
        parser: argparse.ArgumentParser = self._group(group).add_parser(name, help=help)
        parser.add_argument("--json", action="store_true", help="print JSON")
        parser.set_defaults(command=run, parser=parser)
        return parser

    def _group(self, name: str) -> Any:
        if name not in self._groups:
            parser = self._groups[""].add_parser(name, help=self._areas.get(name, name))
            self._groups[name] = parser.add_subparsers(required=True, metavar="COMMAND")
        return self._groups[name]


def add_actions(tree: CommandTree, registry: ActionRegistry) -> None:
    """Add the command of every action that has one."""
    for action in registry:
        if action.command:
            _add_action(tree, action)


def _add_action(tree: CommandTree, action: Action[Any, Any]) -> None:
    parser = tree.add(action.command, action.declared.help, run=partial(_run, action))
    for parameter in action.parameters:
        _add_argument(parser, parameter)
    if action.declared.waits:
        parser.add_argument("--wait", action="store_true", help=action.declared.waits)


def _add_argument(parser: Any, action_parameter: ActionParameter) -> None:
    """Add one parameter. What is left out is absent from the options, so that the function's default holds."""
    info = action_parameter.info
    options: dict[str, Any] = {"default": argparse.SUPPRESS, "help": info.help or None}
    if action_parameter.type is bool:
        parser.add_argument(info.option, dest=action_parameter.name, action="store_true", **options)
        return
    options |= {"type": _reader(action_parameter), "metavar": info.metavar, "choices": info.choices or None}
    many = action_parameter.is_list or action_parameter.is_mapping
    if info.option:
        if many:
            options |= {
                "action": "append",
                "help": f"{info.help} (repeatable)" if info.help else "(repeatable)",
            }
        parser.add_argument(
            info.option,
            dest=action_parameter.name,
            required=action_parameter.required and not many,
            **options,
        )
    else:
        count = "+" if many else None if action_parameter.required else "?"
        parser.add_argument(action_parameter.name, nargs=count, **options)


def _reader(action_parameter: ActionParameter) -> Callable[[str], Any]:
    """Return what reads a typed value, in argparse's way."""
    read = action_parameter.info.read or (int if action_parameter.type is int else str)

    def typed(text: str) -> Any:
        try:
            return read(text)
        except Conflict as wrong:
            raise argparse.ArgumentTypeError(str(wrong)) from None

    typed.__name__ = read.__name__  # argparse names it: invalid int value
    return typed


def _run(action: Action[Any, Any], c: CliContext, o: argparse.Namespace) -> CliResult:
    values = {
        parameter.name: _value(parameter, getattr(o, parameter.name))
        for parameter in action.parameters
        if hasattr(o, parameter.name)
    }
    result = action.run(c.actions, values)
    if not action.declared.waits:
        return _shown(action, result)
    answer = follow_task(c, o, done=result)
    if not (o.wait and answer.ok and result.task_id is not None and action.declared.then is not None):
        return answer
    follow_up = action.declared.then(c.actions, result.task_id)
    return _shown(action, follow_up)


def _shown(action: Action[Any, Any], result: Any) -> CliResult:
    view = action.view(result)
    return CliResult(terminal(view), action.json(result), ok=view.good)


def _value(action_parameter: ActionParameter, given: Any) -> Any:
    if not action_parameter.is_mapping:
        return given
    wrong = [text for text in given if "=" not in text]
    if wrong:
        raise ValueError(f"{wrong[0]!r} is not FIELD=VALUE")
    return dict(text.split("=", 1) for text in given)


def action_result(done: ActionResult) -> CliResult:
    """Return what was done at once."""
    return CliResult(done.message, to_jsonable(done))


def follow_task(c: CliContext, o: argparse.Namespace, *, done: ActionResult) -> CliResult:
    """Return what was asked of a worker; waits for its end where that is wanted."""
    if not o.wait or done.task_id is None:
        return action_result(done)
    seen = None
    while not (task := operations.task(c.actions, done.task_id)).ended:
        if (now := (task.state, task.progress)) != seen:
            c.note(views.progress(task))
            seen = now
        time.sleep(_WAIT_SECONDS)
    return CliResult(views.task_line(task), to_jsonable(task), ok=task.state == "done")
