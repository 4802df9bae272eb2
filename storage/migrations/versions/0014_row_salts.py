"""Salts of the commitments by which audit events hold submissions and scores."""

import sqlalchemy as sa
from alembic import op

from storage.migrations.triggers import ImmutableRule, create_trigger, drop_trigger

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

WRITTEN_ONCE = ImmutableRule("submissions", "UPDATE", ("salt",), what="other_salt")  # scores refuse every UPDATE


def upgrade() -> None:
    for table in ("submissions", "scores"):
        op.add_column(table, sa.Column("salt", sa.Text))
    create_trigger(WRITTEN_ONCE)


def downgrade() -> None:
    drop_trigger(WRITTEN_ONCE)
    for table in ("submissions", "scores"):
        op.drop_column(table, "salt")
