"""Salts of the commitments by which audit events hold submissions and scores."""

import sqlalchemy as sa
from alembic import op

from storage.migrations.refusals import Refusal, allow, refuse

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

WRITTEN_ONCE = Refusal("submissions", "UPDATE", ("salt",), what="other_salt")  # scores refuse every UPDATE


def upgrade() -> None:
    for table in ("submissions", "scores"):
        op.add_column(table, sa.Column("salt", sa.Text))
    refuse(WRITTEN_ONCE)


def downgrade() -> None:
    allow(WRITTEN_ONCE)
    for table in ("submissions", "scores"):
        op.drop_column(table, "salt")
