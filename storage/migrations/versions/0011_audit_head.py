"""The row that holds the audit chain's end cannot be removed: without it nothing says whether later events are gone."""

from storage.migrations.triggers import ImmutableRule, create_trigger, drop_trigger

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

REFUSED = (ImmutableRule("audit_head", "DELETE"), ImmutableRule("audit_head", "TRUNCATE"))


def upgrade() -> None:
    for one in REFUSED:
        create_trigger(one)


def downgrade() -> None:
    for one in REFUSED:
        drop_trigger(one)
