"""Relations between judges; what the board's snapshot and relations cover."""

import sqlalchemy as sa
from alembic import op

from storage.migrations.triggers import ImmutableRule, create_trigger

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _create_relations()
    op.add_column("snapshots", sa.Column("content_sha256", sa.Text(), nullable=True))
    for name in ("shown_seq", "related_seq"):
        op.add_column("board", sa.Column(name, sa.Integer(), nullable=False, server_default="0"))
    for statement in ("UPDATE", "DELETE"):
        create_trigger(ImmutableRule("relations", statement))


def downgrade() -> None:
    for name in ("related_seq", "shown_seq"):
        op.drop_column("board", name)
    op.drop_column("snapshots", "content_sha256")
    op.drop_table("relations")


def _create_relations() -> None:
    op.create_table(
        "relations",
        sa.Column("inputs", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("label_revision", sa.Text(), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.CheckConstraint("length(body) > 0", name=op.f("ck_relations_body")),
        sa.CheckConstraint("length(id) = 64 AND id = lower(id)", name=op.f("ck_relations_id")),
        sa.CheckConstraint("length(inputs) = 64 AND inputs = lower(inputs)", name=op.f("ck_relations_inputs")),
        sa.CheckConstraint("substr(summary, 1, 1) = '{'", name=op.f("ck_relations_summary")),
        sa.ForeignKeyConstraint(["label_revision"], ["label_sets.revision"], name=op.f("fk_relations_label_revision")),
        sa.PrimaryKeyConstraint("inputs", name=op.f("pk_relations")),
    )
    op.create_index("ix_relations_id", "relations", ["id"], unique=False)
