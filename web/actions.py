"""Registered maintainer actions of the installation. The web process and the command line share the list."""

from __future__ import annotations

from collections.abc import Mapping

from maintenance.actions import (
    account_search,
    anomalies,
    approvals,
    audit,
    bans,
    editions,
    entries,
    entry_search,
    incidents,
    labels,
    operations,
    pools,
    quota_grants,
    reported,
    rescoring,
    task_retry,
)
from maintenance.registry import ActionRegistry
from review.actions import (
    adjudication,
    agreement_report,
    answers,
    candidates,
    disputes,
    gold,
    individual_labels,
    pool_projects,
    projects,
)

MODULES = (
    entries,
    entry_search,
    labels,
    rescoring,
    audit,
    approvals,
    anomalies,
    reported,
    quota_grants,
    operations,
    task_retry,
    bans,
    incidents,
    account_search,
    disputes,
    candidates,
    projects,
    gold,
    adjudication,
    agreement_report,
    individual_labels,
    answers,
    pools,
    pool_projects,
    editions,
)
AREAS: Mapping[str, str] = {
    "entries": "decide about entries",
    "labels": "label revisions",
    "rescore": "score entries under another label revision",
    "audit": "the audit chain",
    "approvals": "first submissions that wait for a maintainer",
    "suspicions": "entries that somebody should look at; private",
    "reported": "results published elsewhere",
    "quota": "submissions beyond the quota",
    "incidents": "what the public status page tells of",
    "accounts": "who has signed in here",
    "disputes": "labels that somebody disputes",
    "candidates": "pairs whose label the strongest judges contradict",
    "verification": "labels that people verify by hand",
    "pools": "candidates for a next edition",
    "editions": "editions made of verified candidates",
}
ACTIONS = ActionRegistry.of(MODULES, AREAS)
