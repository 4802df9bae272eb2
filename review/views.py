"""Views of disputes and annotation projects. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from maintenance.view import Row, Table, TableCell, View
from maintenance.views import shortened
from storage.clock import minute
from vlrb.common.messages import _
from vlrb.label_quality.annotation import GOLD_MINIMUM

if TYPE_CHECKING:  # the actions import this module
    from review.actions.disputes import NamedDispute
    from review.actions.projects import AnnotatorProgress, ProjectReport
    from review.actions.results import PairDecision

ANSWER_TEXTS = {
    "a": _("A is better"),
    "b": _("B is better"),
    "equal": _("both are equally good"),
    "both-wrong": _("both are wrong"),
    "bad-item": _("the pair is unusable"),
}


def disputed(disputes: Sequence[NamedDispute]) -> View:
    """Return disputes."""
    rows = [
        Row(
            (
                dispute.id,
                TableCell(name, link=f"/explore/{dispute.item}"),
                dispute.state,
                f"{ANSWER_TEXTS[dispute.better]}",
                dispute.tag,
                dispute.reason,
                TableCell(dispute.account, account=True),
                minute(dispute.created_at),
                dispute.note,
            ),
            key=f"{dispute.id}",
            name=f"{dispute.id}: {name}",
            without=() if dispute.state == "open" else ("disputes.accept", "disputes.reject"),
        )
        for name, dispute in disputes
    ]
    head = ("No.", "Pair", "State", "Says", "Error", "Why", "By", "At", "Answer")
    return View(tables=[Table("Disputes", head, rows, "Nothing is disputed.", parameter="dispute")])


def projects(reports: Sequence[ProjectReport]) -> View:
    """Return annotation projects with their progress and agreement."""
    rows = [
        Row(
            (
                report.project.id,
                TableCell(report.project.name, link=f"/annotate/{report.project.id}"),
                "open" if report.project.closed_at is None else f"closed {minute(report.project.closed_at)}",
                report.project.base_revision or "a file",
                report.project.items,
                "; ".join(f"{user.name} {progress(user)}" for user in report.progress),
                states(report),
                "; ".join(agreements(report)),
            ),
            key=f"{report.project.id}",
            name=report.project.name,
            without=() if report.project.closed_at is None else ("verification.annotators", "verification.leave-out"),
        )
        for report in reports
    ]
    head = ("No.", "Project", "State", "From", "Pairs", "Answered", "Decisions", "Agreement")
    table = Table("Projects", head, rows, "There are no projects.", "project", False, shows="verification.decisions")
    return View(tables=[table])


def progress(user: AnnotatorProgress) -> str:
    """Return how much an annotator has answered, and how well gold pairs among it."""
    if not user.gold:
        return f"{user.answered}"
    mark = f", below {100 * GOLD_MINIMUM:.0f}%" if user.below_gold_minimum else ""
    return f"{user.answered} (gold {user.gold_right} of {user.gold} right{mark})"


def states(report: ProjectReport) -> str:
    """Return how many pairs are in each state."""
    return ", ".join(f"{state} {number}" for state, number in report.states.items() if number)


def agreements(report: ProjectReport) -> list[str]:
    """Return every two annotators."""
    names = {user.account: user.name for user in report.progress}
    return [
        f"{names[pair.first]} and {names[pair.second]}: {pair.same} of {pair.items} the same, kappa "
        + ("undefined" if pair.kappa is None else f"{pair.kappa:.2f}")
        for pair in report.agreement
    ]


def decisions(pairs: Sequence[PairDecision]) -> View:
    """Return what closing a project would write, pair by pair."""
    rows = [
        Row(
            (
                pair.place,
                pair.name,
                pair.state,
                pair.verdict,
                ", ".join(f"{verdict} {number}" for verdict, number in pair.answers.items()),
                shortened(pair.item),
            )
        )
        for pair in pairs
    ]
    head = ("No.", "Pair", "State", "Verdict", "Answers", "Key")
    return View(tables=[Table("Decisions", head, rows, "There are no such pairs.")])
