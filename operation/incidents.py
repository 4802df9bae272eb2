"""Incidents that maintainers tell everybody about: events of the audit chain, shown on /status."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy.orm import Session

from storage.integrity import audit
from storage.integrity.audit import StoredEvent

OPENED, UPDATED, CLOSED = "incident.opened", "incident.updated", "incident.closed"
KINDS = (OPENED, UPDATED, CLOSED)
_EVENTS = 200  # that are read for a page


@dataclass(frozen=True, slots=True)
class IncidentUpdate:
    """Something that was written about an incident."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Incident:
    """An incident; its number is that of the event which opened it."""

    number: int
    title: str
    opened_at: float
    closed_at: float | None
    updates: tuple[IncidentUpdate, ...]  # the newest first


def recent(session: Session) -> list[Incident]:
    """Return the incidents of the newest events, the open ones first, then the newest first."""
    return combined(audit.newest(session, KINDS, limit=_EVENTS))


def combined(events: Iterable[StoredEvent]) -> list[Incident]:
    """Return the incidents that events tell of, given the newest first."""
    updates: dict[int, list[IncidentUpdate]] = {}
    closed: dict[int, float] = {}
    incidents: list[Incident] = []
    for event in events:
        if event.kind == OPENED:
            linked = tuple(updates.get(event.seq, ()))
            incidents.append(
                Incident(
                    event.seq, event.body["text"], opened_at=event.at, closed_at=closed.get(event.seq), updates=linked
                )
            )
            continue
        number = int(event.body["incident"])
        updates.setdefault(number, []).append(IncidentUpdate(event.at, event.body["text"]))
        if event.kind == CLOSED:
            closed[number] = event.at
    return sorted(incidents, key=lambda incident: incident.closed_at is not None)
