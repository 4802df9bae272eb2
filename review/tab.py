"""Maintain tabs for disputes, label error candidates and annotation projects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape

import gradio as gr

from auth import Identity
from benchmark.disclosure import LEVELS
from maintenance import markup
from maintenance.markup import PageLink, Short
from maintenance.page_context import QUIETLY, PageContext, html
from maintenance.types import ActionResult, whole_number
from review import candidates, disputes, projects, text_output
from review.disputes import SAID, DisputedItem
from review.projects import ProjectReport
from storage.clock import minute

_SPLIT = "A : B : undecided"
_ALL = "all"
_DISPUTES = """<p class="vl-hint">Somebody says that a label is wrong. A and B are the responses as the pair's page
shows them; votes are those of the entries on the board. Accepted disputes make a draft when you ask for one; its
preview on the tab Labels is the board as it would be.</p>"""
_CANDIDATES = """<p class="vl-hint">Items on which the strongest judges agree against the label. The list tells labels:
it is for maintainers only. Beside each pair stands how many of the judges that are right on 60% of its category prefer
A, B, neither: the majority contradicts the label. What is hard for one judge is hard for others, so look at every pair
before you believe it.</p>"""
_PROJECTS = """<p class="vl-hint">People answer at <a href="/annotate">/annotate</a> without seeing the label. Closing a
project writes a draft: more than half of those who answered a pair decide it, a tie keeps what the base says.</p>"""

LEVELS_OF_DRAFTS = [("as of the base", ""), *((level, level) for level in LEVELS)]
"""What may be shown of scores under a draft, as people choose it."""


def build(context: PageContext) -> None:
    """Lay the sections out in the current Blocks context and wire them."""
    disputed, state, shown = _disputes(context)
    _candidates(
        context
    )  # behind their button: they tell labels, and count the votes of judges on every one of many pairs
    started, listed = _projects(context)

    def opening(which: str, request: gr.Request) -> tuple[str, str]:
        return disputed(which, request), started(request)

    context.on_tab_open(opening, [shown, listed], [state])


def _disputes(context: PageContext) -> tuple[Callable[[str, gr.Request], str], gr.Dropdown, gr.HTML]:
    """Return what lists disputes, of which states, and where."""
    html("<h3>Label disputes</h3>" + _DISPUTES)
    with gr.Row():
        state = gr.Dropdown([*disputes.STATES, _ALL], value="open", label="State", filterable=False)
        show = gr.Button("Show disputes", size="md")
    shown = html(elem_id="disputes")
    with gr.Row():
        number = gr.Textbox("", label="Dispute", placeholder="its number")
        note = gr.Textbox("", label="Note to its author")
        accept, reject = gr.Button("Accept", variant="primary", size="md"), gr.Button("Reject", size="md")
    with gr.Row():
        revision = gr.Textbox("", label="Draft", placeholder="v3-disputes")
        base = gr.Textbox("", label="Changes revision", placeholder="v2")
        reason = gr.Textbox("", label="Reason")
        only = gr.Textbox("", label="Only disputes", placeholder="7, 12; empty: all accepted")
        public = gr.Dropdown(LEVELS_OF_DRAFTS, value="", label="Shown of scores", filterable=False)
        draft = gr.Button("Draft from accepted ones", size="md")
    said = html(elem_id="disputes-said")

    def look(which: str, request: gr.Request) -> str:
        def found(user: Identity) -> str:
            states = disputes.STATES if which == _ALL else (which,)
            listed = disputes.review(context.database, user, context.table(), states)
            return _disputed(listed, context.names(user, (one.account for item in listed for one in item.disputes)))

        return context.run(request, "disputes", found)

    def deciding(accepted: bool) -> Callable[..., tuple[str, str]]:
        def decide(which: str, why: str, listed: str, request: gr.Request) -> tuple[str, str]:
            def use(user: Identity) -> ActionResult:
                return disputes.decide(context.database, user, context.benchmark, whole_number(which), accepted, why)

            return context.run_action(request, "decide a dispute", use), look(listed, request)

        return decide

    def drafting(name: str, old: str, why: str, some: str, level: str, request: gr.Request) -> str:
        def use(user: Identity) -> ActionResult:
            told = (name.strip(), old.strip(), why, [whole_number(one) for one in _split(some)])
            return disputes.request_draft(context.database, user, context.benchmark, *told, disclosure=level or "")

        return context.run_action(request, "draft from disputes", use)

    show.click(look, [state], [shown], **QUIETLY)
    accept.click(deciding(True), [number, note, state], [said, shown], **QUIETLY)
    reject.click(deciding(False), [number, note, state], [said, shown], **QUIETLY)
    draft.click(drafting, [revision, base, reason, only, public], [said], **QUIETLY)
    return look, state, shown


def _candidates(context: PageContext) -> None:
    html("<h3>Candidate label errors</h3>" + _CANDIDATES)
    with gr.Row():
        find, show = gr.Button("Look for candidates", size="md"), gr.Button("Show candidates", size="md")
    said, shown = html(elem_id="candidates-said"), html(elem_id="candidates")

    def finding(request: gr.Request) -> str:
        def use(user: Identity) -> ActionResult:
            return candidates.request(context.database, user, context.benchmark)

        return context.run_action(request, "look for candidates", use)

    def looking(request: gr.Request) -> str:
        def found(user: Identity) -> str:
            proposed = candidates.proposed(context.database, user, context.table())
            rows = [
                (PageLink(one.name, f"/explore/{one.item}"), _split_of(one.votes), Short(one.item[:12], one.item))
                for one in proposed.items
            ]
            facts = f"<p>{escape(text_output.candidate_facts(proposed.facts))}</p>" if proposed.facts else ""
            nothing = "No candidates." if proposed.facts else "Nobody has looked yet."
            return facts + markup.table("Candidates", ("Pair", _SPLIT, "Key"), rows, nothing)

        return context.run(request, "candidates", found)

    find.click(finding, outputs=[said], **QUIETLY)
    show.click(looking, outputs=[shown], **QUIETLY)


def _projects(context: PageContext) -> tuple[Callable[[gr.Request], str], gr.HTML]:
    """Return what lists projects, and where."""
    html("<h3>Verification by hand</h3>" + _PROJECTS)
    with gr.Row():  # what the two forms below have in common
        reason = gr.Textbox("", label="Reason", placeholder="to start a project, or to close it")
        people = gr.Textbox("", label="Annotators", placeholder="user names or ids, with commas")
    with gr.Row():
        name = gr.Textbox("", label="New project", placeholder="may-2026")
        base = gr.Textbox("", label="From revision", placeholder="v2")
        which = gr.Dropdown(list(projects.WHICH), value=projects.DISPUTED, label="Pairs", filterable=False)
        listed = gr.Textbox("", label="Listed pairs", placeholder="keys or ids, with commas")
        start = gr.Button("Start the project", variant="primary", size="md")
    with gr.Row():
        number = gr.Textbox("", label="Project", placeholder="its number")
        revision = gr.Textbox("", label="Draft", placeholder="v3-verified")
        public = gr.Dropdown(LEVELS_OF_DRAFTS, value="", label="Shown of scores", filterable=False)
        more, close = gr.Button("Let the annotators answer", size="md"), gr.Button("Close and draft", size="md")
        show = gr.Button("Show projects", size="md")
    said, shown = html(elem_id="projects-said"), html(elem_id="projects")

    def looking(request: gr.Request) -> str:
        def found(user: Identity) -> str:
            return _reports(projects.reports(context.database, user, context.benchmark))

        return context.run(request, "projects", found)

    def starting(
        title: str, old: str, chosen: str, items: str, accounts: str, why: str, request: gr.Request
    ) -> tuple[str, str]:
        def use(user: Identity) -> ActionResult:
            return projects.create(
                context.database,
                user,
                context.table(),
                title.strip(),
                old.strip(),
                chosen,
                why,
                items=_split(items),
                annotators=_split(accounts),
            )

        return context.run_action(request, "start a project", use), looking(request)

    def adding(which: str, accounts: str, request: gr.Request) -> tuple[str, str]:
        def use(user: Identity) -> ActionResult:
            named = (context.benchmark, whole_number(which), _split(accounts))
            return projects.add_annotators(context.database, user, *named)

        return context.run_action(request, "add annotators", use), looking(request)

    def closing(which: str, draft: str, why: str, level: str, request: gr.Request) -> tuple[str, str]:
        def use(user: Identity) -> ActionResult:
            told = (whole_number(which), draft.strip(), why)
            return projects.close(context.database, user, context.benchmark, *told, disclosure=level or "")

        return context.run_action(request, "close a project", use), looking(request)

    start.click(starting, [name, base, which, listed, people, reason], [said, shown], **QUIETLY)
    more.click(adding, [number, people], [said, shown], **QUIETLY)
    close.click(closing, [number, revision, reason, public], [said, shown], **QUIETLY)
    show.click(looking, outputs=[shown], **QUIETLY)
    return looking, shown


def _split(text: str) -> list[str]:
    return [one.strip() for one in text.split(",") if one.strip()]


def _split_of(votes: tuple[int, int, int]) -> str:
    return " : ".join(map(str, votes))


def _disputed(found: list[DisputedItem], names: Mapping[str, str]) -> str:
    head = ("No.", "Pair", _SPLIT, "State", "Says", "Error", "Why", "By", "At", "Answer")
    rows = [
        (
            one.id,
            PageLink(item.name, f"/explore/{item.item}"),
            _split_of(item.votes),
            one.state,
            SAID[one.better],
            one.tag,
            one.reason,
            markup.person(one.account, names),
            minute(one.created_at),
            one.note,
        )
        for item in found
        for one in item.disputes
    ]
    return markup.table("Disputes", head, rows, "Nothing is disputed.")


def _reports(found: list[ProjectReport]) -> str:
    rows = [
        (
            report.project.id,
            PageLink(report.project.name, f"/annotate/{report.project.id}"),
            "open" if report.project.closed_at is None else "closed",
            report.project.base_revision,
            report.project.items,
            "; ".join(f"{user.name} {user.answered}" for user in report.progress) or markup.NOTHING,
            "; ".join(text_output.agreements(report)) or markup.NOTHING,
            text_output.draft(report) if report.draft else markup.NOTHING,
        )
        for report in found
    ]
    head = ("No.", "Project", "State", "From", "Pairs", "Answered", "Agreement", "Draft")
    return markup.table("Projects", head, rows, "There are no projects.")
