"""What a run cost: tokens, price, time and hardware of a submission."""

from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

# Name -> type on SQLite and PostgreSQL, and the rule.
COLUMNS = {
    "tokens_in": ("BIGINT", "tokens_in >= 0 AND tokens_in <= 1000000000000000"),
    "tokens_out": ("BIGINT", "tokens_out >= 0 AND tokens_out <= 1000000000000000"),
    "price_usd": ("DOUBLE PRECISION", "price_usd >= 0 AND price_usd <= 1000000000"),
    "wall_seconds": ("DOUBLE PRECISION", "wall_seconds >= 0 AND wall_seconds <= 1000000000"),
    "hardware": ("TEXT", "length(hardware) <= 200"),
}


def upgrade() -> None:
    for name, (kind, rule) in COLUMNS.items():
        check = f"CONSTRAINT ck_submissions_{name} CHECK ({rule})"
        op.execute(f"ALTER TABLE submissions ADD COLUMN {name} {kind} {check}")


def downgrade() -> None:
    for name in reversed(COLUMNS):
        op.execute(f"ALTER TABLE submissions DROP COLUMN {name}")
