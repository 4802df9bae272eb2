"""One more pattern that maintainers should look at: files made of public labels, where others are hidden."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

BEFORE = "'above-best-known', 'near-equal-categories', 'identical-texts', 'empty-texts', 'near-duplicate'"
AFTER = f"{BEFORE}, 'public-labels'"


def upgrade() -> None:
    _allow(AFTER)


def downgrade() -> None:
    op.execute("DELETE FROM suspicions WHERE kind = 'public-labels'")
    _allow(BEFORE)


def _allow(kinds: str) -> None:
    """SQLite cannot change a constraint, so the table is made anew, and with it its partial index."""
    open_ones = sa.text("decision IS NULL")
    op.drop_index("ix_suspicions_open", table_name="suspicions")
    with op.batch_alter_table("suspicions") as table:
        table.drop_constraint(op.f("ck_suspicions_kind"), type_="check")
        table.create_check_constraint(op.f("ck_suspicions_kind"), f"kind IN ({kinds})")
    op.create_index("ix_suspicions_open", "suspicions", ["id"], sqlite_where=open_ones, postgresql_where=open_ones)
