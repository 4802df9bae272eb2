"""Webhooks of accounts, messages to be sent to them, and daily digests of maintainers."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

WEBHOOKS, MESSAGES, DIGESTS = "webhooks", "outgoing_webhooks", "maintainer_digests"


def _check(table: str, name: str, rule: str) -> sa.CheckConstraint:
    return sa.CheckConstraint(rule, name=op.f(f"ck_{table}_{name}"))


def _account(table: str) -> sa.ForeignKeyConstraint:
    name = op.f(f"fk_{table}_account")
    return sa.ForeignKeyConstraint(["account"], ["accounts.id"], name=name, ondelete="CASCADE")


def upgrade() -> None:
    op.create_table(
        DIGESTS,
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("seen_seq", sa.Integer(), nullable=False),
        sa.Column("due_at", sa.Double(), nullable=False),
        _check(DIGESTS, "id", "length(id) BETWEEN 20 AND 64"),
        _check(DIGESTS, "seen_seq", "seen_seq >= 0"),
        _account(DIGESTS),
        sa.PrimaryKeyConstraint("account", name=op.f(f"pk_{DIGESTS}")),
        sa.UniqueConstraint("id", name=op.f(f"uq_{DIGESTS}_id")),
    )
    op.create_table(
        WEBHOOKS,
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("address", sa.LargeBinary(), nullable=False),
        sa.Column("secret", sa.LargeBinary(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("events", sa.JSON(), nullable=False),
        sa.Column("seen_seq", sa.Integer(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("stopped_at", sa.Double(), nullable=True),
        _check(WEBHOOKS, "id", "length(id) BETWEEN 20 AND 64"),
        _check(WEBHOOKS, "language", "length(language) BETWEEN 2 AND 35"),
        _check(WEBHOOKS, "seen_seq", "seen_seq >= 0"),
        _check(WEBHOOKS, "failures", "failures >= 0"),
        _account(WEBHOOKS),
        sa.PrimaryKeyConstraint("account", name=op.f(f"pk_{WEBHOOKS}")),
        sa.UniqueConstraint("id", name=op.f(f"uq_{WEBHOOKS}_id")),
    )
    op.create_table(
        MESSAGES,
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("webhook", sa.Text(), nullable=False),
        sa.Column("message_id", sa.Text(), nullable=False),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.Column("is_test", sa.Boolean(), nullable=False),
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
        _check(MESSAGES, "state", "state IN ('queued', 'running', 'done', 'failed')"),
        _check(MESSAGES, "counters", "attempts >= 0 AND epoch >= attempts"),
        _check(MESSAGES, "lease", "(state = 'running') = (lease_until IS NOT NULL)"),
        _check(MESSAGES, "finished", "(state IN ('done', 'failed')) = (finished_at IS NOT NULL)"),
        _account(MESSAGES),
        sa.PrimaryKeyConstraint("id", name=op.f(f"pk_{MESSAGES}")),
        sa.UniqueConstraint("message_id", name=op.f(f"uq_{MESSAGES}_message_id")),
    )
    op.create_index("ix_outgoing_webhooks_state_due_at", MESSAGES, ["state", "due_at"])
    op.create_index("ix_outgoing_webhooks_account", MESSAGES, ["account"])
    op.create_index("ix_outgoing_webhooks_webhook", MESSAGES, ["webhook"])


def downgrade() -> None:
    # 0007 drops them, and makes none.
    for table in filter(sa.inspect(op.get_bind()).has_table, (MESSAGES, WEBHOOKS, DIGESTS)):
        op.drop_table(table)
