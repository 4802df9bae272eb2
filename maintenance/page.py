"""The Gradio page of the maintainers, over the same use cases as REST and the command line.

`build` lays out and reads nothing. Hiding a button protects nothing: every handler passes the request's identity to the
use case, which decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.context import Context

from benchmark.items import ItemTable
from identity import Identity, Refused
from identity.settings import IdentitySettings
from maintenance import chain, labels, markup, operations, rescoring
from maintenance.accounts import directory
from maintenance.accounts import page as accounts_page
from maintenance.approvals import page as approvals_page
from maintenance.decisions import decisions
from maintenance.entries import ParseMetadata
from maintenance.moderation import page as moderation_page
from maintenance.reported import Shipped
from maintenance.results import page as results_page
from maintenance.review import page as review_page
from maintenance.suspicions import page as suspicions_page
from maintenance.tasks import page as tasks_page
from maintenance.tasks.again import ask_again
from maintenance.values import Done, NotFound, NotPossible, whole_number
from storage.clock import minute
from storage.database import Database

CSS_PATH = Path(__file__).with_name("page.css")
_POLL_SECONDS = 2.0  # thirty calls a minute of those that one address may make
_LEAD = """<h1>Maintain</h1><p class="lead">Everything here goes on record, with its reason. What is public of it stands
in the <a href="/decisions">log of decisions</a>.</p>"""
_RETIRE = """<p class="vl-hint">Retiring reveals the salt of a revision's commitment, so that everybody can check it.
That cannot be taken back, and the revision can never be previewed or applied again. What a preview has found stays on
the tab Tasks.</p>"""
_HEAD = """<p class="vl-hint">A chain alone does not show that its end was cut off:
<a href="/api/v1/maintenance/audit/head" download="head.json">download its head</a>, keep it elsewhere, and later check
the chain against it. The <a href="/api/v1/chain" download="chain.jsonl">public chain</a>, number and hashes of each
event, is what receipts and heads are checked with elsewhere.</p>"""
_ALL = "All failed jobs"
_QUIETLY: dict[str, Any] = {"api_visibility": "private", "show_progress": "minimal"}


@dataclass(frozen=True, slots=True)
class Desk:
    """What the page works with. `identify`: who sent a request; `note_refusal` is told who was refused, trying what."""

    database: Database
    benchmark: str
    parse: ParseMetadata
    identify: Callable[[gr.Request], Identity]
    paths: Sequence[Path] = ()
    note_refusal: Callable[[Refused, str, str], None] = lambda refused, where, address: None
    table: Callable[[], ItemTable] = ItemTable.load
    shipped: Callable[[], Shipped] = tuple  # the reported results that come with the project
    identity: IdentitySettings | None = None  # who has which role; None: nobody is told apart here

    def on_open(self, handler: Callable[..., Any], outputs: list[Any], inputs: Sequence[Any] = ()) -> None:
        """Have a handler run whenever somebody opens the tab that is laid out now. Those of all tabs at once would be
        more calls than one address may have waiting."""
        tab = Context.block
        while tab is not None and not isinstance(tab, gr.Tab):
            tab = tab.parent
        assert tab is not None, "sections are laid out inside gr.Tab"
        tab.select(handler, list(inputs), outputs, **_QUIETLY)

    def names(self, who: Identity, accounts: Iterable[str | None]) -> Mapping[str, str]:
        """Id -> user name of accounts."""
        return directory.names(self.database, who, accounts)

    def attempt(self, request: gr.Request, what: str, action: Callable[[Identity], str]) -> str:
        """What an action says, or why it could not be done."""
        try:
            return action(self.identify(request))
        except Refused as refused:
            self.note_refusal(refused, f"page: {what}", request.client.host if request.client else "")
            return markup.refusal(refused.detail)
        except NotFound as missing:
            return markup.refusal(str(missing.args[0]))
        except ValueError as impossible:
            return markup.refusal(str(impossible))


def build(desk: Desk) -> None:
    """Lay the page out in the current Blocks context and wire it."""
    _html(_LEAD, elem_classes=["site", "vl-intro"])
    with gr.Tab("Health"):
        _health(desk)
    with gr.Tab("Entries"):
        moderation_page.build(desk)
    with gr.Tab("Approvals"):
        approvals_page.build(desk)
    with gr.Tab("Labels"):
        _labels(desk)
    with gr.Tab("Tasks"):
        tasks_page.build(desk)
    with gr.Tab("Reported"):
        results_page.build(desk)
    with gr.Tab("Accounts"):
        accounts_page.build(desk)
    with gr.Tab("Suspicions"):
        suspicions_page.build(desk)
    with gr.Tab("Review"):
        review_page.build(desk)
    with gr.Tab("Log"):
        _log(desk)


def _html(value: str = "", **options: Any) -> gr.HTML:
    return gr.HTML(value, apply_default_css=False, js_on_load=None, **options)


def _health(desk: Desk) -> None:
    with gr.Row():
        again, copy = gr.Button("Look again", size="md"), gr.Button("Back up now", size="md")
        failed = gr.Dropdown([_ALL], value=_ALL, label="Failed job or task", filterable=False)
        retry = gr.Button("Try again", size="md")
    said, shown = _html(elem_id="health-said"), _html(elem_id="health")
    with gr.Row():
        message = gr.Textbox("", label="Message while submissions are paused", placeholder="Back at noon.")
        pause, resume = gr.Button("Pause submissions", size="md"), gr.Button("Resume", size="md")

    def look(request: gr.Request) -> tuple[str, Any]:
        names = [(_ALL, _ALL)]

        def found(who: Identity) -> str:
            health = operations.health(desk.database, who, desk.benchmark, desk.paths)
            jobs = ((f"Job {one.job_id}: {one.model}, {one.label_revision}", one.job_id) for one in health.failures)
            tasks = ((f"Task {one.id}: {one.kind} {one.subject}", one.id) for one in health.failed_tasks)
            names.extend((words, f"job {number}") for words, number in jobs)
            names.extend((words, f"task {number}") for words, number in tasks)
            return markup.health(health)

        return desk.attempt(request, "health", found), gr.update(choices=names, value=_ALL)

    def act(what: str, use_case: Callable[..., Done]) -> Callable[..., tuple[Any, ...]]:
        def run(request: gr.Request) -> tuple[Any, ...]:
            return _do(desk, request, what, lambda who: use_case(desk.database, who)), *look(request)

        return run

    def pausing(text: str, request: gr.Request) -> tuple[Any, ...]:
        done = _do(desk, request, "pause", lambda who: operations.pause(desk.database, who, text))
        return done, *look(request)

    def retrying(which: str, request: gr.Request) -> tuple[Any, ...]:
        def again(who: Identity) -> Done:
            if which == _ALL:
                return operations.requeue_all(desk.database, who, desk.benchmark)
            kind, number = which.split()
            if kind == "task":
                return ask_again(desk.database, who, desk.benchmark, whole_number(number))
            return operations.requeue(desk.database, who, whole_number(number))

        return _do(desk, request, "retry", again), *look(request)

    after = [said, shown, failed]
    again.click(look, outputs=[shown, failed], **_QUIETLY)
    copy.click(act("backup", operations.request_backup), outputs=after, **_QUIETLY)
    retry.click(retrying, [failed], after, **_QUIETLY)
    pause.click(pausing, [message], after, **_QUIETLY)
    resume.click(act("resume", operations.resume), outputs=after, **_QUIETLY)
    desk.on_open(look, [shown, failed])


def _do(desk: Desk, request: gr.Request, what: str, use_case: Callable[[Identity], Done]) -> str:
    return desk.attempt(request, what, lambda who: markup.outcome(use_case(who)))


def _labels(desk: Desk) -> None:
    known = _html(elem_id="revisions")
    with gr.Row():
        revision = gr.Textbox("", label="Revision", placeholder="v3")
        source = gr.Textbox("", label="File or Hub dataset", placeholder="path, or owner/name@commit")
        reason = gr.Textbox("", label="Reason")
        public = gr.Checkbox(False, label="These labels are public anyway")
        add = gr.Button("Import as a draft", size="md")
    with gr.Accordion("Only a part, or other rules", open=False, elem_classes=["vl-part"]), gr.Row():
        entry = gr.Textbox("", label="Entries", placeholder="ids, separated by commas; empty: all")
        where = gr.Textbox("", label="Where", placeholder="model=qwen, organisation=lab")
        version = gr.Textbox("", label="Scorer version", placeholder="that of the workers, if not the board's")
    with gr.Row():
        preview = gr.Button("Preview", size="md")
        typed = gr.Textbox("", label="To apply, undo or retire, type the revision's name again")
        apply, undo = gr.Button("Apply", variant="primary", size="md"), gr.Button("Undo", size="md")
        retire = gr.Button("Retire for good", size="md")
    _html(_RETIRE)
    said, result = _html(elem_id="rescore-said"), _html(elem_id="preview")
    task, clock = gr.State(None), gr.Timer(_POLL_SECONDS, active=False)

    def asking(what: str, use_case: Callable[[Desk, Identity, _Asked], Done]) -> Callable[..., tuple[Any, ...]]:
        def run(
            name: str,
            origin: str,
            why: str,
            open_: bool,
            again: str,
            ids: str,
            filters: str,
            rules: str,
            request: gr.Request,
        ) -> tuple[Any, ...]:
            started: list[int | None] = [None]
            left: list[Any] = [gr.skip()]  # an earlier preview, until something else happens or is asked for

            def action(who: Identity) -> Done:
                done = use_case(desk, who, _Asked.of(name, origin, why, open_, again, ids, filters, rules))
                started[0] = done.task_id
                if done.changed or done.task_id is not None:
                    left[0] = ""
                return done

            words = _do(desk, request, what, action)
            return words, started[0], gr.update(active=started[0] is not None), look(request), left[0]

        return run

    def look(request: gr.Request) -> str:
        def revisions(who: Identity) -> str:
            known = labels.revisions(desk.database, who, desk.benchmark)
            return markup.revisions(known, desk.names(who, (one.requested_by for one in known)))

        return desk.attempt(request, "labels", revisions)

    def watch(number: int | None, request: gr.Request) -> tuple[Any, ...]:
        return _watch(desk, number, request), *_after(desk, number, request), look(request)

    inputs = [revision, source, reason, public, typed, entry, where, version]
    outputs = [said, task, clock, known, result]
    for name, button, use_case in (
        ("import", add, _import),
        ("preview", preview, _preview),
        ("apply", apply, _apply),
        ("undo", undo, _undo),
        ("retire", retire, _retire),
    ):
        button.click(asking(name, use_case), inputs, outputs, **_QUIETLY)
    clock.tick(watch, [task], [said, result, clock, known], api_visibility="private", show_progress="hidden")
    desk.on_open(look, [known])


@dataclass(frozen=True, slots=True)
class _Asked:
    """What stands in the fields of the tab."""

    revision: str
    source: str
    reason: str
    public: bool
    typed: str
    scope: dict[str, Any]

    @classmethod
    def of(cls, revision: str, source: str, reason: str, public: bool, typed: str, *part: str) -> _Asked:
        """Raises NotPossible where a filter is none."""
        ids, where, version = (text.strip() for text in part)
        filters = [tuple(map(str.strip, one.partition("="))) for one in where.split(",") if one.strip()]
        if any(not sign or not name for name, sign, _ in filters):
            raise NotPossible("bad-filter", "Write filters as field=text, separated by commas.")
        scope = {
            "entries": [one.strip() for one in ids.split(",") if one.strip()],
            "where": {name: text for name, _, text in filters},
            "scorer_version": version,
        }
        return cls(revision.strip(), source, reason, public, typed.strip(), scope)


def _import(desk: Desk, who: Identity, it: _Asked) -> Done:
    told = (it.revision, it.source, it.reason)
    return labels.request_import(desk.database, who, desk.benchmark, *told, public=it.public)


def _preview(desk: Desk, who: Identity, it: _Asked) -> Done:
    return rescoring.request_preview(desk.database, who, desk.benchmark, it.revision, **it.scope)


def _apply(desk: Desk, who: Identity, it: _Asked) -> Done:
    told = (it.revision, it.reason, it.typed)
    return rescoring.request_apply(desk.database, who, desk.benchmark, *told, **it.scope)


def _undo(desk: Desk, who: Identity, it: _Asked) -> Done:
    """The field that names the revision is that of a preview too, so here it is typed again, as for an apply."""
    if it.typed != it.revision:
        raise NotPossible("not-confirmed", f"To confirm, type {it.revision}.")
    return rescoring.undo(desk.database, who, desk.benchmark, it.revision, it.reason)


def _retire(desk: Desk, who: Identity, it: _Asked) -> Done:
    return labels.request_retire(desk.database, who, desk.benchmark, it.revision, it.reason, it.typed)


def _watch(desk: Desk, number: int | None, request: gr.Request) -> str:
    if number is None:
        return ""
    return desk.attempt(request, "task", lambda who: markup.task(operations.task(desk.database, who, number)))


def _after(desk: Desk, number: int | None, request: gr.Request) -> tuple[Any, Any]:
    """The preview, where the task was one and is done; and whether to go on looking."""
    ended = [True]

    def found(who: Identity) -> str:
        task = operations.task(desk.database, who, number or 0)
        ended[0] = task.ended
        done = task.kind == rescoring.PREVIEW and task.state == "done"
        return markup.preview(rescoring.preview(desk.database, who, task.id)) if done else ""

    shown = desk.attempt(request, "preview", found) if number is not None else ""
    return shown or gr.skip(), gr.update(active=not ended[0])


def _log(desk: Desk) -> None:
    _html(_HEAD)
    with gr.Row():
        kept = gr.Textbox("", label="A head that was kept", placeholder="content of its file; empty: the chain alone")
        verify, head = gr.Button("Verify the audit chain", size="md"), gr.Button("Show its head", size="md")
    said, shown = _html(elem_id="audit-said"), _html(elem_id="log")

    def verifying(text: str, request: gr.Request) -> str:
        def check(who: Identity) -> str:
            kept = chain.read_head(text) if text.strip() else None
            found = chain.verify(desk.database, who, kept)
            return markup.outcome(Done(True, found.sentence)) if found.ok else markup.refusal(found.sentence)

        return desk.attempt(request, "audit verify", check)

    def heading(request: gr.Request) -> str:
        def last(who: Identity) -> str:
            found = chain.head(desk.database, who)
            return markup.outcome(Done(True, f"Event {found['seq']}, {found['hash']}, at {minute(found['at'])}"))

        return desk.attempt(request, "audit head", last)

    verify.click(verifying, [kept], [said], **_QUIETLY)
    head.click(heading, outputs=[said], **_QUIETLY)
    desk.on_open(lambda: markup.decisions(decisions(desk.database)), [shown])
