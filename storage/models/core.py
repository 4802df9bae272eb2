"""Tables of submissions, jobs, scores, audit events, snapshots, workers and accounts, with their constraints.

Facts only: votes and counts. Percentages, intervals and ranks are derived. No label, and nothing per item that depends
on one, is ever stored: votes together with correctness would be the labels. The database holds what rows, and columns
of one, must agree on; what a single value may be is held by whoever takes it.
"""

import base64
import secrets
from typing import Annotated, Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    CheckConstraint,
    Dialect,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.exc import DontWrapMixin
from sqlalchemy.orm import DeclarativeBase, Mapped, column_property, mapped_column
from sqlalchemy.types import TypeDecorator

from common.refused import Refused
from storage.clock import database_now
from storage.metadata import FIELDS
from vlrb.commitments import new_salt

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}

MAX_VOTES = 16


class UnfitText(Refused, DontWrapMixin):
    """A text holds a character that cannot be kept: NUL, or half of one."""

    code = "bad-text"

    def __init__(self) -> None:
        super().__init__(UnfitText.__doc__ or "")


class PlainText(TypeDecorator[str]):
    """Text that both databases can hold. SQLite would take NUL and cut there, PostgreSQL refuses it: both refuse it."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Raise UnfitText for NUL and lone surrogates."""
        if value is not None:
            try:
                value.encode("utf-8")
            except UnicodeEncodeError:
                raise UnfitText from None
            if "\x00" in value:
                raise UnfitText
        return value


Words = Annotated[str, mapped_column(PlainText)]
Instant = Annotated[float, mapped_column(Double)]
Sha256 = Annotated[str, mapped_column(PlainText)]
EntryId = Annotated[str, mapped_column(PlainText)]
JsonColumn = Annotated[dict[str, Any], mapped_column(JSON)]
JsonText = Annotated[str, mapped_column(PlainText)]  # JSON that is passed on as text and never decoded on the way


class Base(DeclarativeBase):
    metadata = MetaData(naming_convention=NAMING)


def new_entry_id() -> str:
    """Return 'e' and 11 random lower-case base32 characters (55 bits); it is the entry's permanent public address."""
    return "e" + base64.b32encode(secrets.token_bytes(7)).decode().lower()[:11]


def check(name: str, rule: str) -> CheckConstraint:
    """Return a rule for rows."""
    return CheckConstraint(rule, name=name)


def partial_index(name: str, *columns: str, where: str, unique: bool = False) -> Index:
    """Return an index of the rows that fulfil a condition."""
    return Index(name, *columns, unique=unique, sqlite_where=text(where), postgresql_where=text(where))


class RegisteredLabelSet(Base):
    """A named label revision that a worker has loaded. The labels themselves are never here, only their digest."""

    __tablename__ = "label_sets"
    __table_args__ = (check("level", "level IN ('public', 'hidden:categories', 'hidden')"),)
    benchmark: Mapped[Words] = mapped_column(primary_key=True)
    revision: Mapped[Words] = mapped_column(primary_key=True)
    digest: Mapped[Sha256]
    items: Mapped[int]
    commitment: Mapped[Sha256]  # HMAC-SHA256(salt, digest): public
    salt: Mapped[Sha256 | None]  # not public while the labels are not; None: imported, the workers have it
    registered_at: Mapped[Instant] = mapped_column(default=database_now())
    level: Mapped[Words | None]  # of disclosure, as configured for the worker that started last; None: not configured
    measured: Mapped[JsonColumn] = mapped_column(default=dict)  # as `workers.scorer.measured_disclosure` makes it


