"""Anomaly cases as plain text and as data. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from common.messages import _, joined
from common.rounding import percent
from storage.anomalies import AnomalyRow
from storage.clock import iso

if TYPE_CHECKING:  # the actions import this module
    from maintenance.actions.anomalies import AnomalyList

NOTHING = _("Nothing is suspicious.")


def sentence(anomaly: AnomalyRow) -> str:
    """Return the evidence in numbers."""
    facts = anomaly.evidence
    if anomaly.kind == "above-best-known":
        return _(
            "overall {share}, best known before {best}",
            share=_percent(facts["overall"]),
            best=_percent(facts["best_known"]),
        ) + ("" if facts["best_is"] == "reported" else f" ({facts['best_is']})")
    if anomaly.kind == "near-equal-categories":
        return ", ".join(f"{name} {_percent(value)}" for name, value in facts.items())
    if anomaly.kind == "identical-texts":
        share = _percent(facts["items_with_identical_texts"])
        return _(
            "all {votes_per_item} texts are the same on {share} of the pairs",
            votes_per_item=facts["votes_per_item"],
            share=share,
        )
    if anomaly.kind == "empty-texts":
        return _("{share} of the texts are empty", share=_percent(facts["empty_texts"]))
    if anomaly.kind == "public-labels":
        return _(
            "{share} of {pairs_decided:,} decided pairs equal the public labels {subject}; runs "
            "{runs_below_chance_sd:g} standard deviations fewer than by chance",
            share=_percent(facts["equal"]),
            pairs_decided=facts["pairs_decided"],
            subject=anomaly.subject,
            runs_below_chance_sd=facts["runs_below_chance_sd"],
        )
    more = facts["entries_that_near"] - 1
    return _(
        "majority verdicts differ from {subject} on {items_that_differ:,} of {items:,} pairs, {account}",
        subject=anomaly.subject,
        items_that_differ=facts["items_that_differ"],
        items=facts["items"],
        account=_("the same account") if facts["same_account"] else _("another account"),
    ) + (_("; {more} more entries are that near", more=more) if more else "")


def as_text(anomaly_list: AnomalyList) -> str:
    """Return one line each, the alarm last."""
    busy = anomaly_list.alarm
    lines = [
        f"{case.id}  {iso(case.found_at)}  {entry_name(case)}  {case.kind}: {sentence(case)}{end(case)}"
        for case in anomaly_list.cases
    ]
    return joined(
        [*(lines or [NOTHING]), _("ALARM: {sentence}", sentence=busy.sentence) if busy.raised else busy.sentence], "\n"
    )


def as_data(anomaly_list: AnomalyList) -> dict[str, Any]:
    """Return the anomalies as the JSON of REST and of the command line."""
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
    return f"{percent(share)}%"
