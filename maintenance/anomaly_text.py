"""Anomaly cases as plain text and as data. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from storage.anomalies import AnomalyRow
from storage.clock import iso

if TYPE_CHECKING:  # the actions import this module
    from maintenance.actions.anomalies import AnomalyList

NOTHING = "Nothing is suspicious."


def sentence(one: AnomalyRow) -> str:
    """Return the evidence in numbers."""
    facts = one.evidence
    if one.kind == "above-best-known":
        return f"overall {_percent(facts['overall'])}, best known before {_percent(facts['best_known'])}" + (
            "" if facts["best_is"] == "reported" else f" ({facts['best_is']})"
        )
    if one.kind == "near-equal-categories":
        return ", ".join(f"{name} {_percent(value)}" for name, value in facts.items())
    if one.kind == "identical-texts":
        share = _percent(facts["items_with_identical_texts"])
        return f"all {facts['votes_per_item']} texts are the same on {share} of the pairs"
    if one.kind == "empty-texts":
        return f"{_percent(facts['empty_texts'])} of the texts are empty"
    if one.kind == "public-labels":
        return (
            f"{_percent(facts['equal'])} of {facts['pairs_decided']:,} decided pairs equal the public labels "
            f"{one.subject}; runs {facts['runs_below_chance_sd']:g} standard deviations fewer than by chance"
        )
    more = facts["entries_that_near"] - 1
    return (
        f"other majority verdicts than {one.subject} on {facts['items_that_differ']:,} of {facts['items']:,} pairs, "
        f"{'the same account' if facts['same_account'] else 'another account'}"
        + (f"; {more} more entries are that near" if more else "")
    )


def as_text(found: AnomalyList) -> str:
    """Return one line each, the alarm last."""
    busy = found.alarm
    lines = [
        f"{one.id}  {iso(one.found_at)}  {entry_name(one)}  {one.kind}: {sentence(one)}{end(one)}"
        for one in found.cases
    ]
    return "\n".join([*(lines or [NOTHING]), f"{'ALARM: ' if busy.raised else ''}{busy.sentence}"])


def as_data(found: AnomalyList) -> dict[str, Any]:
    """For programs."""
    busy = found.alarm
    rows = [
        {
            **one._asdict(),
            "found_at": iso(one.found_at),
            "decided_at": None if one.decided_at is None else iso(one.decided_at),
        }
        for one in found.cases
    ]
    return {
        "suspicions": rows,
        "unapproved_accounts": {"scored": busy.scored, "accounts": busy.accounts},
        "probing_accounts": {"scored": busy.probes, "accounts": busy.probers},
        "alarm": busy.raised,
    }


def entry_name(one: AnomalyRow) -> str:
    """Return the entry as people call it."""
    return f"{one.entry} {one.model} {one.version}".strip()


def end(one: AnomalyRow) -> str:
    """Return what was decided, after a dash; empty while the case is open."""
    return f" - {one.decision}: {one.reason}" if one.decision else ""


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"
