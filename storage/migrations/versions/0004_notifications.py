"""E-mail notifications: addresses of accounts, encrypted, and e-mails to be sent."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

SUBSCRIPTIONS, EMAILS = "email_subscriptions", "outgoing_emails"


def _check(table: str, name: str, rule: str) -> sa.CheckConstraint:
    return sa.CheckConstraint(rule, name=op.f(f"ck_{table}_{name}"))


def _account(table: str) -> sa.ForeignKeyConstraint:
    name = op.f(f"fk_{table}_account")
    return sa.ForeignKeyConstraint(["account"], ["accounts.id"], name=name, ondelete="CASCADE")


def upgrade() -> None:
    op.create_table(
        SUBSCRIPTIONS,
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("address", sa.LargeBinary(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("events", sa.JSON(), nullable=False),
        sa.Column("seen_seq", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("confirmed_at", sa.Double(), nullable=True),
        _check(SUBSCRIPTIONS, "id", "length(id) BETWEEN 20 AND 64"),
        _check(SUBSCRIPTIONS, "language", "length(language) BETWEEN 2 AND 35"),
        _check(SUBSCRIPTIONS, "seen_seq", "seen_seq >= 0"),
        _account(SUBSCRIPTIONS),
        sa.PrimaryKeyConstraint("account", name=op.f(f"pk_{SUBSCRIPTIONS}")),
        sa.UniqueConstraint("id", name=op.f(f"uq_{SUBSCRIPTIONS}_id")),
    )
    op.create_table(
        EMAILS,
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("subscription", sa.Text(), nullable=False),
        sa.Column("address_key", sa.Text(), nullable=False),
        sa.Column("through_seq", sa.Integer(), nullable=False),
        sa.Column("lines", sa.JSON(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("worker", sa.Text(), nullable=True),
        sa.Column("lease_until", sa.Double(), nullable=True),
        sa.Column("due_at", sa.Double(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("started_at", sa.Double(), nullable=True),
        sa.Column("finished_at", sa.Double(), nullable=True),
        _check(EMAILS, "address_key", "length(address_key) = 64"),
        _check(EMAILS, "state", "state IN ('queued', 'running', 'done', 'failed')"),
        _check(EMAILS, "counters", "attempts >= 0 AND epoch >= attempts"),
        _check(EMAILS, "lease", "(state = 'running') = (lease_until IS NOT NULL)"),
        _check(EMAILS, "finished", "(state IN ('done', 'failed')) = (finished_at IS NOT NULL)"),
        _account(EMAILS),
        sa.PrimaryKeyConstraint("id", name=op.f(f"pk_{EMAILS}")),
        sa.UniqueConstraint("subscription", "through_seq", name=op.f(f"uq_{EMAILS}_subscription_through_seq")),
    )
    op.create_index("ix_outgoing_emails_state_due_at", EMAILS, ["state", "due_at"])
    op.create_index("ix_outgoing_emails_account", EMAILS, ["account"])
    op.create_index("ix_outgoing_emails_address_key", EMAILS, ["address_key"])


def downgrade() -> None:
    op.drop_table(EMAILS)
    op.drop_table(SUBSCRIPTIONS)
