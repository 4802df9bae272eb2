"""The response that the model of a draft label saw first."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    if not sa.inspect(op.get_bind()).has_table("pool_candidates"):
        return  # a database of the first release
    rule = sa.CheckConstraint("draft_shown_first IN ('a', 'b')", name=op.f("ck_pool_candidates_draft_shown_first"))
    op.add_column("pool_candidates", sa.Column("draft_shown_first", sa.Text(), rule, nullable=True))


def downgrade() -> None:
    if sa.inspect(op.get_bind()).has_table("pool_candidates"):
        op.drop_column("pool_candidates", "draft_shown_first")
