"""Maintain tabs for disputes, label error candidates and annotation projects."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import gradio as gr

from benchmark.disclosure import LEVELS
from benchmark.label_quality.annotator_agreement import GOLD_MINIMUM
from maintenance import markup
from maintenance.action_context import ActionContext
from maintenance.action_form import ActionForm, Refresh
from maintenance.actions import account_search
from maintenance.markup import PageLink, Short
from maintenance.page_context import QUIETLY, PageContext, html
from review import candidates, disputes, projects, text_output
from review.candidates import Proposed
from review.disputes import DisputedItem
from review.projects import ProjectReport
from storage.clock import minute

_SPLIT = "A : B : undecided"
_ALL = "all"
_DISPUTES = """<p class="vl-hint">Somebody says that a label is wrong. A and B are the responses as the pair's page
shows them; votes are those of the entries on the board. Accepted disputes make a draft when you ask for one; its
preview on the tab Labels is the board as it would be.</p>"""
_CANDIDATES = """<p class="vl-hint">Items on which the strongest judges agree against the label. The list tells labels:
it is for maintainers only. Beside each pair is how many of the judges that are right on 60% of its category prefer
A, B, neither: the majority contradicts the label. What is hard for one judge is hard for others, so look at every pair
before you believe it.</p>"""
_PROJECTS = f"""<p class="vl-hint">People answer at <a href="/annotate">/annotate</a> without seeing the label. Closing
a project writes a draft: more than half of those who answered a pair decide it, a tie keeps what the base says.
An adjudicator, who has not annotated the pair, decides where annotators disagree, at the project's page. Gold pairs,
whose answers you state, test annotators: fewer than {100 * GOLD_MINIMUM:.0f}% right are marked.</p>"""

LEVELS_OF_DRAFTS = [("as of the base", ""), *((level, level) for level in LEVELS)]
"""Disclosure levels of a draft, as choices."""


def build(context: PageContext) -> None:
    """Lay the sections out in the current Blocks context and wire them."""
    disputed, state, shown = _disputes(context)
    _candidates(context)  # behind their button: they tell labels, and count the votes of judges on many pairs
    started, listed = _projects(context)

    def opening(which: str, request: gr.Request) -> tuple[str, str]:
        return disputed(which, request), started(request)

    context.on_tab_open(opening, [shown, listed], [state])


def _disputes(context: PageContext) -> tuple[Callable[[str, gr.Request], str], gr.Dropdown, gr.HTML]:
    """Return what lists disputes, of which states, and where."""
    form = ActionForm(context, "disputes")
    html("<h2>Label disputes</h2>" + _DISPUTES)
    with gr.Row():
        state = gr.Dropdown([*disputes.STATES, _ALL], value="open", label="State", filterable=False)
        show = gr.Button("Show disputes", size="md")
    shown = html(elem_id="disputes")
    with gr.Row():
        form.fields("dispute", "note")
        form.button("disputes.accept", primary=True)
        form.button("disputes.reject")
    with gr.Row():
        form.fields("revision", "base", "reason", "disputes")
        form.field("disclosure", choices=LEVELS_OF_DRAFTS, value="")
        form.button("disputes.draft")
    form.rest()
    said = html(elem_id="disputes-said")

    def look(which: str, request: gr.Request) -> str:
        def found(ctx: ActionContext) -> str:
            listed = disputes.review(ctx, disputes.STATES if which == _ALL else (which,))
            accounts = (dispute.account for item in listed for dispute in item.disputes)
            return _disputed(listed, account_search.names(ctx, accounts))

        return context.run(request, "disputes", found)

    show.click(look, [state], [shown], **QUIETLY)
    form.wire(said, Refresh(lambda request, which: look(which, request), [shown], [state]))
    return look, state, shown


def _candidates(context: PageContext) -> None:
    form = ActionForm(context, "candidates")
    html("<h2>Candidate label errors</h2>" + _CANDIDATES)
    with gr.Row():
        form.button("candidates.find")
        show = gr.Button("Show candidates", size="md")
    form.rest()
    said, shown = html(elem_id="candidates-said"), html(elem_id="candidates")

    def looking(request: gr.Request) -> str:
        return context.run(request, "candidates", lambda ctx: _proposed(candidates.proposed(ctx)))

    form.wire(said, Refresh(lambda request: (), []))
    show.click(looking, outputs=[shown], **QUIETLY)


def _projects(context: PageContext) -> tuple[Callable[[gr.Request], str], gr.HTML]:
    """Return what lists projects, and where."""
    form = ActionForm(context, "verification")
    html("<h2>Verification by hand</h2>" + _PROJECTS)
    with gr.Row():  # what the two forms below have in common
        form.field("reason", placeholder="to start a project, or to close it")
        form.field("annotators", placeholder="user names or ids, with commas")
    with gr.Row():
        form.fields("name", "base")
        form.field("which", value=projects.DISPUTED)
        form.field("items")
        form.button("verification.start", primary=True)
    with gr.Row():
        form.field("project")
        form.field("revision", placeholder="v3-verified")
        form.field("disclosure", choices=LEVELS_OF_DRAFTS, value="")
        form.button("verification.annotators")
        form.button("verification.adjudicators")
        form.button("verification.close")
        form.button("verification.finish")
        show = gr.Button("Show projects", size="md")
    form.rest()
    said, shown = html(elem_id="projects-said"), html(elem_id="projects")

    def looking(request: gr.Request) -> str:
        return context.run(request, "projects", lambda ctx: _reports(projects.reports(ctx)))

    form.wire(said, Refresh(looking, [shown]))
    show.click(looking, outputs=[shown], **QUIETLY)
    return looking, shown


def _proposed(proposed: Proposed) -> str:
    rows = [
        (PageLink(item.name, f"/explore/{item.item}"), _split_of(item.votes), Short(item.item[:12], item.item))
        for item in proposed.items
    ]
    facts = markup.paragraph(text_output.candidate_facts(proposed.facts) if proposed.facts else "")
    nothing = "No candidates." if proposed.facts else "Nobody has looked yet."
    return facts + markup.table("Candidates", ("Pair", _SPLIT, "Key"), rows, nothing)


def _split_of(votes: tuple[int, int, int]) -> str:
    return " : ".join(map(str, votes))


def _disputed(disputed_items: list[DisputedItem], names: Mapping[str, str]) -> str:
    head = ("No.", "Pair", _SPLIT, "State", "Says", "Error", "Why", "By", "At", "Answer")
    rows = [
        (
            dispute.id,
            PageLink(item.name, f"/explore/{item.item}"),
            _split_of(item.votes),
            dispute.state,
            text_output.SAID[dispute.better],
            dispute.tag,
            dispute.reason,
            markup.person(dispute.account, names),
            minute(dispute.created_at),
            dispute.note,
        )
        for item in disputed_items
        for dispute in item.disputes
    ]
    return markup.table("Disputes", head, rows, "Nothing is disputed.")


def _reports(project_reports: list[ProjectReport]) -> str:
    rows = [
        (
            report.project.id,
            PageLink(report.project.name, f"/annotate/{report.project.id}"),
            "open" if report.project.closed_at is None else "closed",
            text_output.origin(report),
            report.project.items,
            "; ".join(f"{user.name} {text_output.progress(user)}" for user in report.progress) or markup.NOTHING,
            PageLink(text_output.contested(report), f"/annotate/{report.project.id}/adjudicate")
            if any(report.contested)
            else markup.NOTHING,
            "; ".join(text_output.agreements(report)) or markup.NOTHING,
            text_output.draft(report) if report.draft else markup.NOTHING,
        )
        for report in project_reports
    ]
    head = ("No.", "Project", "State", "From", "Pairs", "Answered", "Disagreements", "Agreement", "Draft")
    return markup.table("Projects", head, rows, "There are no projects.")
