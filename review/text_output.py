"""Disputes, candidates and projects as plain text for a terminal. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from benchmark.label_quality.annotation import MIN_PAIRS_DISCLOSED
from common.text import pluralize
from storage.clock import iso

if TYPE_CHECKING:  # the actions import this module
    from review.answers import ShownPair
    from review.candidates import Proposed
    from review.disputes import DisputedItem
    from review.projects import ProjectReport

SAID = {
    "a": "A is better",
    "b": "B is better",
    "equal": "both are equally good",
    "both-wrong": "both are wrong",
    "bad-item": "the pair is unusable",
}


def votes(counts: tuple[int, int, int]) -> str:
    """Return how the entries on the board voted."""
    a, b, undecided = counts
    return f"{a} judges prefer A, {b} prefer B, {undecided} are undecided"


def disputed(found: Sequence[DisputedItem]) -> str:
    """Return an item a paragraph."""
    lines = []
    for item in found:
        lines.append(f"{item.name}  {item.item}  ({votes(item.votes)})")
        for one in item.disputes:
            tag = f" ({one.tag})" if one.tag else ""
            lines.append(f"  {one.id}  {one.state}  {iso(one.created_at)}  {one.account}: {SAID[one.better]}{tag}")
            lines.append(f"      {one.reason}")
            lines += [f"      {one.decided_by}: {one.note}"] if one.note else []
    return "\n".join(lines) or "Nothing is disputed."


def candidates(found: Proposed) -> str:
    """Return an item a line, after how it was found."""
    if found.facts is None:
        return "Never looked for: `candidates find` does."
    lines = [candidate_facts(found.facts)]
    return "\n".join([*lines, *(f"{one.name}  {one.item}  ({votes(one.votes)})" for one in found.items)])


def candidate_facts(facts: Mapping[str, Any]) -> str:
    """Return how the list came about."""
    return (
        f"{facts['candidates']} candidates among {facts['looked_at']} items of revision {facts['revision']}, "
        f"from {facts['judges']} judges."
    )


def projects(found: Sequence[ProjectReport]) -> str:
    """Return a project a paragraph."""
    lines = []
    for report in found:
        one = report.project
        state = f"closed {iso(one.closed_at)} by {one.closed_by}" if one.closed_at is not None else "open"
        lines.append(
            f"{one.id}  {one.name}: {pluralize(one.items, 'pair')}, from {one.base_revision}, {state}: {one.reason}"
        )
        lines += [f"  {user.name} ({user.account}): {user.answered} of {one.items}" for user in report.progress]
        lines += [f"  {line}" for line in agreements(report)]
        lines += [f"  {draft(report)}"] if report.draft else []
    return "\n".join(lines) or "There are no projects."


def pair(shown: ShownPair) -> str:
    """Return a pair of a project as an annotator sees it; of the image its address."""
    lines = [f"Pair {shown.place} of {shown.items}"]
    if shown.question is None or shown.responses is None:
        lines.append("This installation has no texts: ITEMS_FILE names them.")
    else:
        lines.append(f"Image: {shown.image}" if shown.image else "There is no image here.")
        lines.append(f"\nQuestion\n{_for_terminal(shown.question)}")
        models = shown.models or ("", "")
        for place, response, model in zip(("First", "Second"), shown.responses, models, strict=True):
            lines.append(f"\n{place}{f' ({_for_terminal(model)})' if model else ''}\n{_for_terminal(response)}")
    said = shown.said
    if said is None:
        return "\n".join([*lines, "\nNot answered yet."])
    rest = [", ".join(said.errors), said.note]
    return "\n".join([*lines, f"\nYour answer: {'; '.join(filter(None, (said.verdict, *rest)))}"])


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
