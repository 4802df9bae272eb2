"""The row that holds the audit chain's end cannot be removed: without it nothing says whether later events are gone."""

from storage.migrations.refusals import Refusal, allow, refuse

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

REFUSED = (Refusal("audit_head", "DELETE"), Refusal("audit_head", "TRUNCATE"))


def upgrade() -> None:
    for one in REFUSED:
        refuse(one)


def downgrade() -> None:
    for one in REFUSED:
        allow(one)
