"""Maintain tabs for disputes, label error candidates and annotation projects."""

from __future__ import annotations

from collections.abc import Mapping

import gradio as gr

from maintenance.action_context import ActionContext
from maintenance.actions import account_search
from maintenance.page import markup
from maintenance.page.action_form import ActionForm, Refresh
from maintenance.page.gradio_page import PageTab
from maintenance.page.markup import PageLink, Short
from maintenance.page.page_context import QUIETLY, PageContext, html
from maintenance.page.row_actions import RowActions, RowKey
from maintenance.tabs.action_table import ActionTable
from maintenance.types import whole_number
from review import text_output
from review.actions import candidates, decisions, disputes, projects
from review.actions.candidates import Proposed
from review.actions.decisions import PairDecision
from review.actions.disputes import DisputedItem
from review.actions.projects import ProjectReport
from review.selection import DISPUTED
from storage.annotation.annotation_projects import Project
from storage.clock import minute
from vlrb.common.messages import _
from vlrb.disclosure import LEVELS
from vlrb.label_quality.annotation import GOLD_MINIMUM

_SPLIT = "A : B : undecided"
_ALL = "all"
_DISPUTES = _(
    "Somebody says that a label is wrong. A and B are the responses as the pair's page shows them; votes are those of "
    "the entries on the board. Accepted disputes make a draft when you ask for one; its preview on the tab Labels is "
    "the board as it would be."
)
_CANDIDATES = _(
    "Pairs on which the strongest judges agree against the label. The list reveals labels: it is for maintainers only. "
    "Beside each pair is how many of the judges that are right on 60% of its category prefer A, B, neither: the "
    "majority contradicts the label. What is hard for one judge is hard for others, so look at every pair before you "
    "believe it."
)
_PROJECTS = _(
    "People answer at /annotate without seeing the label. A pair takes so many answers, and one more where these have "
    "no majority. “Show decisions” lists what closing would write; decide contested pairs yourself. Labels in a file "
    "of pairs make gold pairs. An annotator with fewer than {minimum}% of them right keeps a project open until you "
    "leave the answers out.",
    minimum=f"{100 * GOLD_MINIMUM:.0f}",
)


def _levels_of_drafts(context: PageContext) -> list[tuple[str, str]]:
    """Return the disclosure levels of a draft, as choices."""
    return [(context.text(_("as of the base")), ""), *((context.known(level), level) for level in LEVELS)]


def build_disputes(context: PageContext) -> None:
    """Lay the tab of disputes out in the current Blocks context and wire it."""
    html(context.hint(_DISPUTES))
    states = [(context.known(state), state) for state in (*disputes.STATES, _ALL)]
    state = gr.Dropdown(states, value="open", label=context.text(_("State")), filterable=False)
    table = ActionTable(context, RowActions.of(context.registry, "disputes", parameter="dispute", areas=["disputes"]))
    html(markup.heading(context.text(_("A draft from accepted disputes"))))
    form = ActionForm(context, "disputes")
    with gr.Row():
        form.fields("revision", "base", "reason", "disputes")
        form.field("disclosure", choices=_levels_of_drafts(context), value="")
        form.button("disputes.draft")
    form.rest(placed=list(table.rows.actions))

    def look(which: str, request: gr.Request) -> str:
        def dispute_table(ctx: ActionContext) -> str:
            listed = disputes.review(ctx, disputes.STATES if which == _ALL else (which,))
            accounts = (dispute.account for item in listed for dispute in item.disputes)
            return _disputed(listed, account_search.names(ctx, accounts), actions=table.rows)

        return context.run(request, "disputes", action=dispute_table)

    state.input(look, [state], [table.shown], **QUIETLY)
    refresh = Refresh(lambda request, which: look(which, request), [table.shown], inputs=[state])
    table.wire(refresh)
    form.wire(table.outcome, refresh)
    context.on_tab_open(look, [table.shown], inputs=[state])


def build_candidates(context: PageContext) -> None:
    """Lay the tab of candidate label errors out. They are behind a button: they tell labels, and count many votes."""
    form = ActionForm(context, "candidates")
    html(context.hint(_CANDIDATES))
    with gr.Row():
        form.button("candidates.find")
        show = gr.Button(context.text(_("Show candidates")), size="md")
    form.rest()
    answer, report = html(elem_id="candidates-said"), html(elem_id="candidates")

    def looking(request: gr.Request) -> str:
        return context.run(request, "candidates", action=lambda ctx: _proposed(candidates.proposed(ctx)))

    form.wire(answer, Refresh(lambda request: (), []))
    show.click(looking, outputs=[report], **QUIETLY)


