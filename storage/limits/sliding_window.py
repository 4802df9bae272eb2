"""Sliding-window rate limits, counted from recorded times. Pure.

Owner edits create an audit event and a snapshot that are never deleted, so they are rate limited (20 per 24 h).
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from common.refused import Refused
from storage.clock import iso, minute
from vlrb.common.messages import _

DAY = 86_400.0  # seconds
CHANGES_A_DAY = 20
"""Limit on an account's changes in 24 hours: of descriptions, and of the day until which an entry is anonymous."""


class RateLimited(Refused):
    """Something was done as often as it may be; `next_at` (seconds since 1970 UTC) is when it may be again."""

    status, code = 429, "too-many-changes"

    def __init__(self, what: str, next_at: float, *, now: float) -> None:
        self.next_at, self.seconds = math.ceil(next_at), math.ceil(next_at - now)
        message = _(
            "{what} can be changed {times} times in 24 hours. The next change is possible from {at}.",
            what=what,
            times=CHANGES_A_DAY,
            at=minute(self.next_at),
        )
        super().__init__(message, next_at=iso(self.next_at), retry_after=self.seconds)


def check(what: str, times: Iterable[float], *, now: float) -> None:
    """Raise RateLimited where there is no room for another change; `times`: of the earlier ones (seconds since
    1970)."""
    next_at = next_allowed_at(times, CHANGES_A_DAY, window=DAY, now=now)
    if next_at is not None:
        raise RateLimited(what, next_at, now=now)


def next_allowed_at(times: Iterable[float], limit: int, *, window: float, now: float) -> float | None:
    """Return when fewer than `limit` (0: any number) of the times lie in the window before; None: they do now. In
    seconds."""
    inside = sorted((at for at in times if at > now - window), reverse=True)
    return inside[limit - 1] + window if limit and len(inside) >= limit else None
