"""Agreement within an annotation project: Krippendorff's alpha by tag and annotator, kappa, gold pairs, time.

Nobody's answers. Verdicts are those before a draft label was shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmark.label_quality.annotator_agreement import GOLD_MINIMUM, PersonAnswer, agreement_report
from maintenance.action_context import ActionContext
from maintenance.database import queries
from maintenance.registry import action
from maintenance.types import require_maintainer
from review.individual_labels import with_seconds
from review.projects import ProjectNumber, known
from storage.annotation import adjudications, annotation_projects, shown_orders
from storage.answer_times import answer_times


@action(
    "verification.agreement",
    "GET /api/v1/maintenance/verification/{project}/agreement",
    help="kappa and alpha by tag and annotator, time per pair",
    text=lambda report: as_text(report),
)
def agreement_within(ctx: ActionContext, project: ProjectNumber) -> dict[str, Any]:
    """Return the agreement of a project, open or closed; annotators by name. For maintainers.

    Raises AuthError, NotFound.
    """
    require_maintainer(ctx.user)
    with ctx.database.read() as session:
        known(session, ctx.benchmark, project)
        given, times = annotation_projects.answers(session, project), answer_times(session, project)
        orders = shown_orders.of_project(session, project)
        labels = with_seconds(given, times, adjudications.first_answers(session, project), orders)
        gold = adjudications.gold(session, project)
        names = {label.annotator: queries.account_name(session, label.annotator) or label.annotator for label in labels}
    answers = [
        PersonAnswer(
            label.item,
            label.annotator,
            label.verdict,
            tuple(label.errors),
            label.note,
            label.seconds,
            label.first_verdict,
            label.shown_first,
        )
        for label in labels
    ]
    report = agreement_report(answers, gold)
    people = {account: {"name": names[account], **facts} for account, facts in report["annotators"].items()}
    return {**report, "annotators": people}


def as_text(report: Mapping[str, Any]) -> str:
    """Return the report for a terminal."""
    lines = [f"{report['answers']} answers, {report['shared_pairs']} pairs with several"]
    lines.append(f"Krippendorff's alpha {_shown(report['alpha'])}, mean kappa {_shown(report['mean_kappa'])}")
    for account, one in report["annotators"].items():
        text = f"{one['name']} ({account}): {one['answers']} answers, mean kappa {_shown(one['mean_kappa'])}"
        text += f", alpha of the others {_shown(one['alpha_of_the_others'])}"
        text += f", {one['gold_right']:.0%} of {one['gold']} gold pairs right" if one["gold"] else ""
        text += f" (below {GOLD_MINIMUM:.0%})" if one["below_gold_minimum"] else ""
        if one["drafts_seen"]:
            text += f", {one['changed_after_draft']} of {one['drafts_seen']} changed after the draft label"
        text += f", {one['median_seconds']:.0f} s a pair" if one["median_seconds"] is not None else ""
        picked = one["picked_shown_first"]
        text += f", picked the response shown first {picked:.0%} of the time" if picked is not None else ""
        lines.append(text)
    lines += [f"{tag}: given {one['given']} times, alpha {_shown(one['alpha'])}" for tag, one in report["tags"].items()]
    return "\n".join(lines)


def _shown(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.2f}"
