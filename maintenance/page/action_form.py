"""Forms of registered actions on the maintain page: fields and buttons from the declarations, in rows that a tab names.

A tab says where fields and buttons are; `rest` lays out the actions of its area that it does not name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from maintenance.action_context import ActionContext
from maintenance.page.form_values import value
from maintenance.page.page_context import PageContext, TaskWatch
from maintenance.page.row_actions import label_of
from maintenance.registry import Action, ActionParameter
from maintenance.types import ActionResult
from vlrb.common.translations import Translations


@dataclass(frozen=True, slots=True)
class Refresh:
    """What a tab shows anew after a decision: `look(request, *values of inputs)` gives the outputs."""

    look: Callable[..., Any]
    outputs: Sequence[Any]
    inputs: Sequence[Any] = ()

    def values(self, request: gr.Request, typed: Sequence[Any]) -> tuple[Any, ...]:
        """Return the values of the outputs."""
        result = self.look(request, *typed)
        return result if isinstance(result, tuple) else (result,)


class ActionForm:
    """The fields and buttons of some areas of actions in the tab that is laid out now."""

    def __init__(self, context: PageContext, *areas: str) -> None:
        self._context = context
        self._actions = {
            action.name: action for action in context.registry if action.area in areas and action.declared.button
        }
        self._fields: dict[str, Any] = {}
        self._buttons: dict[str, gr.Button] = {}

    def fields(self, *names: str) -> None:
        """Lay out fields by the names of their parameters."""
        for name in names:
            self.field(name)

    def field(self, name: str, key: str = "", **options: Any) -> Any:
        """Lay out one field. `key`: another name for it, where a tab asks twice. `options` of the Gradio component."""
        self._fields[key or name] = component(self._parameter(name), self._context.of, **options)
        return self._fields[key or name]

    def use(self, name: str, laid_out: Any) -> None:
        """Take a component that the tab has laid out as the field of a parameter."""
        self._fields[name] = laid_out

    def button(self, name: str, *, primary: bool = False) -> gr.Button:
        """Lay out the button of an action; `wire` connects it."""
        declared = self._actions[name].declared
        self._buttons[name] = gr.Button(
            self._context.known(declared.button),
            size="md",
            variant="primary" if primary else "secondary",
            elem_classes=["vl-danger"] if declared.danger else None,
        )
        return self._buttons[name]

    def rest(self, placed: Sequence[str] = ()) -> None:
        """Lay out each action that has no button yet, with the fields that are missing. `placed`: in another way."""
        for name, action in self._actions.items():
            if name in self._buttons or name in placed:
                continue
            with gr.Row():
                for parameter in action.parameters:
                    if parameter.name not in self._fields:
                        self._fields[parameter.name] = component(parameter, self._context.of)
                self.button(name)

    def wire(
        self,
        html: gr.HTML,
        refresh: Refresh,
        *,
        keys: Mapping[str, str] | None = None,
        watch: TaskWatch | None = None,
    ) -> None:
        """Connect every button that was laid out: what it did goes to `html`, and `refresh` follows.

        `keys`: parameter -> key of the field that holds it, where that is another; `watch`: of the tasks of workers.
        """
        for name, button in self._buttons.items():
            action = self._actions[name]
            asked = [
                parameter
                for parameter in action.parameters
                if (keys or {}).get(parameter.name, parameter.name) in self._fields
            ]
            inputs = [self._fields[(keys or {}).get(parameter.name, parameter.name)] for parameter in asked]
            outputs = [html, *(watch.outputs if watch else ()), *refresh.outputs]
            press = self._press(action, asked, refresh=refresh, watch=watch)
            self._context.with_counts(button.click, press, inputs=[*inputs, *refresh.inputs], outputs=outputs)

    def _press(
        self, action: Action[Any, Any], asked: Sequence[ActionParameter], *, refresh: Refresh, watch: TaskWatch | None
    ) -> Callable[..., tuple[Any, ...]]:
        def press(request: gr.Request, *typed: Any) -> tuple[Any, ...]:
            given, rest = typed[: len(asked)], typed[len(asked) :]
            results: list[ActionResult] = []

            def act(ctx: ActionContext) -> ActionResult:
                values = {
                    parameter.name: value(parameter, entered) for parameter, entered in zip(asked, given, strict=True)
                }
                results.append(action.run(ctx, values))
                return results[0]

            done = self._context.run_action(request, action.name, use_case=act)
            task = next((result.task_id for result in results), None)
            watched = watch.values(task, changed=any(result.changed for result in results)) if watch else ()
            return done, *watched, *refresh.values(request, rest)

        return press

    def _parameter(self, name: str) -> ActionParameter:
        return next(
            parameter for action in self._actions.values() for parameter in action.parameters if parameter.name == name
        )


def component(action_parameter: ActionParameter, of: Translations, **options: Any) -> Any:
    """Return the Gradio component of a parameter, in a language."""
    choice_options = {"label": of.known(label_of(action_parameter)), **options}
    default = "" if action_parameter.required or action_parameter.default is None else action_parameter.default
    if action_parameter.type is bool:
        return gr.Checkbox(bool(default), **choice_options)
    if action_parameter.info.choices and not action_parameter.is_list:
        choice_options = {
            "choices": [(of.known(choice), choice) for choice in action_parameter.info.choices],
            "value": default or action_parameter.info.choices[0],
            **choice_options,
        }
        return gr.Dropdown(filterable=False, **choice_options)
    if action_parameter.type is int and action_parameter.info.read is None:
        return gr.Number(**{"value": default or 1, "precision": 0, "minimum": 1, **choice_options})
    return gr.Textbox("", **{"placeholder": of.known(action_parameter.info.placeholder), **choice_options})
