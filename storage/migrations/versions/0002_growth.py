"""Snapshots and relations as differences to earlier ones; both may be thinned out. Usage of rate limits."""

import sqlalchemy as sa
from alembic import op

from storage.migrations.triggers import ImmutableRule, create_trigger

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

TABLES = ("snapshots", "relations")
NO_DELETE = ImmutableRule("relations", "DELETE")


def upgrade() -> None:
    for table in TABLES:
        op.add_column(table, sa.Column("series", sa.Text(), nullable=True))
        op.add_column(table, sa.Column("number", sa.Integer(), nullable=True))
        op.add_column(table, sa.Column("base", sa.Text(), nullable=True))
        op.create_index(f"ix_{table}_series_number", table, ["series", "number"], unique=True)
    op.add_column("snapshots", sa.Column("relation_ids", sa.JSON(), nullable=True))
    op.create_table(
        "thinned_snapshots",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("benchmark", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.CheckConstraint("length(id) = 64 AND id = lower(id)", name=op.f("ck_thinned_snapshots_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_thinned_snapshots")),
    )
    op.create_index("ix_thinned_snapshots_benchmark", "thinned_snapshots", ["benchmark"])
    op.create_table(
        "rate_usage",
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("used_until", sa.Double(), nullable=False),
        sa.CheckConstraint("length(place) BETWEEN 1 AND 200", name=op.f("ck_rate_usage_place")),
        sa.PrimaryKeyConstraint("place", name=op.f("pk_rate_usage")),
    )
    of = " ON relations" if op.get_bind().dialect.name == "postgresql" else ""
    op.execute(f"DROP TRIGGER {NO_DELETE.name}{of}")


def downgrade() -> None:
    """Only where nothing is stored as a difference: an older release could not read it."""
    for table in TABLES:
        stored = sa.table(table, sa.column("base"))
        if op.get_bind().execute(sa.select(stored.c.base).where(stored.c.base.is_not(None)).limit(1)).first():
            raise RuntimeError(f"{table} holds differences, which an older release cannot read")
    create_trigger(NO_DELETE)
    op.drop_table("rate_usage")
    op.drop_table("thinned_snapshots")
    op.drop_column("snapshots", "relation_ids")
    for table in reversed(TABLES):
        op.drop_index(f"ix_{table}_series_number", table)
        for column in ("base", "number", "series"):
            op.drop_column(table, column)
