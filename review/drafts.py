"""Requests for a draft revision: a base revision with changes. Only the worker changes labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from maintenance.action_context import ActionContext
from maintenance.actions import labels
from maintenance.request_task import request_task
from storage.database import Session

DRAFT = "labels.draft"


def request(
    session: Session, ctx: ActionContext, *, revision: str, base: str, reason: str, params: Mapping[str, Any]
) -> tuple[int, bool]:
    """Return the task that writes a draft of `base`: its number, and whether it is new. Raises NotFound, Conflict.

    `params`: where its changes come from, and the disclosure level that was stated.
    """
    labels.check_usable(session, ctx.benchmark, revision=base)
    labels.check_new(session, ctx.benchmark, revision=revision)
    more = {"params": {"base": base, **params}, "reason": reason}
    return request_task(ctx, session, kind=DRAFT, subject=revision, **more)
