"""Tables of quotas: attempts, and the accounts and organisations charged for each."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "quota_subjects",
        sa.Column("subject", sa.Text(), nullable=False),
        sa.CheckConstraint("length(subject) BETWEEN 1 AND 300", name=op.f("ck_quota_subjects_subject")),
        sa.PrimaryKeyConstraint("subject", name=op.f("pk_quota_subjects")),
    )
    op.create_table(
        "attempts",
        sa.Column("submission_id", sa.Text(), nullable=False),
        sa.Column("label_revision", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("policy", sa.JSON(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.CheckConstraint("length(label_revision) BETWEEN 1 AND 64", name=op.f("ck_attempts_label_revision")),
        sa.CheckConstraint("number > 0", name=op.f("ck_attempts_number")),
        sa.ForeignKeyConstraint(["submission_id"], ["submissions.id"], name=op.f("fk_attempts_submission_id")),
        sa.PrimaryKeyConstraint("submission_id", name=op.f("pk_attempts")),
    )
    op.create_table(
        "charges",
        sa.Column("submission_id", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["submission_id"], ["attempts.submission_id"], name=op.f("fk_charges_submission_id")),
        sa.ForeignKeyConstraint(["subject"], ["quota_subjects.subject"], name=op.f("fk_charges_subject")),
        sa.PrimaryKeyConstraint("submission_id", "subject", name=op.f("pk_charges")),
    )
    op.create_index("ix_charges_subject", "charges", ["subject"], unique=False)


def downgrade() -> None:
    for table in ("charges", "attempts", "quota_subjects"):
        op.drop_table(table)
