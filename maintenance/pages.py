"""Routes of the maintain page: plain HTML without script, over the same actions as REST and the command line.

Every action decides by itself who may; a page for nobody but maintainers is shown to nobody else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import urlencode

from anyio import to_thread
from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.datastructures import UploadFile

from auth import Identity
from auth.middleware import identity_of
from auth.pages import PRIVATE
from auth.render import AccountPages
from common.refused import Refused
from maintenance.action_context import ActionContext
from maintenance.actions import accounts, rescoring
from maintenance.database import queries
from maintenance.forms import FormField, form_fields, typed_values
from maintenance.registry import BASE, Action, ActionRegistry
from maintenance.reported_file import MOST_BYTES
from maintenance.sections import SECTIONS, Section
from maintenance.types import ActionResult, Conflict, require_maintainer
from maintenance.view import Table, View
from storage.jobs.tasks import TaskKind

PATH = "/maintain"
MOST_ROWS = 200  # of one request
MOST_LINKS = 3  # at a row; more are in a menu
_FIELDS = 40
_POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'"
_HEADERS = {**PRIVATE, "Content-Security-Policy": f"{_POLICY}; frame-ancestors 'none'"}


class ActionForm(NamedTuple):
    """An action with its fields. `rows`: key -> name of what it is about."""

    action: Action[Any, Any]
    fields: Sequence[FormField]
    rows: Mapping[str, str]

    @property
    def has_file(self) -> bool:
        """Return whether a file is sent with it."""
        return any(field.kind == "file" for field in self.fields)


class Listing(NamedTuple):
    """A list of a section with the fields that narrow it, and what was typed in them."""

    fields: Sequence[FormField]
    view: View
    typed: Mapping[str, str]

    def page(self, number: int) -> str:
        """Return the address of another page."""
        return urlencode({**self.typed, "page": number})


@dataclass(frozen=True, slots=True)
class Sent:
    """What a browser asks: a section, an action or a row to show, keys of rows, texts by parameter."""

    section: str
    action: str = ""
    keys: Sequence[str] = ()
    shown: str = ""
    typed: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, pairs: Sequence[tuple[str, str]]) -> Sent:
        """Return what the fields of a request say."""
        typed = {name: text for name, text in pairs if text}
        own = {name: typed.pop(name, "") for name in ("tab", "do", "show", "on")}
        keys = [text for name, text in pairs if name == "on"]
        return cls(own["tab"], own["do"], keys, own["show"], typed)


@dataclass(frozen=True, slots=True)
class MaintainPage:
    """The page of one benchmark."""

    registry: ActionRegistry
    context: ActionContext
    pages: AccountPages

    def look(self, user: Identity, sent: Sent) -> Response:
        """Return a section, or the form of an action. Raises AuthError."""
        ctx = self._of_maintainer(user)
        if sent.action:
            return self._form(ctx, sent)
        return self._section(ctx, sent)

    def act(self, user: Identity, sent: Sent) -> Response:
        """Do what a form asks, row by row: one that cannot be done keeps no other from it. Raises AuthError."""
        ctx = self._of_maintainer(user)
        action = self._action(sent)
        done: list[Any] = []
        problems: list[str] = []
        for key in sent.keys[:MOST_ROWS] or [""]:
            try:
                done.append(action.run(ctx, typed_values(action, sent.typed | ({_key_of(action): key} if key else {}))))
            except Refused as refused:
                problems.append(f"{refused}")
        if not done:
            return self._form(ctx, sent, problems=problems)
        tasks = [result.task_id for result in done if isinstance(result, ActionResult) and result.task_id is not None]
        if tasks and not problems:
            followed = urlencode({"tab": "tasks", "show": "tasks.show", "on": tasks[-1]})
            return RedirectResponse(f"{self.address}?{followed}", 303, _HEADERS)
        return self._section(
            ctx, Sent(sent.section), outcomes=[action.view(result) for result in done], problems=problems
        )

    @property
    def address(self) -> str:
        """The address of the page."""
        return f"{self.pages.prefix}{PATH}"

    def _of_maintainer(self, user: Identity) -> ActionContext:
        return self.context.acting_as(require_maintainer(user))

    def _action(self, sent: Sent) -> Action[Any, Any]:
        action = next((each for each in self.registry if each.name == sent.action and each.declared.button), None)
        if action is None or len(sent.keys) > MOST_ROWS:
            raise Conflict("bad-request", f"Choose an action of the page, and at most {MOST_ROWS} rows.")
        return action

    def _form(self, ctx: ActionContext, sent: Sent, *, problems: Sequence[str] = ()) -> Response:
        action = self._action(sent)
        rows = self._names(ctx, sent) if sent.keys else {}
        hidden = [action.parameters[0].name] if sent.keys else []
        form = ActionForm(action, form_fields(action, hidden, typed=sent.typed), rows)
        return self._page(ctx, sent, form=form, problems=problems, status=422 if problems else 200)

    def _names(self, ctx: ActionContext, sent: Sent) -> dict[str, str]:
        """Return key -> name of the rows that were chosen; the key where no list of the section has it."""
        names = {key: key for key in sent.keys}
        for name in self._section_of(sent).lists:
            action = self.registry[name]
            searches = any(parameter.name == "search" for parameter in action.parameters)
            for values in [{"search": key} for key in names] if searches else [{}]:
                for table in _read(ctx, action, typed=values).tables:
                    names |= {row.key: row.name for row in table.rows if row.key in names}
        return names

    def _section(
        self, ctx: ActionContext, sent: Sent, *, outcomes: Sequence[View] = (), problems: Sequence[str] = ()
    ) -> Response:
        section = self._section_of(sent)
        listings = []
        for name in section.lists:
            action = self.registry[name]
            typed = {key: text for key, text in sent.typed.items() if key in {one.name for one in action.parameters}}
            listings.append(Listing(form_fields(action, typed=typed), _read(ctx, action, typed=typed), typed))
        shown = self._shown(ctx, sent) if sent.shown else []
        keys = {table.parameter for listing in listings for table in listing.view.tables if table.parameter}
        forms = [
            ActionForm(action, form_fields(action, typed=sent.typed), {})
            for action in self._actions(section)
            if action.name in section.new or _key_of(action) not in keys
        ]
        views = [*(listing.view for listing in listings), *shown, *outcomes]
        return self._page(
            ctx,
            sent,
            listings=listings,
            shown=shown,
            outcomes=outcomes,
            problems=problems,
            forms=forms,
            names=_account_names(ctx, views),
        )

    def _shown(self, ctx: ActionContext, sent: Sent) -> list[View]:
        """Return what one row is; of a preview that is done, what it has found."""
        action = next((each for each in self.registry if each.name == sent.shown and each.method == "GET"), None)
        if action is None or not action.parameters or not sent.keys:
            return []
        values = {action.parameters[0].name: sent.keys[0]}
        views = [_read(ctx, action, typed=values)]
        task = views[0].good and action.name == "tasks.show" and action.run(ctx, typed_values(action, values))
        if task and task.kind == TaskKind.PREVIEW and task.state == "done":
            preview = rescoring.preview.view(rescoring.preview(ctx, task.id))
            address = f"{BASE}/rescore/preview/{task.id}/csv"
            files = [("Download the entries (CSV)", address), ("Download the labels (CSV)", f"{address}?table=pairs")]
            views.append(replace(preview, downloads=files))
        return views

    def _actions(self, section: Section) -> list[Action[Any, Any]]:
        """Return the actions of a section that have a button, those that take something away last."""
        found = [action for action in self.registry if action.area in section.areas and action.declared.button]
        return sorted(found, key=lambda action: action.declared.danger)

    def _section_of(self, sent: Sent) -> Section:
        wanted, area = sent.section, (sent.action or sent.shown).partition(".")[0]
        named = (section for section in SECTIONS if section.id == wanted or (not wanted and area in section.areas))
        return next(named, SECTIONS[0])

    def _page(self, ctx: ActionContext, sent: Sent, *, status: int = 200, **values: Any) -> Response:
        section = self._section_of(sent)
        actions = [action for action in self._actions(section) if action.name not in section.new]

        def row_actions(table: Table) -> list[Action[Any, Any]]:
            return [action for action in actions if table.parameter and _key_of(action) == table.parameter]

        usual: dict[str, Any] = dict.fromkeys(("listings", "shown", "outcomes", "problems", "forms"), ())
        with ctx.database.read() as session:
            cases = queries.open_counts(session, ctx.benchmark)
        context = {
            **usual,
            "form": None,
            "names": {},
            "current": PATH,
            "address": self.address,
            "sections": SECTIONS,
            "section": section,
            "cases": cases,
            "row_actions": row_actions,
            "most_links": MOST_LINKS,
            "sent": sent,
            **values,
        }
        context["waits"] = any(view.waits for view in context["shown"])
        return HTMLResponse(self.pages.render("maintain.html", **context), status, _HEADERS)


def build(page: MaintainPage) -> APIRouter:
    """Return the routes."""
    router = APIRouter(include_in_schema=False)

    @router.get(PATH)
    def look(request: Request) -> Response:
        """Return a section, or the form of an action."""
        return _answer(partial(page.look, identity_of(request), Sent.of(request.query_params.multi_items())))

    @router.post(PATH)
    async def act(request: Request) -> Response:
        """Do what a form asks."""
        async with request.form(max_files=1, max_fields=MOST_ROWS + _FIELDS, max_part_size=MOST_BYTES) as form:
            pairs = [(name, await _text_of(value)) for name, value in form.multi_items()]
        return await to_thread.run_sync(_answer, partial(page.act, identity_of(request), Sent.of(pairs)))

    return router


def _answer(work: partial[Response]) -> Response:
    try:
        return work()
    except Conflict as refused:
        return HTMLResponse(f"{refused}", 422, _HEADERS, media_type="text/plain")


async def _text_of(value: UploadFile | str) -> str:
    """Return a text, or the text of a file; bytes that are none stay, for who reads it to name."""
    if isinstance(value, str):
        return value
    return (await value.read(MOST_BYTES + 1)).decode("utf-8", "surrogateescape")


def _key_of(action: Action[Any, Any]) -> str:
    """Return the name of the parameter that a row of a table is the value of."""
    return action.parameters[0].name if action.parameters else ""


def _read(ctx: ActionContext, action: Action[Any, Any], *, typed: Mapping[str, str]) -> View:
    """Return what an action gives, or why it does not."""
    try:
        return action.view(action.run(ctx, typed_values(action, typed)))
    except Refused as refused:
        return View(alarms=[f"{refused}"], good=False)


def _account_names(ctx: ActionContext, views: Sequence[View]) -> Mapping[str, str]:
    tables = [table for view in views for table in view.tables]
    cells = [cell for table in tables for row in table.rows for cell in row.cells]
    return accounts.names(ctx, {cell.text for cell in cells if cell.account})