class Submission(Base):
    """An accepted file: its votes and its metadata."""

    __tablename__ = "submissions"
    __table_args__ = (
        UniqueConstraint("benchmark", "id"),  # what jobs and scores refer to, so that they are of its benchmark
        UniqueConstraint("benchmark", "owner", "content_sha256"),
        UniqueConstraint("benchmark", "owner", "model", "version"),
        check("withdrawn", "(withdrawn_at IS NULL) = (withdrawn_reason IS NULL)"),
        partial_index("ix_submissions_removed", "hidden_at", where="hidden_at IS NOT NULL OR withdrawn_at IS NOT NULL"),
        partial_index("ix_submissions_approval", "approval", where="approval IS NOT NULL"),
        partial_index("ix_submissions_anonymous_until", "anonymous_until", where="anonymous_until IS NOT NULL"),
    )
    id: Mapped[EntryId] = mapped_column(primary_key=True, default=new_entry_id)
    benchmark: Mapped[Words]
    owner: Mapped[Words]
    content_sha256: Mapped[Sha256]
    file_name: Mapped[Words] = mapped_column(default="")  # for display only, never a path
    format: Mapped[Words]
    revision: Mapped[Words]  # of the file, which need not be that of the labels
    votes_per_item: Mapped[int]
    votes: Mapped[bytes] = mapped_column(LargeBinary)  # vlrb.votes.Votes.pack()
    orders: Mapped[bytes | None] = mapped_column(LargeBinary)  # packed as votes: always for the response shown first
    margins: Mapped[bytes | None] = mapped_column(LargeBinary)  # vlrb.votes.pack_margins(), of files with scores
    parse_rate: Mapped[float] = mapped_column(Double)
    first_shown_rate: Mapped[float | None] = mapped_column(Double)
    self_consistency: Mapped[float | None] = mapped_column(Double)
    report: Mapped[JsonColumn]
    model: Mapped[Words]
    version: Mapped[Words] = mapped_column(default="")
    organisation: Mapped[Words | None]
    judge_type: Mapped[Words | None]
    base_model: Mapped[Words | None]
    parameters_b: Mapped[float | None] = mapped_column(Double)
    open_weights: Mapped[bool | None] = mapped_column(Boolean(create_constraint=True, name="open_weights"))
    link: Mapped[Words | None]
    paper: Mapped[Words | None]
    code: Mapped[Words | None]
    hub_id: Mapped[Words | None]
    temperature: Mapped[float | None] = mapped_column(Double)
    prompt: Mapped[Words | None]
    notes: Mapped[Words | None]
    created_at: Mapped[Instant] = mapped_column(default=database_now())
    salt: Mapped[Sha256 | None] = mapped_column(default=new_salt)  # of row_commitments.py; not public
    judge: Mapped[Words | None]  # its name, where the owner or a maintainer states it: benchmark.judges
    # That it was taken to be scored, and under which policy; None: it came otherwise.
    attempt: Mapped[int] = mapped_column(
        nullable=True
    )  # of its owner at this label revision, from 1; given back or not
    attempt_revision: Mapped[Words] = mapped_column(nullable=True)  # the board's then, or the configured one
    attempted_at: Mapped[Instant] = mapped_column(nullable=True)
    policy: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    # What holds for it now, as storage/visibility.py reads and writes it; the audit chain has the history.
    approval: Mapped[Words | None]  # None: nobody had to look at it before any label is used
    approval_reason: Mapped[Words | None]  # of the maintainer who decided, told to the submitter
    anonymous_until: Mapped[Instant | None]  # None: named. No clock is asked when pages are made
    held_back_at: Mapped[Instant | None]  # not on the board until its owner publishes it
    hidden_at: Mapped[Instant | None]
    withdrawn_at: Mapped[Instant | None]
    withdrawn_reason: Mapped[Words | None]  # public
    verified_at: Mapped[Instant | None]
    flag: Mapped[Words | None]  # public


# The columns above have types because queries name them; other fields of the metadata are columns all the same.
_COLUMN_TYPES = {"text": PlainText, "number": Double, "whole": BigInteger, "flag": Boolean}
for _name in FIELDS:
    if _name not in Submission.__table__.columns:
        setattr(Submission, _name, mapped_column(_name, _COLUMN_TYPES[FIELDS[_name].storage], nullable=True))


class QuotaCharge(Base):
    """Charges of a submission to quotas: "account:<id>", and "organisation:<id at the issuer>" of each of its own."""

    __tablename__ = "charges"
    __table_args__ = (Index("ix_charges_subject", "subject"),)
    submission_id: Mapped[EntryId] = mapped_column(ForeignKey("submissions.id"), primary_key=True)
    subject: Mapped[Words] = mapped_column(primary_key=True)


