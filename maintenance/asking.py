"""Asking the workers for something, in the transaction of the use case that decided it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from maintenance.values import Identity, NotPossible
from storage import tasks
from storage.tasks import TaskInTheWay


def ask(
    session: Any,
    who: Identity,
    kind: str,
    subject: str,
    params: Mapping[str, Any],
    reason: str,
    *,
    scorer_version: str | None = None,
) -> tuple[int, bool]:
    """The task that does it: its number, and whether it is new. Raises NotPossible where another must end first."""
    try:
        return tasks.request(session, kind, subject, params, reason, who.account, scorer_version=scorer_version)
    except TaskInTheWay as busy:
        raise NotPossible("busy", str(busy)) from busy
