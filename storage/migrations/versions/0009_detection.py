"""Tables of anomaly detection: cases, and the progress of the search."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "suspicions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("submission_id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("evidence", sa.JSON(), nullable=False),
        sa.Column("found_at", sa.Double(), nullable=False),
        sa.Column("decision", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("decided_by", sa.Text(), nullable=True),
        sa.Column("decided_at", sa.Double(), nullable=True),
        sa.CheckConstraint(
            "kind IN ('above-best-known', 'near-equal-categories', 'identical-texts', 'empty-texts', 'near-duplicate')",
            name=op.f("ck_suspicions_kind"),
        ),
        sa.CheckConstraint("length(subject) <= 64", name=op.f("ck_suspicions_subject")),
        sa.CheckConstraint("decision IN ('dismissed', 'acted-on')", name=op.f("ck_suspicions_decision")),
        sa.CheckConstraint("(decision IS NULL) = (decided_at IS NULL)", name=op.f("ck_suspicions_decided")),
        sa.CheckConstraint(
            "(decision IS NULL) = (reason IS NULL) AND (decision IS NULL) = (decided_by IS NULL)",
            name=op.f("ck_suspicions_explained"),
        ),
        sa.CheckConstraint("length(reason) BETWEEN 1 AND 500", name=op.f("ck_suspicions_reason")),
        sa.ForeignKeyConstraint(["submission_id"], ["submissions.id"], name=op.f("fk_suspicions_submission_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_suspicions")),
        sa.UniqueConstraint("submission_id", "kind", "subject", name=op.f("uq_suspicions_submission_id_kind_subject")),
    )
    waiting = sa.text("decision IS NULL")
    op.create_index(
        "ix_suspicions_open", "suspicions", ["id"], unique=False, sqlite_where=waiting, postgresql_where=waiting
    )
    watch = op.create_table(
        "watch",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("through_seq", sa.Integer(), nullable=False),
        sa.CheckConstraint("id = 1", name=op.f("ck_watch_single")),
        sa.CheckConstraint("through_seq >= 0", name=op.f("ck_watch_through_seq")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_watch")),
    )
    op.bulk_insert(watch, [{"id": 1, "through_seq": 0}])


def downgrade() -> None:
    for table in ("watch", "suspicions"):
        op.drop_table(table)