class Score(Base):
    """Counts of one submission under one label revision and scorer version. Inserted once, never changed (triggers)."""

    __tablename__ = "scores"
    __table_args__ = (
        UniqueConstraint("submission_id", "label_revision", "scorer_version"),
        ForeignKeyConstraint(["benchmark", "submission_id"], ["submissions.benchmark", "submissions.id"]),
        ForeignKeyConstraint(["benchmark", "label_revision"], ["label_sets.benchmark", "label_sets.revision"]),
        Index("ix_scores_board", "benchmark", "label_revision", "scorer_version"),
    )
    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    benchmark: Mapped[Words]
    submission_id: Mapped[EntryId]
    label_revision: Mapped[Words]
    scorer_version: Mapped[Words]
    tally: Mapped[JsonText]  # vlrb.scoring.Tally.to_json()
    created_at: Mapped[Instant] = mapped_column(default=database_now())
    salt: Mapped[Sha256 | None] = mapped_column(
        default=new_salt
    )  # of row_commitments.py; not public under hidden labels


class AuditEvent(Base):
    """A link of the audit chain. Append-only (triggers); audit.py says how the hash is made."""

    __tablename__ = "events"
    __table_args__ = (
        UniqueConstraint("prev_hash"),  # no two events follow the same one
    )
    seq: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    prev_hash: Mapped[Sha256]
    hash: Mapped[Sha256]
    kind: Mapped[Words]  # also in the body, which is what is hashed
    body: Mapped[JsonText]


class EventSubject(Base):
    """Subjects of audit events: an index, made with each event and never hashed."""

    __tablename__ = "event_subjects"
    subject: Mapped[Words] = mapped_column(
        primary_key=True
    )  # an entry's id, or as audit.labels and audit.board have it
    seq: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)


class AuditHead(Base):
    """The last link: the row whose lock puts appends in a line."""

    __tablename__ = "audit_head"
    __table_args__ = (check("single", "id = 1"),)
    id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    seq: Mapped[int]
    hash: Mapped[Sha256]


class Snapshot(Base):
    """All that is public of a benchmark at a moment, addressed by the hash of its content. Never changed (trigger)."""

    __tablename__ = "snapshots"
    __table_args__ = (
        UniqueConstraint("benchmark", "id"),  # what the board refers to
        Index("ix_snapshots_benchmark_created_at", "benchmark", "created_at"),
        Index("ix_snapshots_series_number", "series", "number", unique=True),
    )
    id: Mapped[Sha256] = mapped_column(primary_key=True)
    benchmark: Mapped[Words]
    through_seq: Mapped[int]  # the last audit event whose effect it shows
    created_at: Mapped[Instant]
    body: Mapped[bytes] = mapped_column(LargeBinary)  # zlib-compressed JSON
    content_sha256: Mapped[Sha256 | None]  # of what it says apart from when: tells whether there is anything new
    series: Mapped[Words | None]  # storage.boards.snapshots
    number: Mapped[int | None]
    base: Mapped[Sha256 | None]  # the id of the snapshot that the body is a difference to; None: it is whole


class StoredRelations(Base):
    """Paired statistics of judges under a revision (vlrb/statistics/pairwise.py). Never changed (triggers)."""

    __tablename__ = "relations"
    __table_args__ = (
        ForeignKeyConstraint(["benchmark", "label_revision"], ["label_sets.benchmark", "label_sets.revision"]),
        Index("ix_relations_id", "id"),  # not unique: other entries may come to the same
    )
    benchmark: Mapped[Words] = mapped_column(primary_key=True)
    inputs: Mapped[Sha256] = mapped_column(primary_key=True)  # digest of what it was computed from; not public
    id: Mapped[Sha256]  # of the content before compression: public
    label_revision: Mapped[Words]
    summary: Mapped[JsonText]  # goes into the snapshot
    body: Mapped[bytes] = mapped_column(LargeBinary)


class BoardState(Base):
    """What "current" means for a benchmark: one row each."""

    __tablename__ = "board"
    __table_args__ = (
        ForeignKeyConstraint(["benchmark", "label_revision"], ["label_sets.benchmark", "label_sets.revision"]),
        ForeignKeyConstraint(["benchmark", "snapshot_id"], ["snapshots.benchmark", "snapshots.id"]),
    )
    benchmark: Mapped[Words] = mapped_column(primary_key=True)
    label_revision: Mapped[Words]
    scorer_version: Mapped[Words]
    snapshot_id: Mapped[Sha256 | None]
    # vlrb.benchmarks.board_rules: by which the board is ordered, and those of the definition that the workers have
    rules: Mapped[Words] = mapped_column(default="", server_default="")
    offered_rules: Mapped[Words] = mapped_column(default="", server_default="")
    shown_seq: Mapped[int] = mapped_column(default=0, server_default="0")  # the last audit event the snapshot covers
    related_seq: Mapped[int] = mapped_column(default=0, server_default="0")  # the last one that relations cover


