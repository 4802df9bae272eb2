"""Label revisions that each worker holds; `health` reports a board whose labels no worker holds."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("workers", sa.Column("label_revisions", sa.JSON(), nullable=True))


def downgrade() -> None:
    op.drop_column("workers", "label_revisions")
