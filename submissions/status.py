"""Status of a submission."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from auth import Identity, Role
from storage import visibility
from storage.clock import iso
from storage.database import Database, Session
from storage.jobs import job_queue
from storage.labels.pending_rules import pending_rules
from storage.visibility import PLAIN, EntryVisibility
from submissions import queries, visibility_options
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.messages import _, joined

AWAITING = "awaiting-approval"
NOT_ON_THE_BOARD = (AWAITING, "queued", "scoring", "failed")


@dataclass(frozen=True, slots=True)
class Status:
    """Status of a submission for its submitter."""

    id: str
    model: str  # "" where it must not be shown
    version: str
    file_name: str
    state: str  # awaiting-approval, queued, scoring, scored, failed, withdrawn
    position: int | None  # 1: next; only while queued
    eta_seconds: float | None  # whole ones
    reason: str | None  # in plain words, where something went wrong
    created_at: str  # ISO 8601
    receipt_url: str | None  # the receipt names the account: None for others, where it must not be shown
    attempt: int | None  # attempt number of its account under the label revision of that time
    label_revision: str | None  # those labels
    shown: EntryVisibility

    @property
    def title(self) -> str:
        """Name of the entry."""
        return " ".join(filter(None, (self.model, self.version)))

    @property
    def shown_label(self) -> str:
        """How the entry is not like others, in a few words."""
        until = self.shown.anonymous_until
        anonymous = "" if until is None else _("anonymous until {anonymous_until}", anonymous_until=iso(until)[:10])
        return joined(filter(None, ("" if self.shown.published else _("not published"), anonymous)))

    @property
    def entry_url(self) -> str | None:
        """Return the address of the entry's page, once there is one."""
        return f"/entries/{self.id}" if self.state == "scored" and self.shown.published else None

    def to_json(self) -> dict[str, Any]:
        """`GET /api/v1/submissions/{id}`."""
        until = self.shown.anonymous_until
        return {
            "id": self.id,
            "state": self.state,
            "position": self.position,
            "eta_seconds": self.eta_seconds,
            "reason": self.reason,
            "entry_url": self.entry_url,
            "model": self.model or None,
            "version": self.version,
            "created_at": self.created_at,
            "attempt": self.attempt,
            "published": self.shown.published,
            "anonymous_until": None if until is None else iso(until),
            "receipt_url": self.receipt_url,
        }


def get_status(database: Database, spec: BenchmarkSpec, submission: str, user: Identity) -> Status | None:
    """Return the state of a submission; None if there is no such one that this person may know of."""
    with database.read() as session:
        result = queries.described(session, spec.id, submission=submission)
        if result is None:
            return None
        looked = _look(session, [result], benchmark=spec.id)[0]
        if visibility_options.is_owner(user, result.owner) or Role.MAINTAINER in user.roles:
            return looked
        if not looked.shown.published:
            return None
        kept_back = result.approval not in (None, visibility.APPROVED) or result.hidden_at is not None
        on_its_way = looked.state in NOT_ON_THE_BOARD and user.account != result.owner  # one that everybody has, too
        return _redacted(looked, silent=kept_back or on_its_way)


def get_own(database: Database, benchmark: str, *, submission: str, user: Identity) -> Status | None:
    """Return the state of a submission of one's own; None for anybody else's."""
    with database.read() as session:
        result = queries.described(session, benchmark, submission=submission)
        return (
            _look(session, [result], benchmark=benchmark)[0]
            if result is not None and visibility_options.is_owner(user, result.owner)
            else None
        )


def list_own(database: Database, benchmark: str, *, account: str, most: int = 100) -> list[Status]:
    """Return what an account has submitted, the newest first."""
    with database.read() as session:
        return _look(session, queries.owned(session, benchmark, owner=account, most=most), benchmark=benchmark)


def _redacted(status: Status, *, silent: bool) -> Status:
    """State and times alone (`silent`) of what is not public: pending, rejected, or hidden. Of an anonymous entry
    no receipt, which has a name."""
    if not silent:
        return status if status.shown == PLAIN else replace(status, receipt_url=None)
    about_it = replace(status, model="", version="", file_name="", reason=None)
    return replace(about_it, receipt_url=None, attempt=None, label_revision=None)


def _look(session: Session, submissions: Sequence[queries.SubmissionFacts], *, benchmark: str) -> list[Status]:
    pending = pending_rules(session, benchmark)
    return [_status(facts, job_queue.progress(session, facts.id), pending=pending) for facts in submissions]


def _awaiting(codes: Sequence[str]) -> str:
    """Return why a submission waits, as its submitter reads it."""
    why = visibility.approval_words(codes)
    if not why:
        return _("A maintainer looks at it before any label is touched.")
    return _("A maintainer looks at it before any label is touched: {why}.", why=why)


def _status(facts: queries.SubmissionFacts, progress: job_queue.JobProgress, *, pending: str | None) -> Status:
    """Return the status as its owner sees it. `pending`: what the jobs that wait are waiting for, in no line."""
    state, reason = progress.state, progress.reason
    if pending is not None and state == job_queue.QUEUED:
        progress, reason = job_queue.JobProgress(state, None, eta_seconds=None, reason=pending), pending
    if facts.hidden_at is not None:
        state, reason = "withdrawn", _("A maintainer has hidden this entry.")
    elif facts.withdrawn_reason is not None:
        state, reason = "withdrawn", facts.withdrawn_reason
    elif facts.approval == visibility.REJECTED:
        state, reason = "withdrawn", _("A maintainer rejected it: {why}", why=facts.approval_reason)
    elif facts.approval == visibility.WAITING:
        state, reason = AWAITING, _awaiting(facts.report.get("approval", ()))
    waits = state == progress.state
    return Status(
        id=facts.id,
        model=facts.model,
        version=facts.version,
        file_name=facts.file_name,
        state=state,
        position=progress.position if waits else None,
        eta_seconds=_whole(progress.eta_seconds) if waits else None,
        reason=reason or None,
        created_at=iso(facts.created_at),
        receipt_url=f"/api/v1/submissions/{facts.id}/receipt",
        attempt=facts.attempt,
        label_revision=facts.attempt_revision,
        shown=EntryVisibility(facts.anonymous_until, facts.held_back_at is None),
    )


def _whole(seconds: float | None) -> float | None:
    """Return the duration rounded up: scoring reads labels, so its time is shown in whole seconds only."""
    return None if seconds is None else float(math.ceil(seconds))
