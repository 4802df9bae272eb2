"""Actions about incidents: open, update, close. The public status page shows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from maintenance.action_context import ActionContext
from maintenance.registry import ParamInfo, RowNumber, action
from maintenance.types import ActionResult, Conflict, NotFound, clean_reason, require_maintainer
from operation import incidents
from operation.incidents import Incident
from storage.clock import iso
from storage.database import Database
from storage.integrity import audit
from vlrb.common.messages import _, joined

IncidentText = Annotated[str, ParamInfo(help="what does not work, and since when")]
UpdateText = Annotated[str, ParamInfo("What is known by now", help="what is known by now")]


def as_text(result: Sequence[Incident]) -> str:
    """Return one line an incident."""
    lines = [
        _(
            "{number}  {state}  {at}  {title}",
            number=incident.number,
            state=_("open") if incident.closed_at is None else _("closed"),
            at=iso(incident.opened_at),
            title=incident.title,
        )
        for incident in result
    ]
    return joined(lines, "\n") or _("No incident was reported.")


@action(
    "incidents.list",
    "GET /api/v1/maintenance/incidents",
    help="the newest incidents",
    text=as_text,
)
def newest(ctx: ActionContext) -> list[Incident]:
    """Return the newest incidents. For maintainers; the status page shows the same to everybody."""
    require_maintainer(ctx.user)
    return listing(ctx.database)


@action(
    "incidents.open",
    "POST /api/v1/maintenance/incidents",
    help="announce an incident",
    audit=incidents.OPENED,
    button="Announce an incident",
)
def open_incident(ctx: ActionContext, text: IncidentText) -> ActionResult:
    """Tell everybody about an incident. For maintainers."""
    require_maintainer(ctx.user)
    sentence = clean_reason(text, "text")
    with ctx.database.write() as session:
        by = {"by": ctx.user.account, "via": ctx.user.auth_method}
        seq = audit.append(session, incidents.OPENED, data={"text": sentence, **by})
    return ActionResult(
        True, _("Incident {seq} is on /status. Close it with: incidents close {seq} ...", seq=seq), seq=seq
    )


@action(
    "incidents.update",
    "POST /api/v1/maintenance/incidents/{number}/update",
    help="add to an open incident",
    audit=incidents.UPDATED,
    button="Add to the incident",
)
def update_incident(ctx: ActionContext, number: RowNumber, *, text: UpdateText) -> ActionResult:
    """Add to an open incident. For maintainers. Raises NotFound, Conflict."""
    return _add(ctx, number, text=text, kind=incidents.UPDATED)


@action(
    "incidents.close",
    "POST /api/v1/maintenance/incidents/{number}/close",
    help="close an incident",
    audit=incidents.CLOSED,
    button="Close the incident",
)
def close_incident(ctx: ActionContext, number: RowNumber, *, text: UpdateText) -> ActionResult:
    """End an incident. For maintainers. Raises NotFound, Conflict."""
    return _add(ctx, number, text=text, kind=incidents.CLOSED)


def _add(ctx: ActionContext, number: int, *, text: str, kind: str) -> ActionResult:
    require_maintainer(ctx.user)
    sentence = clean_reason(text, "text")
    with ctx.database.write() as session:
        audit.acquire_chain_lock(session)
        known = {incident.number: incident for incident in incidents.recent(session)}
        if number not in known:
            raise NotFound(_("There is no incident {number}.", number=number))
        if known[number].closed_at is not None:
            raise Conflict("incident-closed", _("Incident {number} is closed. Open another one.", number=number))
        by = {"by": ctx.user.account, "via": ctx.user.auth_method}
        seq = audit.append(session, kind, data={"incident": number, "text": sentence, **by})
    return ActionResult(
        True,
        _(
            "Incident {number} is {state}.",
            number=number,
            state=_("closed") if kind == incidents.CLOSED else _("updated"),
        ),
        seq=seq,
    )


def listing(database: Database) -> list[Incident]:
    """Return the newest incidents. For everybody."""
    with database.read() as session:
        return incidents.recent(session)
