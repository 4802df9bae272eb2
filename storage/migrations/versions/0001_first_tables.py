"""The first tables."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from storage.migrations.triggers import ImmutableRule, create_trigger

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

TABLES = (
    "label_sets",
    "submissions",
    "jobs",
    "scores",
    "events",
    "audit_head",
    "snapshots",
    "board",
    "workers",
)  # in the order of their foreign keys
# Snapshots may be thinned out, never changed.
REFUSED = (
    ImmutableRule("events", "UPDATE"),
    ImmutableRule("events", "DELETE"),
    ImmutableRule("events", "TRUNCATE"),
    ImmutableRule("scores", "UPDATE"),
    ImmutableRule("scores", "DELETE"),
    ImmutableRule("scores", "TRUNCATE"),
    ImmutableRule("snapshots", "UPDATE"),
)


def upgrade() -> None:
    _create_label_sets()
    _create_submissions()
    _create_jobs()
    _create_scores()
    _create_events()
    _create_audit_head()
    _create_snapshots()
    _create_board()
    _create_workers()
    head = sa.table("audit_head", sa.column("id"), sa.column("seq"), sa.column("hash"))
    op.execute(sa.insert(head).values(id=1, seq=0, hash="0" * 64))
    if op.get_bind().dialect.name == "postgresql":
        op.execute(
            "CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION '% may not be changed', TG_TABLE_NAME; END $$"
        )
    for one in REFUSED:
        create_trigger(one)


def downgrade() -> None:
    for table in reversed(TABLES):
        op.drop_table(table)
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION refuse_change()")


def _create_label_sets() -> None:
    op.create_table(
        "label_sets",
        sa.Column("revision", sa.Text(), nullable=False),
        sa.Column("benchmark", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("items", sa.Integer(), nullable=False),
        sa.Column("registered_at", sa.Double(), nullable=False),
        sa.CheckConstraint("items > 0", name=op.f("ck_label_sets_items")),
        sa.CheckConstraint("length(benchmark) BETWEEN 1 AND 64", name=op.f("ck_label_sets_benchmark")),
        sa.CheckConstraint("length(digest) = 64 AND digest = lower(digest)", name=op.f("ck_label_sets_digest")),
        sa.CheckConstraint("length(revision) BETWEEN 1 AND 64", name=op.f("ck_label_sets_revision")),
        sa.PrimaryKeyConstraint("revision", name=op.f("pk_label_sets")),
    )


def _create_submissions() -> None:
    op.create_table(
        "submissions",
        *_submission_columns(),
        *_submission_checks(),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_submissions")),
        sa.UniqueConstraint(
            "benchmark", "owner", "content_sha256", name=op.f("uq_submissions_benchmark_owner_content_sha256")
        ),
        sa.UniqueConstraint(
            "benchmark", "owner", "model", "version", name=op.f("uq_submissions_benchmark_owner_model_version")
        ),
    )


def _submission_columns() -> tuple[sa.Column[Any], ...]:
    return (
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("benchmark", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("content_sha256", sa.Text(), nullable=False),
        sa.Column("size_bytes", sa.Integer(), nullable=False),
        sa.Column("file_name", sa.Text(), nullable=False),
        sa.Column("format", sa.Text(), nullable=False),
        sa.Column("revision", sa.Text(), nullable=False),
        sa.Column("votes_per_item", sa.Integer(), nullable=False),
        sa.Column("votes", sa.LargeBinary(), nullable=False),
        sa.Column("parse_rate", sa.Double(), nullable=False),
        sa.Column("first_shown_rate", sa.Double(), nullable=True),
        sa.Column("self_consistency", sa.Double(), nullable=True),
        sa.Column("report", sa.JSON(), nullable=False),
        sa.Column("receipt", sa.JSON(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("organisation", sa.Text(), nullable=True),
        sa.Column("judge_type", sa.Text(), nullable=True),
        sa.Column("base_model", sa.Text(), nullable=True),
        sa.Column("parameters_b", sa.Double(), nullable=True),
        sa.Column(
            "open_weights", sa.Boolean(create_constraint=True, name=op.f("ck_submissions_open_weights")), nullable=True
        ),
        sa.Column("link", sa.Text(), nullable=True),
        sa.Column("paper", sa.Text(), nullable=True),
        sa.Column("code", sa.Text(), nullable=True),
        sa.Column("hub_id", sa.Text(), nullable=True),
        sa.Column("temperature", sa.Double(), nullable=True),
        sa.Column("prompt", sa.Text(), nullable=True),
        sa.Column("notes", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Double(), nullable=False),
    )


def _submission_checks() -> tuple[sa.CheckConstraint, ...]:
    return (
        sa.CheckConstraint(
            "judge_type IN ('generative-pairwise', 'generative-pointwise', 'scalar', 'critic')",
            name=op.f("ck_submissions_judge_type"),
        ),
        sa.CheckConstraint(
            "length(id) = 12 AND substr(id, 1, 1) = 'e' AND id = lower(id)", name=op.f("ck_submissions_id")
        ),
        sa.CheckConstraint(
            "first_shown_rate >= 0 AND first_shown_rate <= 1", name=op.f("ck_submissions_first_shown_rate")
        ),
        sa.CheckConstraint("length(base_model) <= 200", name=op.f("ck_submissions_base_model")),
        sa.CheckConstraint("length(benchmark) BETWEEN 1 AND 64", name=op.f("ck_submissions_benchmark")),
        sa.CheckConstraint("length(code) <= 2000", name=op.f("ck_submissions_code")),
        sa.CheckConstraint(
            "length(content_sha256) = 64 AND content_sha256 = lower(content_sha256)",
            name=op.f("ck_submissions_content_sha256"),
        ),
        sa.CheckConstraint("length(file_name) <= 200", name=op.f("ck_submissions_file_name")),
        sa.CheckConstraint("length(format) BETWEEN 1 AND 64", name=op.f("ck_submissions_format")),
        sa.CheckConstraint("length(hub_id) <= 200", name=op.f("ck_submissions_hub_id")),
        sa.CheckConstraint("length(link) <= 2000", name=op.f("ck_submissions_link")),
        sa.CheckConstraint("length(notes) <= 20000", name=op.f("ck_submissions_notes")),
        sa.CheckConstraint("length(organisation) <= 200", name=op.f("ck_submissions_organisation")),
        sa.CheckConstraint("length(owner) BETWEEN 1 AND 200", name=op.f("ck_submissions_owner")),
        sa.CheckConstraint("length(paper) <= 2000", name=op.f("ck_submissions_paper")),
        sa.CheckConstraint("length(prompt) <= 20000", name=op.f("ck_submissions_prompt")),
        sa.CheckConstraint("length(revision) BETWEEN 1 AND 64", name=op.f("ck_submissions_revision")),
        sa.CheckConstraint("length(trim(model)) > 0 AND length(model) <= 200", name=op.f("ck_submissions_model")),
        sa.CheckConstraint("length(version) <= 200", name=op.f("ck_submissions_version")),
        sa.CheckConstraint("length(votes) > 0", name=op.f("ck_submissions_votes")),
        sa.CheckConstraint("parameters_b > 0 AND parameters_b <= 1000000", name=op.f("ck_submissions_parameters_b")),
        sa.CheckConstraint("parse_rate >= 0 AND parse_rate <= 1", name=op.f("ck_submissions_parse_rate")),
        sa.CheckConstraint(
            "self_consistency >= 0 AND self_consistency <= 1", name=op.f("ck_submissions_self_consistency")
        ),
        sa.CheckConstraint("size_bytes > 0", name=op.f("ck_submissions_size_bytes")),
        sa.CheckConstraint("temperature >= 0 AND temperature <= 100", name=op.f("ck_submissions_temperature")),
        sa.CheckConstraint("votes_per_item BETWEEN 1 AND 16", name=op.f("ck_submissions_votes_per_item")),
    )


def _create_jobs() -> None:
    op.create_table(
        "jobs",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("submission_id", sa.Text(), nullable=False),
        sa.Column("label_revision", sa.Text(), nullable=False),
        sa.Column("scorer_version", sa.Text(), nullable=False),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("worker", sa.Text(), nullable=True),
        sa.Column("lease_until", sa.Double(), nullable=True),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("started_at", sa.Double(), nullable=True),
        sa.Column("finished_at", sa.Double(), nullable=True),
        sa.CheckConstraint("(state = 'running') = (lease_until IS NOT NULL)", name=op.f("ck_jobs_lease")),
        sa.CheckConstraint("(state IN ('done', 'failed')) = (finished_at IS NOT NULL)", name=op.f("ck_jobs_finished")),
        sa.CheckConstraint("state <> 'failed' OR length(reason) > 0", name=op.f("ck_jobs_explained")),
        sa.CheckConstraint(
            "state <> 'running' OR (worker IS NOT NULL AND started_at IS NOT NULL AND epoch > 0)",
            name=op.f("ck_jobs_holder"),
        ),
        sa.CheckConstraint("state IN ('queued', 'running', 'done', 'failed')", name=op.f("ck_jobs_state")),
        sa.CheckConstraint("attempts >= 0 AND epoch >= attempts", name=op.f("ck_jobs_counters")),
        sa.CheckConstraint("priority IN (0, 1)", name=op.f("ck_jobs_priority")),
        sa.ForeignKeyConstraint(["label_revision"], ["label_sets.revision"], name=op.f("fk_jobs_label_revision")),
        sa.ForeignKeyConstraint(["submission_id"], ["submissions.id"], name=op.f("fk_jobs_submission_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_jobs")),
        sa.UniqueConstraint(
            "submission_id",
            "label_revision",
            "scorer_version",
            name=op.f("uq_jobs_submission_id_label_revision_scorer_version"),
        ),
    )
    op.create_index(
        "ix_jobs_leases",
        "jobs",
        ["lease_until"],
        unique=False,
        sqlite_where=sa.text("state = 'running'"),
        postgresql_where=sa.text("state = 'running'"),
    )
    op.create_index(
        "ix_jobs_waiting",
        "jobs",
        ["priority", "id"],
        unique=False,
        sqlite_where=sa.text("state = 'queued'"),
        postgresql_where=sa.text("state = 'queued'"),
    )


def _create_scores() -> None:
    op.create_table(
        "scores",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("submission_id", sa.Text(), nullable=False),
        sa.Column("label_revision", sa.Text(), nullable=False),
        sa.Column("scorer_version", sa.Text(), nullable=False),
        sa.Column("tally", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.CheckConstraint("substr(tally, 1, 1) = '{'", name=op.f("ck_scores_tally")),
        sa.CheckConstraint("length(scorer_version) BETWEEN 1 AND 64", name=op.f("ck_scores_scorer_version")),
        sa.ForeignKeyConstraint(["label_revision"], ["label_sets.revision"], name=op.f("fk_scores_label_revision")),
        sa.ForeignKeyConstraint(["submission_id"], ["submissions.id"], name=op.f("fk_scores_submission_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_scores")),
        sa.UniqueConstraint(
            "submission_id",
            "label_revision",
            "scorer_version",
            name=op.f("uq_scores_submission_id_label_revision_scorer_version"),
        ),
    )
    op.create_index(
        "ix_scores_label_revision_scorer_version", "scores", ["label_revision", "scorer_version"], unique=False
    )


def _create_events() -> None:
    op.create_table(
        "events",
        sa.Column("seq", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("prev_hash", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.CheckConstraint("substr(body, 1, 1) = '{'", name=op.f("ck_events_body")),
        sa.CheckConstraint("length(hash) = 64 AND hash = lower(hash)", name=op.f("ck_events_hash")),
        sa.CheckConstraint("length(kind) BETWEEN 1 AND 64", name=op.f("ck_events_kind")),
        sa.CheckConstraint("length(prev_hash) = 64 AND prev_hash = lower(prev_hash)", name=op.f("ck_events_prev_hash")),
        sa.CheckConstraint("seq > 0", name=op.f("ck_events_seq")),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_events")),
        sa.UniqueConstraint("prev_hash", name=op.f("uq_events_prev_hash")),
    )


def _create_audit_head() -> None:
    op.create_table(
        "audit_head",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.CheckConstraint("id = 1", name=op.f("ck_audit_head_single")),
        sa.CheckConstraint("length(hash) = 64 AND hash = lower(hash)", name=op.f("ck_audit_head_hash")),
        sa.CheckConstraint("seq >= 0", name=op.f("ck_audit_head_seq")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_head")),
    )


def _create_snapshots() -> None:
    op.create_table(
        "snapshots",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("through_seq", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.CheckConstraint("length(body) > 0", name=op.f("ck_snapshots_body")),
        sa.CheckConstraint("length(id) = 64 AND id = lower(id)", name=op.f("ck_snapshots_id")),
        sa.CheckConstraint("through_seq >= 0", name=op.f("ck_snapshots_through_seq")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_snapshots")),
    )
    op.create_index("ix_snapshots_created_at", "snapshots", ["created_at"], unique=False)


def _create_board() -> None:
    op.create_table(
        "board",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("label_revision", sa.Text(), nullable=False),
        sa.Column("scorer_version", sa.Text(), nullable=False),
        sa.Column("snapshot_id", sa.Text(), nullable=True),
        sa.CheckConstraint("id = 1", name=op.f("ck_board_single")),
        sa.ForeignKeyConstraint(["label_revision"], ["label_sets.revision"], name=op.f("fk_board_label_revision")),
        sa.ForeignKeyConstraint(["snapshot_id"], ["snapshots.id"], name=op.f("fk_board_snapshot_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_board")),
    )


def _create_workers() -> None:
    op.create_table(
        "workers",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("started_at", sa.Double(), nullable=False),
        sa.Column("heartbeat_at", sa.Double(), nullable=False),
        sa.CheckConstraint("heartbeat_at >= started_at", name=op.f("ck_workers_order")),
        sa.CheckConstraint("length(name) BETWEEN 1 AND 200", name=op.f("ck_workers_name")),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_workers")),
    )
