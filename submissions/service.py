"""Submit use case: authorise, check the file, store it, enqueue it, issue a receipt."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from auth import Identity, Role, require
from receipts.jws import Signer
from receipts.service import sign_acceptance
from storage import confusables, visibility
from storage.clock import iso, read_clock
from storage.database import Database
from storage.files.spool import UploadedFile
from storage.files.uploads import Uploads
from storage.integrity import audit, row_commitments
from storage.jobs import job_queue
from storage.limits import submission_pause
from storage.models.core import Submission
from storage.visibility import PLAIN, EntryVisibility
from submissions import queries, quota, visibility_options
from submissions.metadata import Metadata
from submissions.quota import QuotaPolicy
from submissions.refusals import (
    ApprovalPending,
    DuplicateName,
    FileRejected,
    NotConfirmed,
    NotReplicated,
    SubmissionsPaused,
)
from vlrb.file_remarks import NO_JUDGE
from vlrb.predictions.parse import Predictions
from vlrb.predictions.readability import needs_confirmation
from vlrb.votes import pack_margins

ACCEPTED = "submission.accepted"

Reader = Callable[[Path], tuple[dict[str, Any], Predictions | None]]


@dataclass(frozen=True, slots=True)
class Allowance:
    """Remaining quota. `next_at`: seconds since 1970 UTC; None: now."""

    attempts: int  # so far, at the label revision that the board shows
    next_at: float | None
    label_revision: str = ""  # the board's
    awaiting: str | None = None  # the submission that a maintainer has to approve before the next one
    paused: str | None = None  # what maintainers say while nobody may submit


@dataclass(frozen=True, slots=True)
class Accepted:
    """A submission that is on disk and in the queue."""

    id: str
    receipt: str
    duplicate: bool  # the same bytes had come from the same owner before


@dataclass(slots=True)
class SubmissionService:
    """Use case between an arrived file and its acknowledgement. `stated`: what else is recorded with every submission.
    `shipped`: the reported results that come with the project, whose names nobody may imitate. `replicated`: what is
    waited for before a receipt is handed out, where there is a replica; it returns whether that has every commit."""

    database: Database
    uploads: Uploads
    read: Reader
    benchmark: str
    signer: Signer
    policy: QuotaPolicy = field(default_factory=QuotaPolicy)
    stated: Callable[[Session], Mapping[str, Any]] = lambda session: {}
    shipped: Callable[[], Iterable[Mapping[str, Any]]] = tuple
    replicated: Callable[[], bool] | None = None

    def check(self, file: UploadedFile) -> dict[str, Any]:
        """Return the check report of a file. Touches no label and no table."""
        return self.read(file.path)[0]

    def rules(self) -> dict[str, Any]:
        """Return everything that governs submitting now, as it is recorded with a submission."""
        with self.database.read() as session:
            return self._rules(session)

    def submit(
        self,
        file: UploadedFile,
        metadata: Metadata,
        user: Identity,
        shown: EntryVisibility = PLAIN,
        *,
        accept_unreadable: bool = False,
    ) -> Accepted:
        """Take a file once: the same bytes from the same owner are the same submission with the same receipt.

        `accept_unreadable`: the sender knows that most votes cannot be read, and submits it all the same.

        Raises:
            AuthError: this person or token may not submit.
            SubmissionsPaused: nobody may at the moment.
            DuplicateName: the owner has used this model and version for another file.
            ConfusableName: a name looks like one that is somebody else's.
            MetadataRejected: the entry cannot be shown as `shown` asks.
            ApprovalPending: the account may submit later.
            QuotaUsed: the owner or one of their organisations has to wait.
            FileRejected: the file has problems.
            NotConfirmed: most of its votes cannot be read.
            NotReplicated: it is stored here, and the replica has not confirmed it in time.
        """
        require(user, Role.SUBMITTER)
        accepted = self._accept(file, metadata, user=user, shown=shown, accept_unreadable=accept_unreadable)
        if self.replicated is not None and not self.replicated():  # also what was known: nobody may have been told
            raise NotReplicated
        return accepted

    def _accept(
        self, file: UploadedFile, metadata: Metadata, *, user: Identity, shown: EntryVisibility, accept_unreadable: bool
    ) -> Accepted:
        with self.database.read() as session:
            if known := self._admit(session, file, metadata=metadata, user=user, shown=shown):
                return known
        report, upload = self.read(file.path)
        if upload is None or not report["ok"]:
            raise FileRejected(report)
        if needs_confirmation(report) and not accept_unreadable:
            raise NotConfirmed(report)
        self.uploads.keep(file.path)
        try:
            return self._persist(file, report, upload=upload, metadata=metadata, user=user, shown=shown)
        except IntegrityError:  # another process was faster; now its row is there to be seen
            return self._persist(file, report, upload=upload, metadata=metadata, user=user, shown=shown)

    def allowance(self, user: Identity) -> Allowance:
        """Return the remaining quota. Raises AuthError as `submit` does."""
        require(user, Role.SUBMITTER)
        with self.database.read() as session:
            revision = self._revision(session)
            attempts = queries.count_attempts(
                session, self.benchmark, subject=quota.account_subject(user), label_revision=revision
            )
            paused = submission_pause.pause_message(session)
            try:
                self._require_submitter(session, user)
                self._check_quota(session, user)
            except quota.QuotaUsed as later:
                return Allowance(attempts, later.next_at, label_revision=revision, paused=paused)
            except ApprovalPending as waits:
                return Allowance(attempts, None, label_revision=revision, awaiting=waits.existing, paused=paused)
        return Allowance(attempts, None, label_revision=revision, paused=paused)

    def paused(self) -> str | None:
        """Return the message of a pause; None: submissions are accepted."""
        with self.database.read() as session:
            return submission_pause.pause_message(session)

    def _admit(
        self, session: Session, file: UploadedFile, *, metadata: Metadata, user: Identity, shown: EntryVisibility
    ) -> Accepted | None:
        """Return the submission if it is known; None: it may be made.

        Asked before a file is read, and again in the transaction that stores it.
        """
        if known := queries.find(session, self.benchmark, owner=user.account, content_sha256=file.sha256):
            receipt = sign_acceptance(session, self.signer, submission=known)
            return Accepted(known, receipt or "", duplicate=True)
        if message := submission_pause.pause_message(session):
            raise SubmissionsPaused(message)
        if existing := queries.find(
            session, self.benchmark, owner=user.account, model=metadata["model"], version=metadata["version"]
        ):
            raise DuplicateName(metadata["model"], metadata["version"], existing=existing)
        confusables.require_own_names(
            session, self.benchmark, owner=user.account, described=metadata, shipped=self.shipped()
        )
        now = read_clock(session)
        visibility_options.validate(shown, user, now=now, made_at=now)
        self._require_submitter(session, user)
        self._check_quota(session, user)
        return None

    def _require_submitter(self, session: Session, user: Identity) -> None:
        if not self.policy.approve_first or queries.is_approved(session, self.benchmark, owner=user.account):
            return
        if existing := queries.waiting(session, self.benchmark, owner=user.account):
            raise ApprovalPending(existing)

    def _approval_reasons(self, session: Session, user: Identity, *, report: Mapping[str, Any]) -> list[str]:
        """Return the codes of why a maintainer looks at a submission first; none where it is scored at once."""
        if user.auth_method == "local" or Role.MAINTAINER in user.roles:
            return []
        first = self.policy.approve_first and not queries.is_approved(session, self.benchmark, owner=user.account)
        warned = {warning["code"] for warning in report["warnings"]}
        return [*[visibility.FIRST_UPLOAD] * first, *(code for code in NO_JUDGE if code in warned)]

    def _rules(self, session: Session) -> dict[str, Any]:
        return {**self.policy.to_json(), **self.stated(session)}

    def _check_quota(self, session: Session, user: Identity) -> None:
        """Raise QuotaUsed where the next submission must wait."""
        if self.policy.limits(user):
            now, names = read_clock(session), quota.quota_scopes(user, self.policy)
            taken = {
                subject: queries.quota_used(session, self.benchmark, subject=subject, now=now) for subject in names
            }
            quota.require_quota(self.policy, taken, names=names, now=now)

    def _revision(self, session: Session) -> str:
        return queries.current_revision(session, self.benchmark) or self.policy.label_revision

    def _persist(
        self,
        file: UploadedFile,
        report: dict[str, Any],
        *,
        upload: Predictions,
        metadata: Metadata,
        user: Identity,
        shown: EntryVisibility,
    ) -> Accepted:
        subjects = list(quota.quota_scopes(user, self.policy))
        with self.database.write() as session:
            confusables.lock_names(session)  # puts attempts in a line, too: quotas are counted under it
            if known := self._admit(session, file, metadata=metadata, user=user, shown=shown):
                return known  # others came in between
            now, revision, policy = read_clock(session), self._revision(session), self._rules(session)
            report = {**report, "approval": self._approval_reasons(session, user, report=report)}
            number = (
                queries.count_attempts(
                    session, self.benchmark, subject=quota.account_subject(user), label_revision=revision
                )
                + 1
            )
            row = _row(file, report=report, upload=upload, metadata=metadata)
            row.benchmark, row.owner, row.created_at, row.attempted_at = self.benchmark, user.account, now, now
            row.attempt, row.attempt_revision, row.policy = number, revision, policy
            row.anonymous_until, row.held_back_at = shown.anonymous_until, None if shown.published else now
            row.approval = visibility.WAITING if report["approval"] else None
            session.add(row)
            session.flush()
            queries.charge(session, row.id, subjects=subjects)
            if not report["approval"]:
                job_queue.enqueue_current(session, row.id)  # the worker adds the other label revisions
            held = row_commitments.commitments(session, row.id)
            facts = {**_acceptance(row, file=file, upload=upload), **held}
            # The audit chain comes last: its lock is the one that everybody shares.
            event = audit.recorded(session, audit.append(session, ACCEPTED, data=facts))
        return Accepted(row.id, self.signer.sign(event._asdict()), duplicate=False)


def _acceptance(row: Submission, *, file: UploadedFile, upload: Predictions) -> dict[str, Any]:
    """Return what the event of an acceptance states, and so its receipt."""
    return {
        "benchmark": row.benchmark,
        "submission": row.id,
        "content_sha256": file.sha256,
        "votes_sha256": upload.votes.sha256,
        "bytes": file.size,
        "owner": row.owner,
        "format": upload.format,
        "revision": upload.revision,
        "items": upload.items,
        "votes_per_item": upload.votes.k,
        "votes": upload.items * upload.votes.k,
        "accepted_at": iso(row.created_at),
        "attempt": row.attempt,  # among the owner's under the board's label revision
        "policy": row.policy,  # under which it was taken
    }


def _row(file: UploadedFile, *, report: dict[str, Any], upload: Predictions, metadata: Metadata) -> Submission:
    return Submission(
        content_sha256=file.sha256,
        file_name=file.name,
        format=upload.format,
        revision=upload.revision,
        votes_per_item=upload.votes.k,
        votes=upload.votes.pack(),
        orders=upload.orders and upload.orders.pack(),
        margins=pack_margins(upload.margins),
        parse_rate=upload.behaviour.parse_rate,
        first_shown_rate=upload.behaviour.first_shown_rate,
        self_consistency=upload.behaviour.self_consistency,
        report={name: value for name, value in report.items() if name != "samples"},
        **metadata,
    )
