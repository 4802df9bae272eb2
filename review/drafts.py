"""Requests for a draft revision: a base revision with changes. Only the worker changes labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from maintenance import queries
from maintenance.actions import labels
from maintenance.request_task import request_task
from maintenance.types import Conflict, Identity, NotFound
from storage.tasks import TaskRequest

DRAFT = "labels.draft"


def check_base(session: Any, benchmark: str, base: str) -> None:
    """Raise NotFound where there is no such label revision, Conflict where it is retired."""
    found = next((one for one in queries.revisions(session, benchmark) if one.revision == base), None)
    if found is None:
        raise NotFound(f"There is no label revision {base[:40]!r}.")
    if found.retired_at is not None:  # counts against labels that are public would tell those of the draft
        raise Conflict("retired", f"Revision {base} is retired: its labels may be public; choose another base.")


def request(
    session: Any,
    user: Identity,
    benchmark: str,
    revision: str,
    base: str,
    reason: str,
    said: Mapping[str, Any],
    *,
    disclosure: str,
    accept_weak_hiding: bool,
) -> tuple[int, bool]:
    """Return the task that writes draft `revision`: its number, and whether it is new. `said`: source of the changes.

    `disclosure`: what may be shown of its scores; "" is what may be shown of the base's, which the worker knows.

    Raises NotFound, Conflict.
    """
    check_base(session, benchmark, base)
    labels.check_new(session, benchmark, revision)
    params: dict[str, Any] = {"base": base, "disclosure": disclosure, **said}
    params |= {"accept_weak_hiding": True} if accept_weak_hiding else {}
    return request_task(session, TaskRequest(DRAFT, revision, params, reason, user.account, benchmark))
