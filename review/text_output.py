"""Disputes, candidates and projects as plain text for a terminal. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from storage.clock import iso
from vlrb.common.messages import _, joined, ngettext
from vlrb.label_quality.annotation import GOLD_MINIMUM, MIN_PAIRS_DISCLOSED

if TYPE_CHECKING:  # the actions import this module
    from review.actions.answers import ShownPair
    from review.actions.candidates import Proposed
    from review.actions.decisions import PairDecision
    from review.actions.disputes import DisputedItem
    from review.actions.projects import AnnotatorProgress, ProjectReport
    from review.given_answers import GivenAnswer

ANSWER_TEXTS = {
    "a": _("A is better"),
    "b": _("B is better"),
    "equal": _("both are equally good"),
    "both-wrong": _("both are wrong"),
    "bad-item": _("the pair is unusable"),
}


def votes(counts: tuple[int, int, int]) -> str:
    """Return how the entries on the board voted."""
    a, b, undecided = counts
    return _("{a} judges prefer A, {b} prefer B, {undecided} are undecided", a=a, b=b, undecided=undecided)


def disputed(disputed_items: Sequence[DisputedItem]) -> str:
    """Return an item a paragraph."""
    lines = []
    for item in disputed_items:
        lines.append(_judged_item(item.name, item.item, counts=item.votes))
        for dispute in item.disputes:
            tag = f" ({dispute.tag})" if dispute.tag else ""
            lines.append(
                joined(("", str(dispute.id), _(dispute.state), iso(dispute.created_at), dispute.account), "  ")
                + joined((": ", ANSWER_TEXTS[dispute.better], tag), "")
            )
            lines.append(f"      {dispute.reason}")
            lines += [f"      {dispute.decided_by}: {dispute.note}"] if dispute.note else []
    return joined(lines, "\n") or _("Nothing is disputed.")


def candidates(proposed: Proposed) -> str:
    """Return an item a line, after how it was found."""
    if proposed.facts is None:
        return _("Never looked for: `candidates find` does.")
    lines = [candidate_facts(proposed.facts)]
    return joined([*lines, *(_judged_item(item.name, item.item, counts=item.votes) for item in proposed.items)], "\n")


def _judged_item(name: str, key: str, *, counts: tuple[int, int, int]) -> str:
    return _("{name}  {key}  ({votes})", name=name, key=key, votes=votes(counts))


def candidate_facts(facts: Mapping[str, Any]) -> str:
    """Return how the list came about."""
    return _(
        "{candidates} candidates among {looked_at} pairs of revision {revision}, from {judges} judges.",
        candidates=facts["candidates"],
        looked_at=facts["looked_at"],
        revision=facts["revision"],
        judges=facts["judges"],
    )


def projects(project_reports: Sequence[ProjectReport]) -> str:
    """Return a project a paragraph."""
    lines: list[str] = []
    for report in project_reports:
        project = report.project
        state = (
            _("closed {at} by {closed_by}", at=iso(project.closed_at), closed_by=project.closed_by)
            if project.closed_at is not None
            else _("open")
        )
        lines.append(
            _(
                "{id}  {name}: {count}, from {origin}, {state}: {reason}",
                id=project.id,
                name=project.name,
                count=ngettext("{n:,} pair", "{n:,} pairs", project.items),
                origin=project.base_revision or _("a file"),
                state=state,
                reason=project.reason,
            )
        )
        lines += [
            _(
                "  {name} ({account}): {progress} of {items}",
                name=user.name,
                account=user.account,
                progress=progress(user),
                items=project.items,
            )
            for user in report.progress
        ]
        lines += ["  " + states(report)]
        lines += ["  " + line for line in agreements(report)]
        lines += ["  " + draft(report)] if report.draft else []
    return joined(lines, "\n") or _("There are no projects.")


def progress(user: AnnotatorProgress) -> str:
    """Return how much an annotator has answered, and how well gold pairs among it."""
    if not user.gold:
        return str(user.answered)
    mark = _(", below {gold_minimum:.0f}%", gold_minimum=100 * GOLD_MINIMUM) if user.below_gold_minimum else ""
    return _(
        "{answered} (gold {gold_right} of {gold} right{mark})",
        answered=user.answered,
        gold_right=user.gold_right,
        gold=user.gold,
        mark=mark,
    )


def decisions(pairs: Sequence[PairDecision]) -> str:
    """Return a pair a line."""
    return joined((_decision(pair) for pair in pairs), "\n")


def _decision(pair: PairDecision) -> str:
    answers = ", ".join(f"{verdict} {number}" for verdict, number in pair.answers.items())
    return "  ".join(filter(None, (pair.state, pair.verdict or "-", str(pair.place), pair.name, pair.item, answers)))


def states(report: ProjectReport) -> str:
    """Return how many pairs are gold, decided, agreed, contested and open."""
    return ", ".join(f"{_(state)} {number}" for state, number in report.states.items() if number)


def pair(shown_pair: ShownPair) -> str:
    """Return a pair of a project as an annotator sees it; of the image its address."""
    said = shown_pair.said
    own = _("Not answered yet.") if said is None else joined((_("Your answer"), ": ", _answer_text(said)), "")
    return joined([*_content(shown_pair, shown_pair.models or ("", "")), "", own], "\n")


def _content(shown_pair: ShownPair, models: tuple[str, str]) -> list[str]:
    lines: list[str] = [_("Pair {place} of {items}", place=shown_pair.place, items=shown_pair.items)]
    if shown_pair.question is None or shown_pair.responses is None:
        lines.append(_("This installation has no texts: ITEMS_FILE names them."))
    else:
        lines.append(_("Image: {image}", image=shown_pair.image) if shown_pair.image else _("There is no image here."))
        lines += ["", _("Question"), _for_terminal(shown_pair.question)]
        for place, response, model in zip((_("First"), _("Second")), shown_pair.responses, models, strict=True):
            lines += ["", place + f" ({_for_terminal(model)})" if model else place, _for_terminal(response)]
    return lines


def _answer_text(given_answer: GivenAnswer) -> str:
    return "; ".join(filter(None, (given_answer.verdict, ", ".join(given_answer.errors), given_answer.note)))


def _for_terminal(text: str) -> str:
    """Without what would command the terminal."""
    return "".join(character if character.isprintable() or character == "\n" else " " for character in text)


def agreements(report: ProjectReport) -> list[str]:
    """Return every two annotators."""
    names = {user.account: user.name for user in report.progress}
    return [
        _(
            "{first} and {second}: {same} of {items} the same, kappa {kappa}",
            first=names[agreement.first],
            second=names[agreement.second],
            same=agreement.same,
            items=agreement.items,
            kappa=_("undefined") if agreement.kappa is None else f"{agreement.kappa:.2f}",
        )
        for agreement in report.agreement
    ]


def draft(report: ProjectReport) -> str:
    """Return what the worker counted."""
    if report.result is None:
        return _("draft {draft}: not written yet", draft=report.draft)
    counted, agreed = report.result["proposals"], report.result.get("agreement") or {}
    text = _(
        "draft {draft}: {dropped} dropped, {undecided} undecided, ",
        draft=report.draft,
        dropped=counted["dropped"],
        undecided=counted["undecided"],
    )
    if counted["flipped"] is None:
        return _(
            "{text}the others are too few to show how many flipped (from {min_pairs_disclosed} on)",
            text=text,
            min_pairs_disclosed=MIN_PAIRS_DISCLOSED,
        )
    text += _("{flipped} flipped, {as_it_is} as they were", flipped=counted["flipped"], as_it_is=counted["as_it_is"])
    if agreed.get("share") is None:  # a draft of disputes
        return text
    return _(
        "{text}; {share:.1f}% of {pairs} agree with {base}",
        text=text,
        share=100 * agreed["share"],
        pairs=agreed["pairs"],
        base=report.result["base"],
    )
