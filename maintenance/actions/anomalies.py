"""Use cases about anomaly cases. A case is a number beside a limit; a person decides what follows."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from benchmark.anomalies import PROBES_FROM, PROBING_FROM, is_probe, is_probing
from benchmark.scoring import FIELDS, LENGTHS
from common.messages import _, ngettext
from maintenance import anomaly_text
from maintenance.action_context import ActionContext
from maintenance.registry import ParamInfo, Reason, action
from maintenance.types import ActionResult, NotFound, clean_reason, require_maintainer, whole_number
from storage import anomalies
from storage.anomalies import AnomalyRow
from storage.database import LARGEST
from storage.integrity import audit
from storage.labels.label_imports import hidden_in
from storage.models.anomalies import ACTED, DISMISSED

_DAY = 86_400.0
DECIDED, RESET = "suspicion.decided", "suspicions.reset"
ALARM_DAYS = 30
PATIENT_DAYS = 365  # over which probes are counted, which can wait
ALARM_FROM = 60
"""Scored submissions in ALARM_DAYS of accounts that no maintainer has approved: five accounts that each use up their
year, one submission a day, come to that, and pooled they learn as much of the labels as may be (docs/security.md)."""

SuspicionNumber = Annotated[int, Field(ge=0, le=LARGEST), ParamInfo("No.", "of the suspicion", read=whole_number)]
Decided = Annotated[bool, ParamInfo(option="--all", help="include closed ones")]


@dataclass(frozen=True, slots=True)
class AnomalyList:
    """Anomaly cases, the newest first, and how busy unapproved accounts are."""

    cases: tuple[AnomalyRow, ...]
    alarm: Alarm


@dataclass(frozen=True, slots=True)
class Alarm:
    """Recent scored submissions of unapproved accounts, and those of a year from accounts that keep sending
    what chance could have answered, or files with few votes where labels are hidden, known or not."""

    scored: int
    accounts: int
    probes: int = 0
    probers: int = 0

    @property
    def raised(self) -> bool:
        """Return whether the counts reach an alarm."""
        return self.scored >= ALARM_FROM or self.probes >= PROBING_FROM

    @property
    def sentence(self) -> str:
        """In words."""
        return _(
            "{submissions} of {accounts} that nobody has approved, scored in the last {alarm_days} days (alarm from "
            "{alarm_from}). In the last {patient_days} days {probes} at chance level, or with few votes where labels "
            "are hidden, of {probers} with {probes_from} or more (alarm from {probing_from}).",
            submissions=ngettext("{n:,} submission", "{n:,} submissions", self.scored),
            accounts=_accounts(self.accounts),
            alarm_days=ALARM_DAYS,
            alarm_from=ALARM_FROM,
            probes=self.probes,
            patient_days=PATIENT_DAYS,
            probers=_accounts(self.probers),
            probes_from=PROBES_FROM,
            probing_from=PROBING_FROM,
        )


def _accounts(count: int) -> str:
    return ngettext("{n:,} account", "{n:,} accounts", count)


@action(
    "suspicions.list",
    "GET /api/v1/maintenance/suspicions",
    text=anomaly_text.as_text,
    json=anomaly_text.as_data,
    help="open suspicions, and how busy unknown accounts are",
)
def listing(ctx: ActionContext, decided: Decided = False) -> AnomalyList:
    """Return open (and, with `decided`, closed) cases in numbers, with the submissions of unapproved accounts. For
    maintainers."""
    require_maintainer(ctx.user)
    with ctx.database.read() as session:
        result = anomalies.list_anomalies(session, ctx.benchmark, decided=decided)
    return AnomalyList(tuple(result), alarm(ctx))


@action(
    "suspicions.dismiss",
    "POST /api/v1/maintenance/suspicions/{suspicion}/dismiss",
    help="close one: there is nothing in it",
    audit=DECIDED,
    button="Dismiss",
)
def dismiss(ctx: ActionContext, suspicion: SuspicionNumber, *, reason: Reason) -> ActionResult:
    """Close a case without consequence. For maintainers."""
    return _decide(ctx, suspicion, decision=DISMISSED, reason=reason)


@action(
    "suspicions.act",
    "POST /api/v1/maintenance/suspicions/{suspicion}/act",
    audit=DECIDED,
    help="close one: something was done, which the reason says",
    button="Close as acted on",
)
def resolve(ctx: ActionContext, suspicion: SuspicionNumber, *, reason: Reason) -> ActionResult:
    """Close a case on which you acted; the reason says how. Hiding, withdrawing and banning are separate. For
    maintainers."""
    return _decide(ctx, suspicion, decision=ACTED, reason=reason)


@action(
    "suspicions.again",
    "POST /api/v1/maintenance/suspicions/again",
    audit=RESET,
    help="have a worker look at every entry again",
    button="Look at every entry again",
)
def rescan(ctx: ActionContext, reason: Reason) -> ActionResult:
    """Have a worker check every entry again; decisions stay. For maintainers."""
    require_maintainer(ctx.user)
    why = clean_reason(reason)
    with ctx.database.write() as session:
        gone = anomalies.reset(session)
        seq = audit.append(
            session, RESET, data={"open": gone, "reason": why, "by": ctx.user.account, "via": ctx.user.auth_method}
        )
    return ActionResult(True, _("A worker looks at every entry again."), seq=seq)


def alarm(ctx: ActionContext) -> Alarm:
    """Return the counts of scored submissions for the alarms. For maintainers."""
    require_maintainer(ctx.user)
    with ctx.database.read() as session:
        busy = anomalies.account_activity(session, ALARM_DAYS * _DAY)
        probes = {
            (outcome.owner, outcome.submission)
            for outcome in anomalies.outcomes(session, PATIENT_DAYS * _DAY, least=PROBES_FROM)
            if is_probe(
                *_decided(outcome.tally), abstaining=outcome.abstaining, limit=_abstaining_limit(outcome.policy)
            )
        }
    return Alarm(*busy, *is_probing(Counter(owner for owner, _ in probes)))


def _abstaining_limit(policy: Mapping[str, Any]) -> float | None:
    """Return the share of missing votes from which a file is a probe, by the rules that it was submitted under."""
    limit: float | None = policy.get("abstaining_probe_from")
    return limit if hidden_in(policy) else None


def _decided(tally: str) -> tuple[int, int]:
    """(agree, reject) over all items."""
    by_length = np.array(json.loads(tally)["counts"][-len(LENGTHS) :])  # each item is in one of these cells
    agree, reject = (int(by_length[:, FIELDS.index(name)].sum()) for name in ("agree", "reject"))
    return agree, reject


def _decide(ctx: ActionContext, suspicion: int, *, decision: str, reason: str) -> ActionResult:
    require_maintainer(ctx.user)
    why = clean_reason(reason)
    with ctx.database.write() as session:
        changed = anomalies.decide(session, suspicion, decision=decision, reason=why, account=ctx.user.account)
        if changed is None:
            raise NotFound(_("There is no suspicion {suspicion}.", suspicion=suspicion))
        if not changed:
            return ActionResult(False, _("Suspicion {suspicion} is closed already.", suspicion=suspicion))
        facts = {
            "suspicion": suspicion,
            "decision": decision,
            "reason": why,
            "by": ctx.user.account,
            "via": ctx.user.auth_method,
        }
        seq = audit.append(session, DECIDED, data=facts)
    return ActionResult(
        True, _("Suspicion {suspicion} is closed: {decision}.", suspicion=suspicion, decision=_(decision)), seq=seq
    )