class WorkerHeartbeat(Base):
    """A worker process that has shown itself; what /readyz looks at."""

    __tablename__ = "workers"
    name: Mapped[Words] = mapped_column(primary_key=True)
    started_at: Mapped[Instant]
    heartbeat_at: Mapped[Instant]
    scorer_version: Mapped[Words] = mapped_column(default="", server_default="")
    # Benchmark -> label revisions that it holds; None: not said.
    label_revisions: Mapped[dict[str, list[str]] | None] = mapped_column(JSON(none_as_null=True))


def new_account_id() -> str:
    """Return 'a' and 11 random lower-case base32 characters, which say nothing about the person."""
    return "a" + base64.b32encode(secrets.token_bytes(7)).decode().lower()[:11]


class Account(Base):
    """An account of an identity provider, identified by issuer and subject; the name may change hands."""

    __tablename__ = "accounts"
    __table_args__ = (UniqueConstraint("issuer", "subject"),)
    id: Mapped[Words] = mapped_column(primary_key=True, default=new_account_id)
    issuer: Mapped[Words]
    subject: Mapped[Words]
    name: Mapped[Words]  # preferred_username at the last sign-in: for display and for configured roles
    organisations: Mapped[list[dict[str, Any]]] = mapped_column(JSON)  # [{"id", "name", "role"}]
    confirmed_at: Mapped[Instant]  # when the issuer last said which organisations
    issuer_created_at: Mapped[Instant | None]  # when the account was made, where the issuer tells
    first_seen_at: Mapped[Instant]
    last_seen_at: Mapped[Instant]
    banned_at: Mapped[Instant | None]


class UserSession(Base):
    """A browser that is signed in. The cookie holds the id, the database only its SHA-256."""

    __tablename__ = "sessions"
    __table_args__ = (
        UniqueConstraint("sign_in_sha256"),  # one sign-in makes one session: a replayed answer makes none
        Index("ix_sessions_account_id", "account_id"),
        Index("ix_sessions_expires_at", "expires_at"),
    )
    id_sha256: Mapped[Sha256] = mapped_column(primary_key=True)
    sign_in_sha256: Mapped[Sha256]  # of the `state` that the sign-in was started with
    account_id: Mapped[Words] = mapped_column(ForeignKey("accounts.id"))
    created_at: Mapped[Instant]
    last_seen_at: Mapped[Instant]
    expires_at: Mapped[Instant]  # whatever happens in between
    ended_at: Mapped[Instant | None]


class ApiToken(Base):
    """A token for programs. Shown once; the database holds its SHA-256."""

    __tablename__ = "api_tokens"
    __table_args__ = (
        UniqueConstraint("token_sha256"),
        check("scopes", "scopes IN ('submit', 'maintain', 'maintain submit')"),
        partial_index("uq_api_tokens_name_in_use", "account_id", "name", unique=True, where="revoked_at IS NULL"),
    )
    id: Mapped[Words] = mapped_column(primary_key=True)
    account_id: Mapped[Words] = mapped_column(ForeignKey("accounts.id"))
    name: Mapped[Words]
    token_sha256: Mapped[Sha256]
    scopes: Mapped[Words]
    created_at: Mapped[Instant]
    expires_at: Mapped[Instant] = mapped_column()
    last_used_at: Mapped[Instant | None]  # coarse: written at most every few minutes
    revoked_at: Mapped[Instant | None]
    expired: Mapped[bool] = column_property(expires_at <= database_now())


class RoleBinding(Base):
    """Account of a configured name: the first that signed in with it. Names can be given up and taken."""

    __tablename__ = "role_names"
    __table_args__ = (Index("ix_role_names_account_id", "account_id"),)
    issuer: Mapped[Words] = mapped_column(primary_key=True)
    name: Mapped[Words] = mapped_column(primary_key=True)  # case-folded
    account_id: Mapped[Words] = mapped_column(ForeignKey("accounts.id"))
