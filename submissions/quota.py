"""Quota: number of scored submissions per account and organisation, and when the next one is possible. Pure.

Every score is a few bits about hidden labels: one a day and twelve a year keep what an account (or a team of accounts)
can learn near chance. Every attempt is scored under all label revisions in use, and under the next one when that comes,
so all attempts count alike: no revision gives more scores than that. Dry runs are free, because they touch no label.
Accounts are cheap, so an installation may have a maintainer look at the first upload of each.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from auth import Identity
from common.refused import Refused
from storage.clock import iso, minute
from storage.limits.sliding_window import DAY, next_allowed_at
from vlrb.common.messages import _
from vlrb.file_remarks import SAME_SHARE

YEAR = 365 * DAY  # seconds


@dataclass(frozen=True, slots=True)
class QuotaPolicy:
    """Limits of an installation, for each account and each of its organisations. 0 is no limit."""

    per_day: int = 0
    per_year: int = 0
    exempt_organisations: tuple[str, ...] = ()  # names or ids: communities that anybody may join, which are no teams
    label_revision: str = "demo"  # that attempts are numbered for until a worker has said which one the board shows
    approve_first: bool = False  # whether an account's first upload waits for a maintainer

    def limits(self, user: Identity) -> bool:
        """Return whether somebody has a quota. Without sign-in there is nobody to hold one."""
        return user.auth_method != "local" and bool(self.per_day or self.per_year)

    def to_json(self) -> dict[str, Any]:
        """Return it as it is published, and recorded with every submission."""
        return {
            "per_24_hours": self.per_day or None,
            "per_365_days": self.per_year or None,
            "counted_for": ["account", "organisation"],
            "exempt_organisations": list(self.exempt_organisations),
            "first_upload_approved": self.approve_first,
            "baseline_votes_approval_from": SAME_SHARE,
        }


class QuotaUsed(Refused):
    """No scored submission is possible before `next_at` (seconds since 1970 UTC), which is in so many `seconds`."""

    status, code = 429, "quota-used"

    def __init__(self, whose: str, policy: QuotaPolicy, *, next_at: float, now: float) -> None:
        self.next_at, self.seconds = math.ceil(next_at), math.ceil(next_at - now)
        message = _(
            "{whose} has used up its scored submissions ({policy}). The next submission is possible from "
            "{next_at}. Checking files is free at any time.",
            whose=whose,
            policy=policy_from(policy),
            next_at=minute(self.next_at),
        )
        super().__init__(message, next_at=iso(self.next_at), retry_after=self.seconds)


def policy_from(policy: QuotaPolicy) -> str:
    """Return the limits in words."""
    limits = [
        _("{per_day} in 24 hours", per_day=policy.per_day) if policy.per_day else "",
        _("{per_year} in 365 days", per_year=policy.per_year) if policy.per_year else "",
    ]
    return " and ".join(filter(None, limits)) or _("no limit")


def quota_scopes(user: Identity, policy: QuotaPolicy) -> dict[str, str]:
    """Return whose quota an attempt takes from, with a name for people. The account comes first."""
    teams = [
        organisation
        for organisation in user.organisations
        if not any(map(organisation.is_meant, policy.exempt_organisations))
    ]
    return {
        account_subject(user): _("Your account"),
        **{f"organisation:{team.id}": _("Your organisation {shown}", shown=team.shown) for team in teams},
    }


def account_subject(user: Identity) -> str:
    """Return the quota of the account alone."""
    return f"account:{user.account}"


def next_possible(policy: QuotaPolicy, taken: Iterable[float], *, now: float) -> float | None:
    """Return when the next attempt may come; None: now. `taken`: when those were that count. Seconds since 1970 UTC."""
    times = list(taken)
    waits = (
        next_allowed_at(times, policy.per_day, window=DAY, now=now),
        next_allowed_at(times, policy.per_year, window=YEAR, now=now),
    )
    return max(filter(None, waits), default=None)


def require_quota(
    policy: QuotaPolicy, taken: Mapping[str, Iterable[float]], *, names: Mapping[str, str], now: float
) -> None:
    """Raise QuotaUsed for the subject that has to wait longest. `taken` (times), `names`: by subject."""
    waits = {name: next_possible(policy, times, now=now) for name, times in taken.items()}
    waiting = {name: until for name, until in waits.items() if until is not None}
    if waiting:
        longest = max(waiting, key=lambda name: waiting[name])
        raise QuotaUsed(names[longest], policy, next_at=waiting[longest], now=now)