def build_verification(context: PageContext) -> None:
    """Lay the tab of annotation projects out in the current Blocks context and wire it."""
    html(context.hint(_PROJECTS))
    rows = RowActions.of(context.registry, "projects", parameter="project", areas=["verification"], alone=True)
    table = ActionTable(context, rows, shows=_("Show decisions"))
    listed = html(elem_id="decisions")
    html(markup.heading(context.text(_("Start a project"))))
    form = ActionForm(context, "verification")
    with gr.Row():
        form.fields("name", "base", "reason")
    with gr.Row():
        form.field("answers")
        form.field("annotators", placeholder=context.text(_("user names or ids, with commas")))
        form.field("which", value=DISPUTED)
        form.fields("items", "file", "category")
        form.field("sample", value=None, minimum=0)
        form.button("verification.start")
    form.rest(placed=list(rows.actions))

    def looking(request: gr.Request) -> str:
        return context.run(
            request, "projects", action=lambda ctx: _reports(projects.reports(ctx), rows, shows=table.shows)
        )

    def deciding(ctx: ActionContext, project: str) -> str:
        return _decisions(decisions.decisions(ctx, whole_number(project)))

    table.wire_show(deciding, listed)
    table.wire(Refresh(looking, [table.shown]))
    form.wire(table.outcome, Refresh(looking, [table.shown]))
    context.on_tab_open(looking, [table.shown])


TABS = (
    PageTab(_("Disputes"), ("disputes",), build=build_disputes, id="disputes", cases="disputes"),
    PageTab(_("Label errors"), ("candidates",), build=build_candidates, id="label-errors"),
    PageTab(_("Verification"), ("verification",), build=build_verification, id="verification", cases="projects"),
)
"""The tabs of this package on the maintain page."""


def _proposed(proposed: Proposed) -> str:
    rows = [
        (PageLink(item.name, f"/explore/{item.item}"), _split_of(item.votes), Short(item.item[:12], item.item))
        for item in proposed.items
    ]
    facts = markup.paragraph(text_output.candidate_facts(proposed.facts) if proposed.facts else "")
    nothing = _("No candidates.") if proposed.facts else _("Nobody has looked yet.")
    return facts + markup.table(_("Candidates"), (_("Pair"), _SPLIT, _("Key")), rows=rows, nothing=nothing)


def _split_of(votes: tuple[int, int, int]) -> str:
    return " : ".join(map(str, votes))


def _disputed(disputed_items: list[DisputedItem], names: Mapping[str, str], *, actions: RowActions) -> str:
    head = (_("No."), _("Pair"), _SPLIT, _("State"), _("Says"), _("Error"), _("Why"), _("By"), _("At"), _("Answer"))
    rows = [
        (
            RowKey(str(dispute.id), item.name, without=() if dispute.state == "open" else tuple(actions.actions)),
            dispute.id,
            PageLink(item.name, f"/explore/{item.item}"),
            _split_of(item.votes),
            dispute.state,
            text_output.ANSWER_TEXTS[dispute.better],
            dispute.tag,
            dispute.reason,
            markup.person(dispute.account, names),
            minute(dispute.created_at),
            dispute.note,
        )
        for item in disputed_items
        for dispute in item.disputes
    ]
    return markup.table(_("Disputes"), head, rows=rows, nothing=_("Nothing is disputed."), actions=actions)


def _reports(project_reports: list[ProjectReport], actions: RowActions, *, shows: str) -> str:
    rows = [
        (
            RowKey(str(report.project.id), report.project.name, without=_impossible(report.project)),
            report.project.id,
            PageLink(report.project.name, f"/annotate/{report.project.id}"),
            "open" if report.project.closed_at is None else "closed",
            report.project.base_revision or _("a file"),
            report.project.items,
            "; ".join(f"{user.name} {text_output.progress(user)}" for user in report.progress) or markup.NOTHING,
            text_output.states(report),
            "; ".join(text_output.agreements(report)) or markup.NOTHING,
            text_output.draft(report) if report.draft else markup.NOTHING,
        )
        for report in project_reports
    ]
    head = (
        _("No."),
        _("Project"),
        _("State"),
        _("From"),
        _("Pairs"),
        _("Answered"),
        _("Decisions"),
        _("Agreement"),
        _("Draft"),
    )
    return markup.table(
        _("Projects"), head, rows=rows, nothing=_("There are no projects."), actions=actions, shows=shows
    )


def _decisions(pairs: list[PairDecision]) -> str:
    rows = [
        (
            pair.place,
            pair.name,
            pair.state,
            pair.verdict,
            ", ".join(f"{verdict} {number}" for verdict, number in pair.answers.items()) or markup.NOTHING,
            Short(pair.item[:12], pair.item),
        )
        for pair in pairs
    ]
    head = (_("No."), _("Pair"), _("State"), _("Verdict"), _("Answers"), _("Key"))
    return markup.table(_("Decisions"), head, rows=rows, nothing=_("There are no such pairs."))


def _impossible(project: Project) -> tuple[str, ...]:
    """Return the actions that are refused for a project in its state."""
    return (
        ()
        if project.closed_at is None
        else ("verification.annotators", "verification.leave-out", "verification.decide")
    )
