"""SQL of the maintenance use cases."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from maintenance.types import Entry
from storage.clock import database_now
from storage.database import change_rows
from storage.integrity import audit
from storage.integrity.integrity_check import EDITED
from storage.jobs import tasks
from storage.jobs.worker_heartbeats import FORGET_SECONDS, LIVE_SECONDS
from storage.metadata import NAMES
from storage.models.core import AuditEvent, RegisteredLabelSet, Submission, WorkerHeartbeat
from storage.models.moderation import ImportedLabels
from storage.models.queue import Job, State
from storage.models.review import AnnotationProject, Dispute
from storage.visibility import OUT_OF_SIGHT, WAITING

SNAPSHOT = "snapshot.published"  # workers/jobs/snapshot.py: the board shows a snapshot, which covers events through N
_MOST_FAILED = 100  # tasks that are counted
_LOOKED_AT = 20  # a snapshot may be made from what was before an event, and published right after it


class Change(NamedTuple):
    """One edit of an entry's metadata."""

    editor: str
    at: float
    before: dict[str, Any]
    after: dict[str, Any]


class RevisionRow(NamedTuple):
    """A label revision: configured (`imported_at` None), a draft (`published_at` None), or published."""

    revision: str
    items: int
    registered_at: float | None  # when a worker had it first; None: a draft that was never scored under
    # what follows is what imported labels say of a revision
    commitment: str | None = None
    difference: dict[str, Any] | None = None
    reason: str = ""
    requested_by: str = ""
    imported_at: float | None = None
    published_at: float | None = None
    retired_at: float | None = None
    salt: str | None = None
    disclosure: str | None = None  # benchmark.disclosure; None: as the settings say, which no worker has told yet

    @property
    def came_at(self) -> float:
        """When it was imported, or first found in the settings."""
        return min(at for at in (self.imported_at, self.registered_at) if at is not None)


class FailedJob(NamedTuple):
    """A submission that could not be scored."""

    job_id: int
    submission_id: str
    model: str
    label_revision: str
    scorer_version: str | None
    reason: str
    finished_at: float | None


class WorkerStatus(NamedTuple):
    """A worker and its last sign of life."""

    name: str
    started_at: float
    seconds_ago: float
    silent_since: float | None  # its last sign of life, where that is too long ago for a worker that lives


def entry(session: Session, submission_id: str, *, lock: bool = False) -> Entry | None:
    """Return an entry and what holds for it; `lock` keeps others from deciding about it until the transaction ends."""
    wanted = select(*(getattr(Submission, name) for name in Entry._fields)).where(Submission.id == submission_id)
    row = session.execute(wanted.with_for_update() if lock else wanted).first()
    return None if row is None else Entry(*row)


def job_exists(session: Session, job: int) -> bool:
    """Return whether there ever was one of this number, whatever became of it."""
    return session.get(Job, job) is not None


def metadata(session: Session, submission_id: str) -> dict[str, Any]:
    """Return the metadata of an entry, by field."""
    row = session.execute(select(*(getattr(Submission, name) for name in NAMES)).where(Submission.id == submission_id))
    return dict(row.one()._mapping)


def change(session: Session, submission_id: str, **values: Any) -> None:
    """Write columns of an entry."""
    change_rows(session, update(Submission).where(Submission.id == submission_id).values(**values))


def edits(session: Session, submission_id: str) -> list[Change]:
    """Return the history of an entry's metadata, the newest change first."""
    events = audit.newest(session, [EDITED], subjects=[submission_id])
    return [Change(event.body["by"], event.at, event.body["before"], event.body["after"]) for event in events]


def edited_at(session: Session, benchmark: str, *, owner: str) -> list[float]:
    """Return when an account has changed the metadata of entries that it owns, in seconds since 1970."""
    theirs = select(Submission.id).where(Submission.benchmark == benchmark, Submission.owner == owner)
    events = audit.newest(session, [EDITED], subjects=session.scalars(theirs).all())
    return [event.at for event in events if event.body["by"] == owner]


def taken(session: Session, renamed: Entry, *, owner: str, model: str, version: str) -> str | None:
    """Return the other entry that has the same name, or the same content, for the owner, if `one` were described so."""
    same_name = (Submission.model == model) & (Submission.version == version)
    return session.execute(
        select(Submission.id).where(
            Submission.benchmark == renamed.benchmark,
            Submission.owner == owner,
            Submission.id != renamed.id,
            same_name | (Submission.content_sha256 == renamed.content_sha256),
        )
    ).scalar()


