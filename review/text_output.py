"""Disputes, candidates and projects as plain text for a terminal. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from benchmark.label_quality.annotation import MIN_PAIRS_DISCLOSED
from benchmark.label_quality.annotator_agreement import GOLD_MINIMUM
from common.messages import _
from common.text import pluralize
from storage.clock import iso

if TYPE_CHECKING:  # the actions import this module
    from review.adjudication import ContestedPair
    from review.answers import ShownDraft, ShownPair
    from review.candidates import Proposed
    from review.disputes import DisputedItem
    from review.given_answers import GivenAnswer
    from review.projects import AnnotatorProgress, ProjectReport

SAID = {
    "a": _("A is better"),
    "b": _("B is better"),
    "equal": _("both are equally good"),
    "both-wrong": _("both are wrong"),
    "bad-item": _("the pair is unusable"),
}


def votes(counts: tuple[int, int, int]) -> str:
    """Return how the entries on the board voted."""
    a, b, undecided = counts
    return f"{a} judges prefer A, {b} prefer B, {undecided} are undecided"


def disputed(disputed_items: Sequence[DisputedItem]) -> str:
    """Return an item a paragraph."""
    lines = []
    for item in disputed_items:
        lines.append(f"{item.name}  {item.item}  ({votes(item.votes)})")
        for dispute in item.disputes:
            tag = f" ({dispute.tag})" if dispute.tag else ""
            lines.append(
                f"  {dispute.id}  {dispute.state}  {iso(dispute.created_at)}  "
                f"{dispute.account}: {SAID[dispute.better]}{tag}"
            )
            lines.append(f"      {dispute.reason}")
            lines += [f"      {dispute.decided_by}: {dispute.note}"] if dispute.note else []
    return "\n".join(lines) or "Nothing is disputed."


def candidates(proposed: Proposed) -> str:
    """Return an item a line, after how it was found."""
    if proposed.facts is None:
        return "Never looked for: `candidates find` does."
    lines = [candidate_facts(proposed.facts)]
    return "\n".join([*lines, *(f"{item.name}  {item.item}  ({votes(item.votes)})" for item in proposed.items)])


def candidate_facts(facts: Mapping[str, Any]) -> str:
    """Return how the list came about."""
    return (
        f"{facts['candidates']} candidates among {facts['looked_at']} items of revision {facts['revision']}, "
        f"from {facts['judges']} judges."
    )


def projects(project_reports: Sequence[ProjectReport]) -> str:
    """Return a project a paragraph."""
    lines = []
    for report in project_reports:
        project = report.project
        state = f"closed {iso(project.closed_at)} by {project.closed_by}" if project.closed_at is not None else "open"
        lines.append(
            f"{project.id}  {project.name}: {pluralize(project.items, 'pair')}, from {origin(report)}, "
            f"{state}: {project.reason}"
        )
        lines += [f"  {user.name} ({user.account}): {progress(user)} of {project.items}" for user in report.progress]
        lines += [f"  {contested(report)}"] if any(report.contested) else []
        lines += [f"  {line}" for line in agreements(report)]
        lines += [f"  {draft(report)}"] if report.draft else []
    return "\n".join(lines) or "There are no projects."


def origin(report: ProjectReport) -> str:
    """Return which labels a project verifies, or whose candidates."""
    pool = report.project.pool_id
    return report.project.base_revision if pool is None else f"pool {pool}"


def progress(user: AnnotatorProgress) -> str:
    """Return how much an annotator has answered, and how well gold pairs among it."""
    if not user.gold:
        return str(user.answered)
    mark = f", below {100 * GOLD_MINIMUM:.0f}%" if user.below_gold_minimum else ""
    return f"{user.answered} (gold {user.gold_right} of {user.gold} right{mark})"


def contested(report: ProjectReport) -> str:
    """Return on how many pairs annotators disagree, and how many are decided."""
    pairs, decided = report.contested
    return f"{pluralize(pairs, 'disagreement')}, {decided} decided"


def pair(shown: ShownPair) -> str:
    """Return a pair of a project as an annotator sees it; of the image its address."""
    lines = [*_content(shown, shown.models or ("", "")), *_own(shown.said, "Your answer", "Not answered yet.")]
    lines += _draft(shown.draft) if shown.draft else []
    changed = shown.first_answer and shown.said and shown.first_answer != shown.said.verdict
    return "\n".join([*lines, *([f"Your first answer: {shown.first_answer}"] if changed else [])])


def contested_pair(shown: ContestedPair) -> str:
    """Return a pair on which annotators disagree, with their answers."""
    lines = [*_content(shown, ("", "")), "", "Annotators say"]
    lines += [f"  {_answer_text(answer)}" for answer in shown.answers]
    lines += _own(shown.said, "Your decision", "Not decided yet.")
    return "\n".join([*lines, *(_draft(shown.draft) if shown.draft else [])])


def _content(shown: ShownPair | ContestedPair, models: tuple[str, str]) -> list[str]:
    lines = [f"Pair {shown.place} of {shown.items}"]
    if shown.question is None or shown.responses is None:
        lines.append("This installation has no texts: ITEMS_FILE names them.")
    else:
        lines.append(f"Image: {shown.image}" if shown.image else "There is no image here.")
        lines.append(f"\nQuestion\n{_for_terminal(shown.question)}")
        for place, response, model in zip(("First", "Second"), shown.responses, models, strict=True):
            lines.append(f"\n{place}{f' ({_for_terminal(model)})' if model else ''}\n{_for_terminal(response)}")
    return lines


def _own(given_answer: GivenAnswer | None, title: str, nothing: str) -> list[str]:
    return [f"\n{nothing}" if given_answer is None else f"\n{title}: {_answer_text(given_answer)}"]


def _answer_text(given_answer: GivenAnswer) -> str:
    return "; ".join(filter(None, (given_answer.verdict, ", ".join(given_answer.errors), given_answer.note)))


def _draft(draft: ShownDraft) -> list[str]:
    by = f" by {_for_terminal(draft.model)}" if draft.model else ""
    return [f"\nDraft label{by}: {draft.preferred}", _for_terminal(draft.rationale)]


def _for_terminal(text: str) -> str:
    """Without what would command the terminal."""
    return "".join(one if one.isprintable() or one == "\n" else " " for one in text)


def agreements(report: ProjectReport) -> list[str]:
    """Return every two annotators."""
    names = {user.account: user.name for user in report.progress}
    return [
        f"{names[one.first]} and {names[one.second]}: {one.same} of {one.items} the same, "
        + (f"kappa {one.kappa:.2f}" if one.kappa is not None else "kappa undefined")
        for one in report.agreement
    ]


def draft(report: ProjectReport) -> str:
    """Return what the worker counted."""
    if report.result is None:
        return f"draft {report.draft}: not written yet"
    counted, agreed = report.result["proposals"], report.result.get("agreement") or {}
    text = f"draft {report.draft}: {counted['dropped']} dropped, {counted['undecided']} undecided, "
    if counted["flipped"] is None:
        return f"{text}the others are too few to tell how many flipped (from {MIN_PAIRS_DISCLOSED} on)"
    text += f"{counted['flipped']} flipped, {counted['as_it_is']} as they were"
    if agreed.get("share") is None:  # a draft of disputes
        return text
    return f"{text}; {100 * agreed['share']:.1f}% of {agreed['pairs']} agree with {report.result['base']}"
