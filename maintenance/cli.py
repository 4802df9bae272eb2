"""Commands of maintainers, generated from the registered actions. Only progress is printed here."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from maintenance.action_context import ActionContext
from maintenance.actions import rescoring, tasks
from maintenance.registry import Action, ActionParameter, ActionRegistry
from maintenance.types import Conflict, to_jsonable
from maintenance.view import terminal
from storage.jobs.tasks import TaskKind, TaskView
from vlrb.common.command_line import complain

_WAIT_SECONDS = 0.3


class CliResult(NamedTuple):
    """Output of a command: text for people, data for programs, and whether it succeeded."""

    text: str
    data: Any
    ok: bool


def add_actions(commands: Any, registry: ActionRegistry) -> None:
    """Add the command of every action that has one; a group comes with its first command."""
    groups = {"": commands}
    for action in registry:
        if not action.command:
            continue
        group, _space, name = action.command.rpartition(" ")
        if group not in groups:
            parser = commands.add_parser(group, help=registry.areas.get(group, group))
            groups[group] = parser.add_subparsers(required=True, metavar="COMMAND")
        _add_action(groups[group].add_parser(name, help=action.summary.replace("%", "%%")), action)


def _add_action(parser: argparse.ArgumentParser, action: Action[Any, Any]) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(command=partial(_run, action), parser=parser)
    for parameter in action.parameters:
        _add_argument(parser, parameter)
    if action.declared.waits:
        parser.add_argument("--wait", action="store_true", help="until a worker has done it; then show the result")


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
        required = action_parameter.required
        parser.add_argument(info.option, dest=action_parameter.name, required=required, **options)
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


def _run(action: Action[Any, Any], ctx: ActionContext, options: argparse.Namespace) -> CliResult:
    values = {
        parameter.name: _value(parameter, getattr(options, parameter.name))
        for parameter in action.parameters
        if hasattr(options, parameter.name)
    }
    result = action.run(ctx, values)
    if not getattr(options, "wait", False) or result.task_id is None:
        return _shown(action, result)
    task = _ended(ctx, result.task_id)
    if task.kind == TaskKind.PREVIEW and task.state == "done":
        return _shown(rescoring.preview, rescoring.preview(ctx, task.id))
    return _shown(tasks.task, task)


def _shown(action: Action[Any, Any], result: Any) -> CliResult:
    view = action.view(result)
    return CliResult(terminal(view), to_jsonable(result), ok=view.good)


def _value(action_parameter: ActionParameter, given: Any) -> Any:
    if not action_parameter.is_mapping:
        return given
    wrong = [text for text in given if "=" not in text]
    if wrong:
        raise ValueError(f"{wrong[0]!r} is not FIELD=VALUE")
    return dict(text.split("=", 1) for text in given)


def _ended(ctx: ActionContext, number: int) -> TaskView:
    """Wait until a worker has done a task, and say how far it is."""
    seen = None
    while not (task := tasks.task(ctx, number)).ended:
        if (now := (task.state, task.progress)) != seen:
            complain(tasks.progress(task))
            seen = now
        time.sleep(_WAIT_SECONDS)
    return task
