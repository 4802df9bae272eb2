"""Use cases of incidents: open, update, close. The public status page shows them."""

from __future__ import annotations

from maintenance.types import ActionResult, Conflict, Identity, NotFound, clean_reason, require_maintainer
from operation import incidents
from operation.incidents import Incident
from storage import audit
from storage.database import Database


def open_incident(database: Database, user: Identity, text: str) -> ActionResult:
    """Tell everybody about an incident. For maintainers."""
    require_maintainer(user)
    said = clean_reason(text, "text")
    with database.write() as session:
        by = {"by": user.account, "via": user.auth_method}
        seq = audit.append(session, incidents.OPENED, {"text": said, **by})
    return ActionResult(True, f"Incident {seq} is on /status. Close it with: incidents close {seq} ...", seq)


def update_incident(database: Database, user: Identity, number: int, text: str, *, close: bool = False) -> ActionResult:
    """Add to an open incident; `close` ends it. For maintainers. Raises NotFound, Conflict."""
    require_maintainer(user)
    said = clean_reason(text, "text")
    with database.write() as session:
        audit.acquire_chain_lock(session)
        known = {incident.number: incident for incident in incidents.recent(session)}
        if number not in known:
            raise NotFound(f"There is no incident {number}.")
        if known[number].closed_at is not None:
            raise Conflict("incident-closed", f"Incident {number} is closed. Open another one.")
        by = {"by": user.account, "via": user.auth_method}
        kind = incidents.CLOSED if close else incidents.UPDATED
        seq = audit.append(session, kind, {"incident": number, "text": said, **by})
    return ActionResult(True, f"Incident {number} is {'closed' if close else 'updated'}.", seq)


def listing(database: Database) -> list[Incident]:
    """Return the newest incidents. For everybody."""
    with database.read() as session:
        return incidents.recent(session)
