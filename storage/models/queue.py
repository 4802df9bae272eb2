"""The queue: submissions to be scored, tasks of maintainers, e-mails. One table, whose rows are claimed in one way.

Each kind is a class with columns of its own, empty in the rows of the others; beside them the addresses of e-mails. No
label is here.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from sqlalchemy import (
    JSON,
    CheckConstraint,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    UniqueConstraint,
)
from sqlalchemy.orm import Mapped, mapped_column

from storage.clock import database_now
from storage.models.core import Base, EntryId, Instant, JsonColumn, JsonText, Words, check, partial_index

_OPEN = "state IN ('queued', 'running')"


class State(StrEnum):
    """State of a row. The explanation is in `outcome`."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


def _complete(queue: str, *columns: str) -> CheckConstraint:
    return check(queue, f"queue <> '{queue}' OR ({' AND '.join(f'{column} IS NOT NULL' for column in columns)})")


def _mapped(**options: str) -> dict[str, Any]:
    return options


class QueueRow(Base):
    """Something to be done by one process at a time. Its state is changed by storage/jobs/leases.py alone."""

    __tablename__ = "queue"
    __table_args__ = (
        _complete("jobs", "submission_id", "label_revision", "scorer_version"),
        _complete("tasks", "kind", "subject", "params", "reason", "requested_by"),
        _complete("emails", "account", "subscription", "address_key", "through_seq", "lines"),
        check("queue", "queue IN ('jobs', 'tasks', 'emails')"),
        check("state", "state IN ('queued', 'running', 'done', 'failed')"),
        check("counters", "attempts >= 0 AND epoch >= attempts AND progress >= 0"),
        check("lease", "(state = 'running') = (lease_until IS NOT NULL)"),
        check("holder", "state <> 'running' OR (worker IS NOT NULL AND started_at IS NOT NULL AND epoch > 0)"),
        check("finished", "(state IN ('done', 'failed')) = (finished_at IS NOT NULL)"),
        check("explained", "state <> 'failed' OR length(outcome) > 0"),
        partial_index("ix_queue_waiting", "queue", "priority", "due_at", "id", where="state = 'queued'"),
        partial_index("ix_queue_leases", "lease_until", where="state = 'running'"),
        UniqueConstraint("submission_id", "label_revision", "scorer_version"),
        ForeignKeyConstraint(["benchmark", "submission_id"], ["submissions.benchmark", "submissions.id"]),
        ForeignKeyConstraint(["benchmark", "label_revision"], ["label_sets.benchmark", "label_sets.revision"]),
        check("result", "queue <> 'tasks' OR (state = 'done') = (result IS NOT NULL)"),
        # A double click finds the task that is open already; of changes of a board one is open at a time.
        partial_index("uq_queue_open_task", "benchmark", "kind", "subject", where=_OPEN, unique=True),
        partial_index("uq_queue_open_apply", "benchmark", where=f"kind = 'rescore.apply' AND {_OPEN}", unique=True),
        UniqueConstraint("subscription", "through_seq"),
        Index("ix_queue_account", "account"),
        Index("ix_queue_address_key", "address_key"),
    )
    __mapper_args__ = _mapped(polymorphic_on="queue")
    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    queue: Mapped[Words]
    benchmark: Mapped[Words] = mapped_column(default="")  # "": about none
    scorer_version: Mapped[Words] = mapped_column(nullable=True)  # of the workers that may do it; None: any
    priority: Mapped[int] = mapped_column(default=0)  # 0 somebody waits for it, 1 it fills a gap
    state: Mapped[Words] = mapped_column(default=State.QUEUED.value)
    outcome: Mapped[Words] = mapped_column(default="")  # plain words; never an address
    epoch: Mapped[int] = mapped_column(default=0)  # grows with every claim: the fence
    attempts: Mapped[int] = mapped_column(default=0)
    worker: Mapped[Words] = mapped_column(nullable=True)
    lease_until: Mapped[Instant | None]
    due_at: Mapped[Instant] = mapped_column(default=database_now())
    created_at: Mapped[Instant] = mapped_column(default=database_now())
    started_at: Mapped[Instant | None]
    finished_at: Mapped[Instant | None]
    # of a job
    submission_id: Mapped[EntryId] = mapped_column(nullable=True)
    label_revision: Mapped[Words] = mapped_column(nullable=True)
    # of a task
    kind: Mapped[Words] = mapped_column(nullable=True)
    subject: Mapped[Words] = mapped_column(nullable=True)  # a label revision
    params: Mapped[JsonColumn] = mapped_column(JSON(none_as_null=True), nullable=True)
    reason: Mapped[Words] = mapped_column(nullable=True)
    requested_by: Mapped[Words] = mapped_column(nullable=True)  # account
    progress: Mapped[int] = mapped_column(default=0)
    total: Mapped[int | None]
    result: Mapped[JsonText | None]  # counts and entries; labels only of sets that are public
    # of an e-mail, which is here without its address
    account: Mapped[Words] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), nullable=True)
    subscription: Mapped[Words] = mapped_column(nullable=True)  # id of an EmailSubscription that may be gone
    address_key: Mapped[Words] = mapped_column(nullable=True)  # keyed digest of the address, to count requests for it
    through_seq: Mapped[int] = mapped_column(nullable=True)  # the last event that it tells of; 0: it asks to confirm
    lines: Mapped[list[dict[str, Any]]] = mapped_column(JSON(none_as_null=True), nullable=True)


class Job(QueueRow):
    """One submission to be scored under one label revision by one scorer version (storage/jobs/job_queue.py)."""

    __mapper_args__ = _mapped(polymorphic_identity="jobs")


class Task(QueueRow):
    """Something a maintainer asked for that needs labels, so that a worker does it (storage/jobs/tasks.py)."""

    ONE_AT_A_TIME = "rescore.apply"  # of this kind only one may be open for a benchmark, whatever its subject
    __mapper_args__ = _mapped(polymorphic_identity="tasks")


class OutgoingEmail(QueueRow):
    """An e-mail to be sent (storage/notifications.py)."""

    __mapper_args__ = _mapped(polymorphic_identity="emails")


class EmailSubscription(Base):
    """The address to which an account wants news of its own entries; unused until its owner has confirmed it."""

    __tablename__ = "email_subscriptions"
    account: Mapped[Words] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True)
    id: Mapped[Words] = mapped_column(unique=True)  # random; another one for each address
    address: Mapped[bytes] = mapped_column(LargeBinary)  # encrypted under SESSION_SECRET
    language: Mapped[Words]
    seen_seq: Mapped[int] = mapped_column(default=0)  # the last audit event that was looked at
    created_at: Mapped[Instant] = mapped_column(default=database_now())
    confirmed_at: Mapped[Instant | None]
