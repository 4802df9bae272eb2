"""Requests for a draft revision: a base revision with changes. Only the worker changes labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from maintenance.action_context import ActionContext
from maintenance.actions import labels
from maintenance.database import queries
from maintenance.request_task import request_task
from maintenance.types import Conflict, NotFound
from storage.database import Session

DRAFT = "labels.draft"


def check_base(session: Session, benchmark: str, *, base: str) -> None:
    """Raise NotFound where there is no such label revision, Conflict where it is retired."""
    result = queries.revision(session, benchmark, name=base)
    if result is None:
        raise NotFound(f"There is no label revision {base[:40]!r}.")
    if result.retired_at is not None:  # counts against labels that are public would tell those of the draft
        raise Conflict("retired", f"Revision {base} is retired: its labels may be public; choose another base.")


def request(
    session: Session, ctx: ActionContext, *, revision: str, base: str, reason: str, params: Mapping[str, Any]
) -> tuple[int, bool]:
    """Return the task that writes a draft of `base`: its number, and whether it is new. Raises NotFound, Conflict.

    `params`: where its changes come from, and the disclosure level that was stated.
    """
    check_base(session, ctx.benchmark, base=base)
    labels.check_new(session, ctx.benchmark, revision=revision)
    more = {"params": {"base": base, **params}, "reason": reason}
    return request_task(ctx, session, kind=DRAFT, subject=revision, **more)
