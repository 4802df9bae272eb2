"""Requests for a draft revision: a base revision with changes. Only the worker changes labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from maintenance.action_context import ActionContext
from maintenance.actions import labels
from maintenance.actions.labels import DisclosureLevel
from maintenance.database import queries
from maintenance.request_task import request_task
from maintenance.types import Conflict, NotFound
from storage.database import Session

DRAFT = "labels.draft"


@dataclass(frozen=True, slots=True)
class DraftRequest:
    """A draft of `base` under a new name. `source`: where its changes come from. `level`: "" is that of the base."""

    revision: str
    base: str
    reason: str
    source: Mapping[str, Any]
    level: DisclosureLevel


def check_base(session: Session, benchmark: str, *, base: str) -> None:
    """Raise NotFound where there is no such label revision, Conflict where it is retired."""
    result = queries.revision(session, benchmark, name=base)
    if result is None:
        raise NotFound(f"There is no label revision {base[:40]!r}.")
    if result.retired_at is not None:  # counts against labels that are public would tell those of the draft
        raise Conflict("retired", f"Revision {base} is retired: its labels may be public; choose another base.")


def request(session: Session, ctx: ActionContext, *, draft: DraftRequest) -> tuple[int, bool]:
    """Return the task that writes the draft: its number, and whether it is new. Raises NotFound, Conflict."""
    disclosure = draft.level.stated(usual="")
    check_base(session, ctx.benchmark, base=draft.base)
    labels.check_new(session, ctx.benchmark, revision=draft.revision)
    params: dict[str, Any] = {"base": draft.base, "disclosure": disclosure, **draft.source}
    return request_task(ctx, session, kind=DRAFT, subject=draft.revision, params=params, reason=draft.reason)
