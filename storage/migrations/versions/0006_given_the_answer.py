"""Reported results of judges that were given a part of the answer."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    rule = sa.CheckConstraint("oracle IN (0, 1)", name=op.f("ck_reported_results_oracle"))
    sqlite = op.get_bind().dialect.name != "postgresql"
    op.add_column("reported_results", sa.Column("oracle", sa.Boolean(), *([rule] if sqlite else []), nullable=True))
