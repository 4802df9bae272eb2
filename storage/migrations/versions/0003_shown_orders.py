"""The response of a pair that each annotator sees first."""

import sqlalchemy as sa
from alembic import op

from storage.migrations.triggers import ImmutableRule, create_replace_trigger, create_trigger

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

TABLE = "verification_orders"
KEY = ("project_id", "account", "item")


def upgrade() -> None:
    op.create_table(
        TABLE,
        sa.Column("project_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("item", sa.Text(), nullable=False),
        sa.Column("shown_first", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.CheckConstraint("length(account) BETWEEN 1 AND 200", name=op.f("ck_verification_orders_account")),
        sa.CheckConstraint("shown_first IN ('a', 'b')", name=op.f("ck_verification_orders_shown_first")),
        sa.ForeignKeyConstraint(
            ["project_id", "item"],
            ["verification_items.project_id", "verification_items.item"],
            name=op.f("fk_verification_orders_project_id_item"),
        ),
        sa.PrimaryKeyConstraint(*KEY, name=op.f("pk_verification_orders")),
    )
    for statement in ("UPDATE", "DELETE"):
        create_trigger(ImmutableRule(TABLE, statement))
    create_replace_trigger(TABLE, KEY)


def downgrade() -> None:
    op.drop_table(TABLE)
