"""What maintainers decide and ask for: moderation, edits, switches, tasks, imported label revisions."""

import sqlalchemy as sa
from alembic import op

from storage.migrations.triggers import ImmutableRule, create_trigger

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

TABLES = ("moderation", "edits", "switches", "tasks", "imported_labels")


def upgrade() -> None:
    _create_moderation()
    _create_edits()
    _create_switches()
    _create_tasks()
    _create_imported_labels()
    for statement in ("UPDATE", "DELETE"):  # the history of an entry's description
        create_trigger(ImmutableRule("edits", statement))


def downgrade() -> None:
    for table in reversed(TABLES):
        op.drop_table(table)


def _create_moderation() -> None:
    op.create_table(
        "moderation",
        sa.Column("submission_id", sa.Text(), nullable=False),
        sa.Column("hidden_at", sa.Double(), nullable=True),
        sa.Column("withdrawn_at", sa.Double(), nullable=True),
        sa.Column("withdrawn_reason", sa.Text(), nullable=True),
        sa.Column("verified_at", sa.Double(), nullable=True),
        sa.Column("flag", sa.Text(), nullable=True),
        sa.Column("merged_into", sa.Text(), nullable=True),
        sa.Column("merged_at", sa.Double(), nullable=True),
        sa.CheckConstraint("(merged_at IS NULL) = (merged_into IS NULL)", name=op.f("ck_moderation_merged")),
        sa.CheckConstraint("(withdrawn_at IS NULL) = (withdrawn_reason IS NULL)", name=op.f("ck_moderation_withdrawn")),
        sa.CheckConstraint("length(flag) BETWEEN 1 AND 500", name=op.f("ck_moderation_flag")),
        sa.CheckConstraint("length(withdrawn_reason) BETWEEN 1 AND 500", name=op.f("ck_moderation_withdrawn_reason")),
        sa.CheckConstraint("merged_into <> submission_id", name=op.f("ck_moderation_merged_into")),
        sa.ForeignKeyConstraint(["merged_into"], ["submissions.id"], name=op.f("fk_moderation_merged_into")),
        sa.ForeignKeyConstraint(["submission_id"], ["submissions.id"], name=op.f("fk_moderation_submission_id")),
        sa.PrimaryKeyConstraint("submission_id", name=op.f("pk_moderation")),
    )
    op.create_index("ix_moderation_merged_into", "moderation", ["merged_into"], unique=False)


def _create_edits() -> None:
    op.create_table(
        "edits",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("submission_id", sa.Text(), nullable=False),
        sa.Column("editor", sa.Text(), nullable=False),
        sa.Column("was", sa.JSON(), nullable=False),
        sa.Column("became", sa.JSON(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.CheckConstraint("length(editor) BETWEEN 1 AND 200", name=op.f("ck_edits_editor")),
        sa.ForeignKeyConstraint(["submission_id"], ["submissions.id"], name=op.f("fk_edits_submission_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_edits")),
    )
    op.create_index("ix_edits_submission_id", "edits", ["submission_id"], unique=False)


def _create_switches() -> None:
    op.create_table(
        "switches",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("since", sa.Double(), nullable=False),
        sa.CheckConstraint("length(message) BETWEEN 1 AND 500", name=op.f("ck_switches_message")),
        sa.CheckConstraint("length(name) BETWEEN 1 AND 64", name=op.f("ck_switches_name")),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_switches")),
    )


def _create_tasks() -> None:
    op.create_table(
        "tasks",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("params", sa.JSON(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("requested_by", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("progress", sa.Integer(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=True),
        sa.Column("result", sa.Text(), nullable=True),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("worker", sa.Text(), nullable=True),
        sa.Column("lease_until", sa.Double(), nullable=True),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("started_at", sa.Double(), nullable=True),
        sa.Column("finished_at", sa.Double(), nullable=True),
        sa.CheckConstraint("(state = 'done') = (result IS NOT NULL)", name=op.f("ck_tasks_result")),
        sa.CheckConstraint("(state = 'running') = (lease_until IS NOT NULL)", name=op.f("ck_tasks_lease")),
        sa.CheckConstraint("(state IN ('done', 'failed')) = (finished_at IS NOT NULL)", name=op.f("ck_tasks_finished")),
        sa.CheckConstraint("state <> 'failed' OR length(outcome) > 0", name=op.f("ck_tasks_explained")),
        sa.CheckConstraint("state IN ('queued', 'running', 'done', 'failed')", name=op.f("ck_tasks_state")),
        sa.CheckConstraint("attempts >= 0 AND epoch >= attempts AND progress >= 0", name=op.f("ck_tasks_counters")),
        sa.CheckConstraint("length(kind) BETWEEN 1 AND 64", name=op.f("ck_tasks_kind")),
        sa.CheckConstraint("length(subject) BETWEEN 1 AND 64", name=op.f("ck_tasks_subject")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tasks")),
    )
    op.create_index(
        "uq_tasks_open",
        "tasks",
        ["kind", "subject"],
        unique=True,
        sqlite_where=sa.text("state IN ('queued', 'running')"),
        postgresql_where=sa.text("state IN ('queued', 'running')"),
    )
    op.create_index(
        "uq_tasks_open_apply",
        "tasks",
        ["kind"],
        unique=True,
        sqlite_where=sa.text("kind = 'rescore.apply' AND state IN ('queued', 'running')"),
        postgresql_where=sa.text("kind = 'rescore.apply' AND state IN ('queued', 'running')"),
    )


def _create_imported_labels() -> None:
    op.create_table(
        "imported_labels",
        sa.Column("revision", sa.Text(), nullable=False),
        sa.Column("benchmark", sa.Text(), nullable=False),
        sa.Column("disclosure", sa.Text(), nullable=False),
        sa.Column("spec", sa.Text(), nullable=False),
        sa.Column("items", sa.Integer(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("commitment", sa.Text(), nullable=False),
        sa.Column("difference", sa.JSON(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("requested_by", sa.Text(), nullable=False),
        sa.Column("imported_at", sa.Double(), nullable=False),
        sa.Column("published_at", sa.Double(), nullable=True),
        sa.Column("retired_at", sa.Double(), nullable=True),
        sa.Column("salt", sa.Text(), nullable=True),
        sa.CheckConstraint("(retired_at IS NULL) = (salt IS NULL)", name=op.f("ck_imported_labels_retired")),
        sa.CheckConstraint("disclosure IN ('public', 'hidden')", name=op.f("ck_imported_labels_disclosure")),
        sa.CheckConstraint("items > 0", name=op.f("ck_imported_labels_items")),
        sa.CheckConstraint("length(benchmark) BETWEEN 1 AND 64", name=op.f("ck_imported_labels_benchmark")),
        sa.CheckConstraint(
            "length(commitment) = 64 AND commitment = lower(commitment)", name=op.f("ck_imported_labels_commitment")
        ),
        sa.CheckConstraint("length(digest) = 64 AND digest = lower(digest)", name=op.f("ck_imported_labels_digest")),
        sa.CheckConstraint("length(revision) BETWEEN 1 AND 64", name=op.f("ck_imported_labels_revision")),
        sa.CheckConstraint("length(salt) = 64 AND salt = lower(salt)", name=op.f("ck_imported_labels_salt")),
        sa.PrimaryKeyConstraint("revision", name=op.f("pk_imported_labels")),
    )
