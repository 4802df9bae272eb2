"""Agreement within an annotation project: Krippendorff's alpha by tag and annotator, kappa, gold pairs, time.

Nobody's answers. Verdicts are those before a draft label was shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from maintenance.action_context import ActionContext
from maintenance.database import queries
from maintenance.registry import action
from maintenance.types import require_maintainer
from review.actions.individual_labels import with_seconds
from review.actions.projects import ProjectNumber, known
from storage.annotation import adjudications, annotation_projects, shown_orders
from storage.answer_times import answer_times
from vlrb.common.messages import _, joined
from vlrb.label_quality.annotator_agreement import GOLD_MINIMUM, PersonAnswer, agreement_report


@action(
    "verification.agreement",
    "GET /api/v1/maintenance/verification/{project}/agreement",
    place=3,
    help="kappa and alpha by tag and annotator, time per pair",
    text=lambda report: as_text(report),
)
def agreement_within(ctx: ActionContext, project: ProjectNumber) -> dict[str, Any]:
    """Return the agreement of a project, open or closed; annotators by name. For maintainers.

    Raises AuthError, NotFound.
    """
    require_maintainer(ctx.user)
    with ctx.database.read() as session:
        known(session, ctx.benchmark, project=project)
        given, times = annotation_projects.answers(session, project), answer_times(session, project)
        orders = shown_orders.of_project(session, project)
        labels = with_seconds(given, times, first=adjudications.first_answers(session, project), shown=orders)
        gold = adjudications.gold(session, project)
        names = {label.annotator: queries.account_name(session, label.annotator) or label.annotator for label in labels}
    answers = [
        PersonAnswer(
            label.item,
            label.annotator,
            verdict=label.verdict,
            errors=tuple(label.errors),
            note=label.note,
            seconds=label.seconds,
            first_verdict=label.first_verdict,
            shown_first=label.shown_first,
        )
        for label in labels
    ]
    report = agreement_report(answers, gold, tag_of=ctx.items.table.spec.tag_of)
    people = {account: {"name": names[account], **facts} for account, facts in report["annotators"].items()}
    return {**report, "annotators": people}


def as_text(report: Mapping[str, Any]) -> str:
    """Return the report for a terminal."""
    lines = [
        _(
            "{answers} answers, {shared_pairs} pairs with several",
            answers=report["answers"],
            shared_pairs=report["shared_pairs"],
        )
    ]
    lines.append(
        _(
            "Krippendorff's alpha {alpha}, mean kappa {kappa}",
            alpha=_shown(report["alpha"]),
            kappa=_shown(report["mean_kappa"]),
        )
    )
    for account, annotator in report["annotators"].items():
        text = _(
            "{name} ({account}): {answers} answers, mean kappa {kappa}",
            name=annotator["name"],
            account=account,
            answers=annotator["answers"],
            kappa=_shown(annotator["mean_kappa"]),
        )
        text += _(", alpha of the others {alpha}", alpha=_shown(annotator["alpha_of_the_others"]))
        text += (
            _(
                ", {gold_right:.0%} of {gold} gold pairs right",
                gold_right=annotator["gold_right"],
                gold=annotator["gold"],
            )
            if annotator["gold"]
            else ""
        )
        text += _(" (below {gold_minimum:.0%})", gold_minimum=GOLD_MINIMUM) if annotator["below_gold_minimum"] else ""
        if annotator["drafts_seen"]:
            text += _(
                ", {changed_after_draft} of {drafts_seen} changed after the draft label",
                changed_after_draft=annotator["changed_after_draft"],
                drafts_seen=annotator["drafts_seen"],
            )
        text += (
            _(", {seconds:.0f} s a pair", seconds=annotator["median_seconds"])
            if annotator["median_seconds"] is not None
            else ""
        )
        picked = annotator["picked_shown_first"]
        text += (
            _(", picked the response shown first {picked:.0%} of the time", picked=picked) if picked is not None else ""
        )
        lines.append(text)
    lines += [
        _(
            "{tag}: given {given} times, alpha {alpha}",
            tag=tag,
            given=tag_report["given"],
            alpha=_shown(tag_report["alpha"]),
        )
        for tag, tag_report in report["tags"].items()
    ]
    return joined(lines, "\n")


def _shown(value: float | None) -> str:
    return _("undefined") if value is None else f"{value:.2f}"
