"""Context shared by the tabs of the maintain page: services, the current user, and results as HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any, NamedTuple

import gradio as gr
from gradio.context import Context

from auth import AuthError, Identity
from maintenance.action_context import ActionContext
from maintenance.actions.open_cases import open_cases
from maintenance.page import markup
from maintenance.registry import ActionRegistry
from maintenance.types import ActionResult, Conflict, NotFound
from storage.limits.sliding_window import RateLimited
from storage.models.core import UnfitText
from vlrb.common.translations import ENGLISH, Translations, translations

QUIETLY: dict[str, Any] = {"api_visibility": "private", "show_progress": "minimal"}


class CountedTab(NamedTuple):
    """A tab whose title has the number of its open cases. `cases`: their name in OpenCases."""

    tab: gr.Tab
    title: str
    cases: str


@dataclass(frozen=True, slots=True)
class TaskWatch:
    """Components that follow a worker's task: its number, a clock, how far it is, and what came of it."""

    task: gr.State
    clock: gr.Timer
    progress: gr.HTML
    result: gr.HTML

    @property
    def outputs(self) -> list[Any]:
        """Return the components that an action changes."""
        return [self.task, self.clock, self.progress, self.result]

    def values(self, task: int | None, *, changed: bool) -> tuple[Any, ...]:
        """Return their values after an action; an earlier result stays until something else happens or is asked for."""
        gone = changed or task is not None
        return task, gr.update(active=task is not None), "" if gone else gr.skip(), "" if gone else gr.skip()


@dataclass(frozen=True, slots=True)
class PageContext:
    """Context of the page. `identify`: who sent a request; `note_refusal` records who was refused, trying what.

    `actions_of`: the context of the benchmark that a request is about; None: always `actions`. `counted`: the tabs
    whose titles say how much is open.
    """

    registry: ActionRegistry
    actions: ActionContext
    identify: Callable[[gr.Request], Identity]
    note_refusal: Callable[[AuthError, str, str], None] = lambda refused, where, address: None

    actions_of: Callable[[gr.Request], ActionContext] | None = None
    language: str = ENGLISH
    counted: Sequence[CountedTab] = ()

    @property
    def of(self) -> Translations:
        """The sentences of the page's language."""
        return translations(self.language)

    def text(self, text: str) -> str:
        """Return a text in the page's language."""
        return self.of.text(text)

    def known(self, text: str) -> str:
        """Return a text of a declaration in the page's language."""
        return self.of.known(text)

    def hint(self, text: str) -> str:
        """Return a line of explanation."""
        with self.speaking():
            return markup.hint(text)

    @contextmanager
    def speaking(self) -> Iterator[None]:
        """Have markup be written in the page's language."""
        with markup.speaking(self.of):
            yield

    def on_tab_open(self, handler: Callable[..., Any], outputs: list[Any], *, inputs: Sequence[Any] = ()) -> None:
        """Have a handler run whenever somebody opens the tab that is laid out now. Those of all tabs at once would be
        more calls than one address may have waiting."""
        tab = Context.block
        while tab is not None and not isinstance(tab, gr.Tab):
            tab = tab.parent
        assert tab is not None, "sections are laid out inside gr.Tab"
        self.with_counts(tab.select, handler, inputs=list(inputs), outputs=outputs)

    def with_counts(
        self, event: Callable[..., Any], handler: Callable[..., Any], *, inputs: list[Any], outputs: list[Any]
    ) -> None:
        """Have a handler run at an event, after which the tabs say how much is open in them. One call does both."""

        @wraps(handler)
        def counting(*values: Any) -> tuple[Any, ...]:
            answer = handler(*values)
            request = next(value for value in values if hasattr(value, "client"))
            return *(answer if isinstance(answer, tuple) else (answer,)), *self._labels(request)

        event(counting, inputs, [*outputs, *(counted_tab.tab for counted_tab in self.counted)], **QUIETLY)

    def _labels(self, request: gr.Request) -> list[Any]:
        """Return the labels of the counted tabs; unchanged for those who may not know."""
        labels: list[Any] = [gr.skip()] * len(self.counted)

        def count(ctx: ActionContext) -> str:
            cases = open_cases(ctx)
            labels[:] = [
                gr.update(label=self.label(counted_tab.title, getattr(cases, counted_tab.cases)))
                for counted_tab in self.counted
            ]
            return ""

        if self.counted:
            self.run(request, "counts", action=count, noted=False)
        return labels

    def label(self, title: str, number: int = 0) -> str:
        """Return the title of a tab, with the number where something is open."""
        return f"{self.of.text(title)} {self.of.count(number)}" if number else self.of.text(title)

    def run(self, request: gr.Request, what: str, *, action: Callable[[ActionContext], str], noted: bool = True) -> str:
        """Return what an action says, or why it could not be done. `noted`: whether a refusal is put on record."""
        with self.speaking():
            try:
                context = self.actions if self.actions_of is None else self.actions_of(request)
                return action(context.acting_as(self.identify(request)))
            except AuthError as refused:
                if noted:
                    self.note_refusal(refused, f"page: {what}", request.client.host if request.client else "")
                return markup.refusal(refused.detail)
            except NotFound as missing:
                return markup.refusal(str(missing.args[0]))
            except ValueError as impossible:
                if not is_refusal(impossible):
                    raise  # a fault of ours, for the log
                return markup.refusal(str(impossible))

    def run_action(self, request: gr.Request, what: str, *, use_case: Callable[[ActionContext], ActionResult]) -> str:
        """Return what a use case has done, or why it could not."""
        return self.run(request, what, action=lambda ctx: markup.outcome(use_case(ctx)))


def is_refusal(error: Exception) -> bool:
    """Return whether it says what was wrong with what somebody sent; `problems`: of files and descriptions."""
    return isinstance(error, NotFound | Conflict | RateLimited | UnfitText) or hasattr(error, "problems")


def html(value: str = "", **options: Any) -> gr.HTML:
    """Return markup without Gradio's own frame and prose rules."""
    return gr.HTML(value, apply_default_css=False, js_on_load=None, **options)
