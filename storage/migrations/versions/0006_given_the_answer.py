"""Reported results of judges that were given a part of the answer."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("reported_results", sa.Column("oracle", sa.Boolean(), nullable=True))


def downgrade() -> None:
    op.drop_column("reported_results", "oracle")
