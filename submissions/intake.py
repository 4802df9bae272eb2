"""The use case of submitting: who may, check the file, keep it, queue it, acknowledge it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from benchmark.behaviour import abstaining
from benchmark.judges import judge_name
from identity import Identity, Role, require
from storage import audit, grants, job_queue, lookalikes, stored_rows, switches, visibility
from storage.clock import iso
from storage.database import Database
from storage.tables import Submission, new_entry_id
from storage.uploads import Uploads
from storage.visibility import PLAIN, Shown
from submissions import queries, quota, wishes
from submissions.metadata import FieldProblem, Metadata
from submissions.quota import Policy
from submissions.readability import is_unreadable, needs_confirmation
from submissions.receipts.facts import acceptance
from submissions.receipts.signing import Signer
from submissions.spool import Arrived
from submissions.upload import Upload

ACCEPTED = "submission.accepted"

Reader = Callable[[Path], tuple[dict[str, Any], Upload | None]]


class FileRejected(ValueError):
    """The file cannot be taken; `report` is the check report that says why."""

    def __init__(self, report: Mapping[str, Any]) -> None:
        message = report["problems"][0]["message"] if is_unreadable(report) else "The file has problems."
        super().__init__(f"{message} Nothing was submitted.")
        self.report = report


class NotConfirmed(ValueError):
    """Most votes of a file cannot be read, and its sender did not say that this is meant."""

    def __init__(self, report: Mapping[str, Any]) -> None:
        super().__init__(
            f"Only {report['parse_rate']:.1%} of the votes can be read; all others would count as wrong. Look at the "
            "sample replies. If the file is right, confirm it: tick the box on the page, --accept-unreadable on the "
            "command line, or the field accept_unreadable=true."
        )
        self.report = report


class NameTaken(ValueError):
    """This owner has another file under the same model and version."""

    def __init__(self, metadata: Metadata, existing: str) -> None:
        version = f" version {metadata.version}" if metadata.version else " without a version"
        super().__init__(
            f"You have already submitted {metadata.model}{version} with another file (entry {existing}). "
            "Give this one another version, for instance a date."
        )
        self.existing = existing

    @property
    def problem(self) -> FieldProblem:
        """The same, for a form."""
        return FieldProblem("version", "name-taken", str(self))


class TooSimilar(ValueError):
    """A name would be taken for that of somebody else."""

    def __init__(self, field: str, name: str, other: str) -> None:
        super().__init__(
            f"{field}: {name} is too similar to {other}, which is somebody else's. "
            f"Write it as they do if you mean the same, or choose a name that nobody takes for it."
        )
        self.field, self.other = field, other

    @property
    def problem(self) -> FieldProblem:
        """The same, for a form."""
        return FieldProblem(self.field, "too-similar", str(self))


class FirstOneWaits(ValueError):
    """The account's first submission waits for a maintainer; `existing` is its id."""

    def __init__(self, existing: str) -> None:
        super().__init__(
            f"Your first submission ({existing}) waits for a maintainer. The next one is possible after that; "
            "checking files is free at any time."
        )
        self.existing = existing