def revisions(session: Session, benchmark: str) -> list[RevisionRow]:
    """Return all label revisions of a benchmark, drafts included, by name."""
    drafts = {row.revision: row for row in session.scalars(select(ImportedLabels).filter_by(benchmark=benchmark))}
    known = {row.revision: row for row in session.scalars(select(RegisteredLabelSet).filter_by(benchmark=benchmark))}
    result = []
    for name in sorted({*drafts, *known}):
        draft, since = drafts.get(name), known[name].registered_at if name in known else None
        row = RevisionRow(
            name,
            (draft or known[name]).items,
            registered_at=since,
            commitment=known[name].commitment if name in known else None,
            published_at=since,
            disclosure=known[name].level if name in known else None,
        )
        imported = () if draft is None else RevisionRow._fields[3:]
        result.append(row._replace(**{field: getattr(draft, field) for field in imported}))
    return result


def revision(session: Session, benchmark: str, *, name: str) -> RevisionRow | None:
    """Return the label revision of this name; None where there is none."""
    return next((row for row in revisions(session, benchmark) if row.revision == name), None)


def failed_jobs(session: Session, benchmark: str, *, limit: int = 100) -> list[FailedJob]:
    """Return what could not be scored, the latest first."""
    about = (Job.id, Job.submission_id, Submission.model, Job.label_revision, Job.scorer_version)
    failed = select(*about, Job.outcome, Job.finished_at).join(Submission, Submission.id == Job.submission_id)
    failed = failed.where(Job.state == State.FAILED.value, Submission.benchmark == benchmark)
    rows = session.execute(failed.order_by(Job.finished_at.desc()).limit(limit))
    return [FailedJob(*row) for row in rows]


def workers(session: Session) -> list[WorkerStatus]:
    """Return the workers that have shown themselves in the last hour and not said goodbye, the liveliest first."""
    ago = database_now() - WorkerHeartbeat.heartbeat_at
    rows = session.execute(
        select(WorkerHeartbeat.name, WorkerHeartbeat.started_at, ago, WorkerHeartbeat.heartbeat_at)
        .where(ago < FORGET_SECONDS)
        .order_by(WorkerHeartbeat.heartbeat_at.desc())
    )
    return [WorkerStatus(*row[:3], row.heartbeat_at if row[2] > LIVE_SECONDS else None) for row in rows]


def owners(session: Session, entries: Sequence[str]) -> dict[str, str]:
    """Map those of the entries that exist to their accounts."""
    wanted = select(Submission.id, Submission.owner).where(Submission.id.in_(set(entries)))
    return {row.id: row.owner for row in session.execute(wanted)}


def benchmarks_of(session: Session, entries: Sequence[str]) -> dict[str, str]:
    """Map those of the entries that exist to their benchmarks."""
    wanted = select(Submission.id, Submission.benchmark).where(Submission.id.in_(set(entries)))
    return {row.id: row.benchmark for row in session.execute(wanted)}


def boards_around(session: Session, seq: int, *, benchmark: str | None = None) -> tuple[str | None, str | None]:
    """Return the snapshots that the public saw before an event and after it; None where there is none (yet).

    As the chain says: the rows of snapshots could be given other dates without anybody seeing it.
    """
    earlier = audit.newest(session, [SNAPSHOT], before=seq, limit=_LOOKED_AT)
    later = select(AuditEvent.body).where(AuditEvent.kind == SNAPSHOT, AuditEvent.seq > seq).order_by(AuditEvent.seq)
    after = (json.loads(body) for body in session.scalars(later.limit(_LOOKED_AT)))
    return (
        next((event.body["snapshot"] for event in earlier if event.body.get("benchmark") == benchmark), None),
        next(
            (
                snapshot["snapshot"]
                for snapshot in after
                if snapshot["through"] >= seq and snapshot.get("benchmark") == benchmark
            ),
            None,
        ),
    )


def out_of_sight(session: Session) -> set[str]:
    """Return the entries that are hidden, not published, or not approved: nothing about them is public."""
    return set(session.scalars(select(Submission.id).where(OUT_OF_SIGHT)))


def open_counts(session: Session, benchmark: str) -> dict[str, int]:
    """Return how much of each kind is open."""
    wanted = {
        "failures": (Job.benchmark == benchmark, Job.state == State.FAILED.value),
        "approvals": (Submission.benchmark == benchmark, Submission.approval == WAITING),
        "disputes": (Dispute.benchmark == benchmark, Dispute.state == "open"),
        "projects": (AnnotationProject.benchmark == benchmark, AnnotationProject.closed_at.is_(None)),
    }
    counts = {name: session.scalar(select(func.count()).where(*rule)) or 0 for name, rule in wanted.items()}
    return {**counts, "failures": counts["failures"] + len(tasks.failures(session, _MOST_FAILED))}
