"""Anomaly cases as plain text and as data. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from storage.anomalies import AnomalyRow
from storage.clock import iso

if TYPE_CHECKING:  # the actions import this module
    from maintenance.actions.anomalies import AnomalyList

NOTHING = "Nothing is suspicious."


def sentence(anomaly: AnomalyRow) -> str:
    """Return the evidence in numbers."""
    facts = anomaly.evidence
    if anomaly.kind == "above-best-known":
        return f"overall {_percent(facts['overall'])}, best known before {_percent(facts['best_known'])}" + (
            "" if facts["best_is"] == "reported" else f" ({facts['best_is']})"
        )
    if anomaly.kind == "near-equal-categories":
        return ", ".join(f"{name} {_percent(value)}" for name, value in facts.items())
    if anomaly.kind == "identical-texts":
        share = _percent(facts["items_with_identical_texts"])
        return f"all {facts['votes_per_item']} texts are the same on {share} of the pairs"
    if anomaly.kind == "empty-texts":
        return f"{_percent(facts['empty_texts'])} of the texts are empty"
    if anomaly.kind == "public-labels":
        return (
            f"{_percent(facts['equal'])} of {facts['pairs_decided']:,} decided pairs equal the public labels "
            f"{anomaly.subject}; runs {facts['runs_below_chance_sd']:g} standard deviations fewer than by chance"
        )
    more = facts["entries_that_near"] - 1
    return (
        f"other majority verdicts than {anomaly.subject} "
        f"on {facts['items_that_differ']:,} of {facts['items']:,} pairs, "
        f"{'the same account' if facts['same_account'] else 'another account'}"
        + (f"; {more} more entries are that near" if more else "")
    )


def as_text(anomaly_list: AnomalyList) -> str:
    """Return one line each, the alarm last."""
    busy = anomaly_list.alarm
    lines = [
        f"{case.id}  {iso(case.found_at)}  {entry_name(case)}  {case.kind}: {sentence(case)}{end(case)}"
        for case in anomaly_list.cases
    ]
    return "\n".join([*(lines or [NOTHING]), f"{'ALARM: ' if busy.raised else ''}{busy.sentence}"])


def as_data(anomaly_list: AnomalyList) -> dict[str, Any]:
    """For programs."""
    busy = anomaly_list.alarm
    rows = [
        {
            **case._asdict(),
            "found_at": iso(case.found_at),
            "decided_at": None if case.decided_at is None else iso(case.decided_at),
        }
        for case in anomaly_list.cases
    ]
    return {
        "suspicions": rows,
        "unapproved_accounts": {"scored": busy.scored, "accounts": busy.accounts},
        "probing_accounts": {"scored": busy.probes, "accounts": busy.probers},
        "alarm": busy.raised,
    }


def entry_name(anomaly: AnomalyRow) -> str:
    """Return the entry as people call it."""
    return f"{anomaly.entry} {anomaly.model} {anomaly.version}".strip()


def end(anomaly: AnomalyRow) -> str:
    """Return what was decided, after a dash; empty while the case is open."""
    return f" - {anomaly.decision}: {anomaly.reason}" if anomaly.decision else ""


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"