class Paused(ValueError):
    """Nothing is taken at the moment; the message is the maintainers'."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """What somebody may submit now. `next_at`: seconds since 1970 UTC; None: now."""

    attempts: int  # so far, at the label revision that the board shows
    next_at: float | None
    label_revision: str = ""  # the board's
    awaiting: str | None = None  # the submission that a maintainer has to let through before there is a next one
    paused: str | None = None  # what maintainers say while nobody may submit


@dataclass(frozen=True, slots=True)
class Accepted:
    """A submission that is on disk and in the queue."""

    id: str
    receipt: dict[str, Any]
    duplicate: bool  # the same bytes had come from the same owner before


class Intake:
    """What happens between an arrived file and its acknowledgement."""

    def __init__(
        self,
        database: Database,
        uploads: Uploads,
        read: Reader,
        benchmark: str,
        signer: Signer,
        policy: Policy | None = None,
        stated: Callable[[Session], Mapping[str, Any]] = lambda session: {},
        shipped: Callable[[], Iterable[Mapping[str, Any]]] = tuple,
    ) -> None:
        """`stated`: what else governs submitting here, recorded with every submission. `shipped`: the reported results
        that come with the project, whose names nobody may imitate."""
        self._database, self._uploads, self._read, self.benchmark = database, uploads, read, benchmark
        self._signer = signer
        self.policy, self._stated, self._shipped = policy or Policy(), stated, shipped
        self._turns = _Turns()

    def check(self, file: Arrived) -> dict[str, Any]:
        """The check report of a file. Touches no label and no table."""
        return self._read(file.path)[0]

    def rules(self) -> dict[str, Any]:
        """Everything that governs submitting now, as it is recorded with a submission."""
        with self._database.read() as session:
            return self._rules(session)

    def submit(
        self, file: Arrived, metadata: Metadata, who: Identity, shown: Shown = PLAIN, *, accept_unreadable: bool = False
    ) -> Accepted:
        """Take a file once: the same bytes from the same owner are the same submission with the same receipt.

        `accept_unreadable`: the sender knows that most votes cannot be read, and submits it all the same.

        Raises:
            Refused: this person or token may not submit.
            Paused: nobody may at the moment.
            NameTaken: the owner has used this model and version for another file.
            TooSimilar: a name looks like one that is somebody else's.
            MetadataRejected: the entry cannot be shown as `shown` asks.
            AccountTooYoung, FirstOneWaits: the account may submit later.
            QuotaUsed: the owner or one of their organisations has to wait.
            FileRejected: the file has problems.
            NotConfirmed: most of its votes cannot be read.
        """
        require(who, Role.SUBMITTER)
        with self._turns.of(who.account, file.sha256):  # fifty copies at once are checked once
            with self._database.read() as session:
                if known := self._admit(session, file, metadata, who, shown):
                    return known
            report, upload = self._read(file.path)
            if upload is None or not report["ok"]:
                raise FileRejected(report)
            if needs_confirmation(report) and not accept_unreadable:
                raise NotConfirmed(report)
            self._uploads.keep(file.path)
            try:
                return self._record(file, report, upload, metadata, who, shown)
            except IntegrityError:  # another process was faster; now its row is there to be seen
                return self._record(file, report, upload, metadata, who, shown)

    def allowance(self, who: Identity) -> Allowance:
        """When somebody may submit next. Raises Refused as `submit` does."""
        require(who, Role.SUBMITTER)
        with self._database.read() as session:
            revision = self._revision(session)
            made = queries.attempts(session, quota.account_subject(who), revision)
            paused = switches.message(session)
            try:
                self._check_who(session, who)
                self._check_quota(session, who)
            except (quota.QuotaUsed, quota.AccountTooYoung) as later:
                return Allowance(made, later.next_at, revision, paused=paused)
            except FirstOneWaits as waits:
                return Allowance(made, None, revision, waits.existing, paused)
        return Allowance(made, None, revision, paused=paused)

    def paused(self) -> str | None:
        """What maintainers say while nobody may submit; None: submissions are taken."""
        with self._database.read() as session:
            return switches.message(session)

    def _admit(
        self, session: Session, file: Arrived, metadata: Metadata, who: Identity, shown: Shown
    ) -> Accepted | None:
        """The submission if it is known; None if it may be made."""
        if known := queries.by_content(session, self.benchmark, who.account, file.sha256):
            return Accepted(known.id, known.receipt, duplicate=True)
        if message := switches.message(session):
            raise Paused(message)
        if existing := queries.by_name(session, self.benchmark, who.account, metadata.model, metadata.version):
            raise NameTaken(metadata, existing)
        for field in lookalikes.FIELDS:
            # The judge that is not stated is the model's: GPT4o would stand beside a judge GPT-4o.
            name = judge_name(metadata.model, metadata.judge) if field == "judge" else getattr(metadata, field)
            about = (session, self.benchmark, who.account, field, name, self._shipped())
            if name and (other := lookalikes.taken(*about)):
                raise TooSimilar(field if getattr(metadata, field) else "model", name, other)
        now = queries.now(session)
        wishes.check(shown, who, now, now)
        self._check_who(session, who)
        self._check_quota(session, who)
        return None

    def _check_who(self, session: Session, who: Identity) -> None:
        quota.check_age(self.policy, who, queries.now(session))
        if not self.policy.approve_first or queries.let_through(session, self.benchmark, who.account):
            return
        if existing := queries.waiting(session, self.benchmark, who.account):
            raise FirstOneWaits(existing)

    def _needs_approval(self, session: Session, who: Identity, rules: Mapping[str, Any], abstained: float) -> bool:
        if who.via == "local" or Role.MAINTAINER in who.roles:
            return False
        first = self.policy.approve_first and not queries.let_through(session, self.benchmark, who.account)
        return first or quota.abstains_too_much(rules, abstained)

    def _rules(self, session: Session) -> dict[str, Any]:
        return {**self.policy.to_json(), **self._stated(session)}

    def _check_quota(self, session: Session, who: Identity) -> int | None:
        """The grant that the next submission would be taken on; None: it takes from the quotas. Raises QuotaUsed."""
        if self.policy.limits(who):
            now, names = queries.now(session), quota.subjects(who, self.policy)
            taken = {subject: queries.taken(session, subject, now) for subject in names}
            try:
                quota.check(self.policy, taken, names, now)
            except quota.QuotaUsed:
                if (grant := grants.available(session, who.account)) is None:
                    raise
                return grant
        return None

    def _revision(self, session: Session) -> str:
        return queries.current_revision(session) or self.policy.label_revision

    def _record(
        self,
        file: Arrived,
        report: dict[str, Any],
        upload: Upload,
        metadata: Metadata,
        who: Identity,
        shown: Shown,
    ) -> Accepted:
        subjects = list(quota.subjects(who, self.policy))
        with self._database.write() as session:
            queries.line_up(session, subjects)
            lookalikes.line_up(session)
            if known := self._admit(session, file, metadata, who, shown):  # once more: others may have come in between
                return known
            now, revision, policy = queries.now(session), self._revision(session), self._rules(session)
            abstained = abstaining(upload.votes.matrix)
            approval = self._needs_approval(session, who, policy, abstained)
            number = queries.attempts(session, quota.account_subject(who), revision) + 1
            given = (new_entry_id(), self.benchmark, file, upload, who.account)
            facts = acceptance(*given, iso(now), number, policy, self._uploads.durability)
            row = _row(self.benchmark, facts, file, {**report, "abstaining": abstained}, upload, metadata, now)
            session.add(row)
            session.flush()
            grant = self._check_quota(session, who)
            queries.add_attempt(session, row.id, subjects, revision, number, policy, now)
            if grant is not None:
                grants.use(session, grant, row.id)
            visibility.ask(session, row.id, shown, approval=approval)
            if not approval:
                job_queue.enqueue_current(session, row.id)  # the worker adds the other label revisions
            held = stored_rows.commitments(session, row.id)
            # The audit chain comes last: its lock is the one that everybody shares.
            event = audit.event(session, audit.append(session, ACCEPTED, {**facts, **held}))
            place = {"chain_seq": event.seq, "chain_hash": event.hash}
            row.receipt = stated = self._signer.sign({**facts, **place, "body": event.body})
        return Accepted(row.id, stated, duplicate=False)


def _row(
    benchmark: str,
    facts: dict[str, Any],
    file: Arrived,
    report: dict[str, Any],
    upload: Upload,
    metadata: Metadata,
    now: float,
) -> Submission:
    return Submission(
        id=facts["submission"],
        benchmark=benchmark,
        owner=facts["owner"],
        content_sha256=file.sha256,
        size_bytes=file.size,
        file_name=file.name,
        format=upload.format,
        revision=upload.revision,
        votes_per_item=upload.votes.k,
        votes=upload.votes.pack(),
        parse_rate=upload.behaviour.parse_rate,
        first_shown_rate=upload.behaviour.first_shown_rate,
        self_consistency=upload.behaviour.self_consistency,
        report={**{name: said for name, said in report.items() if name != "samples"}, "texts": upload.texts},
        receipt=facts,
        created_at=now,
        **metadata.columns(),
    )


class _Turns:
    """One lock for each key in use, so that identical work is done one after another."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._locks: dict[tuple[str, ...], tuple[threading.Lock, int]] = {}

    @contextmanager
    def of(self, *key: str) -> Iterator[None]:
        with self._guard:
            lock, users = self._locks.get(key, (threading.Lock(), 0))
            self._locks[key] = (lock, users + 1)
        try:
            with lock:
                yield
        finally:
            with self._guard:
                lock, users = self._locks[key]
                if users == 1:
                    del self._locks[key]
                else:
                    self._locks[key] = (lock, users - 1)
