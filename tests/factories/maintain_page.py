"""The maintain page without a browser."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from inspect import signature
from types import SimpleNamespace
from typing import Any

import gradio as gr
from gradio.context import Context

import review.tab
from auth import AuthError
from maintenance.action_context import ActionContext
from maintenance.page import gradio_page
from maintenance.page.page_context import PageContext
from maintenance.registry import ActionRegistry
from web.actions import ACTIONS

_ASKED = re.compile(r"<(?:label|h2)[^>]*>([^<]*)</")


class _UnservedBlocks(gr.Blocks):
    """A page that is laid out and not served: Gradio makes an application of each, which takes as long as to lay it
    out."""

    def __exit__(self, exc_type: type[BaseException] | None = None, *rest: Any) -> None:
        super(gr.Blocks, self).__exit__(exc_type, *rest)
        self.default_config.attach_load_events()
        Context.root_block = None

    @cached_property
    def config(self) -> Any:
        """Return what Gradio would send to a browser."""
        return self.get_config_file()


class MaintainPage:
    """The maintain page: its handlers are called as Gradio calls them, whatever the browser shows."""

    def __init__(self, ctx: ActionContext, registry: ActionRegistry = ACTIONS) -> None:
        self.refused: list[str] = []
        self.blocks = _UnservedBlocks(analytics_enabled=False)
        with self.blocks:
            gradio_page.build(
                PageContext(registry, ctx, identify=lambda request: ctx.user, note_refusal=self._note), review.tab.TABS
            )

    def _note(self, refused: AuthError, where: str, address: str) -> None:
        self.refused.append(where)

    def call(self, name: str, *values: Any) -> Any:
        """Call a handler by its name."""
        handler = next(one for one in self.blocks.fns.values() if one.fn is not None and one.fn.__name__ == name)
        answer = _without_counts(handler, handler.fn(*values, _request()))
        return answer[0] if len(answer) == 1 else answer

    def press(self, button: str, typed: Mapping[str, Any] | None = None, *, tab: str = "") -> tuple[Any, ...]:
        """Press a button; fields by their labels hold what was typed, others what they show first."""
        fn = self._handler(button, tab)
        values = [(typed or {}).get(getattr(one, "label", ""), getattr(one, "value", None)) for one in fn.inputs]
        first = next(iter(signature(fn.fn).parameters), "")
        answer = fn.fn(_request(), *values) if first == "request" else fn.fn(*values, _request())
        return _without_counts(fn, answer)

    def act(self, action: str, keys: Sequence[str], *, table: str = "", **fields: str) -> tuple[Any, ...]:
        """Do something about rows, as the dialog of an action sends it. `fields`: texts by parameter."""
        sent = {"action": action, "keys": list(keys), "fields": [[*pair] for pair in fields.items()]}
        return self.send(action, sent, table=table)

    def send(self, action: str, data: Any, *, table: str = "") -> tuple[Any, ...]:
        """Send something from the dialogs that have an action; `table`: of which, where several have it."""
        having = [one for one in self._dialogs() if f'data-action="{action}"' in one.value]
        dialogs = next(one for one in having if table in ("", str(one.elem_id).removesuffix("-dialogs")))
        (fn,) = (one for one in self.blocks.fns.values() if (dialogs._id, "submit") in one.targets)
        values = [getattr(one, "value", None) for one in fn.inputs]
        return _without_counts(fn, fn.fn(_request(), SimpleNamespace(_data=data), *values))

    def show(self, table: str, key: Any) -> str:
        """Press the button that shows more of a row."""
        (dialogs,) = (one for one in self._dialogs() if one.elem_id == f"{table}-dialogs")
        (fn,) = (one for one in self.blocks.fns.values() if (dialogs._id, "expand") in one.targets)
        return str(fn.fn(_request(), SimpleNamespace(_data={"key": key})))

    def counts(self, tab: str) -> list[str]:
        """Return the titles of the counted tabs after a tab was opened."""
        fn = self._opening(tab)
        answer = fn.fn(*(getattr(one, "value", None) for one in fn.inputs), _request())
        return [label["label"] for label, one in zip(answer, fn.outputs, strict=True) if isinstance(one, gr.Tab)]

    def _dialogs(self) -> list[gr.HTML]:
        blocks = self.blocks.blocks.values()
        return [one for one in blocks if isinstance(one, gr.HTML) and str(one.elem_id).endswith("-dialogs")]

    def _handler(self, button: str, tab: str) -> Any:
        ids = [one._id for one in self._inside(tab) if isinstance(one, gr.Button) and one.value == button]
        (found,) = (one for one in self.blocks.fns.values() if any((i, "click") in one.targets for i in ids))
        return found

    def open(self, tab: str, *values: Any) -> Any:
        """Open a tab."""
        fn = self._opening(tab)
        answer = _without_counts(fn, fn.fn(*values, _request()))
        return answer[0] if len(answer) == 1 else answer

    def _opening(self, tab: str) -> Any:
        ids = [one._id for one in self.blocks.blocks.values() if isinstance(one, gr.Tab) and one.label == tab]
        (found,) = (one for one in self.blocks.fns.values() if (ids[0], "select") in one.targets)
        return found

    def labels(self, tab: str = "") -> list[str]:
        """Return the labels of the fields, and the texts of the buttons; those of dialogs, too."""
        inside = self._inside(tab)
        shown = [getattr(one, "label", None) or getattr(one, "value", None) for one in inside]
        asked = [text for one in self._dialogs() if one in inside for text in _ASKED.findall(one.value)]
        return [one for one in shown if isinstance(one, str)] + asked

    def _inside(self, tab: str) -> Sequence[Any]:
        blocks = list(self.blocks.blocks.values())
        if not tab:
            return blocks
        return [one for one in blocks if _tab_of(one) == tab]


def _without_counts(fn: Any, answer: Any) -> tuple[Any, ...]:
    """Return what a handler says but for the labels of the tabs, which follow."""
    values = answer if isinstance(answer, tuple) else (answer,)
    return values[: len(values) - sum(isinstance(one, gr.Tab) for one in fn.outputs)]


def _tab_of(block: Any) -> str:
    while block is not None and not isinstance(block, gr.Tab):
        block = block.parent
    return "" if block is None else str(block.label)


def _request() -> Any:
    return SimpleNamespace(client=SimpleNamespace(host="203.0.113.7"))
