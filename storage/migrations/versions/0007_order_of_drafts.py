"""The response that the model of a draft label saw first; and pools, where a database of the first release has none."""

from importlib import import_module

import sqlalchemy as sa
from alembic import op

from storage.migrations.triggers import ImmutableRule, create_trigger

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

POOL_TABLES = (
    "pools",
    "pool_candidates",
    "verification_first_answers",
    "verification_gold",
    "verification_adjudicators",
    "verification_adjudications",
)

GONE = ("suspicions", "watch", "weak_hiding", "outgoing_webhooks", "webhooks")
"""Tables of earlier releases that no program reads any more."""


def upgrade() -> None:
    for table in filter(sa.inspect(op.get_bind()).has_table, GONE):
        op.drop_table(table)
    if not sa.inspect(op.get_bind()).has_table("pools"):
        _create_pools()
    rule = sa.CheckConstraint("draft_shown_first IN ('a', 'b')", name=op.f("ck_pool_candidates_draft_shown_first"))
    op.add_column("pool_candidates", sa.Column("draft_shown_first", sa.Text(), rule, nullable=True))


def downgrade() -> None:
    op.drop_column("pool_candidates", "draft_shown_first")


def _create_pools() -> None:
    """Create what 0001 creates today and did not when the first release was made."""
    initial = import_module("storage.migrations.versions.0001_initial")
    for table in POOL_TABLES:
        initial.TABLES[table]()
    for statement in ("UPDATE", "DELETE"):
        create_trigger(ImmutableRule("verification_first_answers", statement))
    # As the rules of a column, since SQLite adds none to a table that is there.
    op.execute(
        "ALTER TABLE verification_projects ADD COLUMN pool_id INTEGER "
        "CONSTRAINT ck_verification_projects_base CHECK ((pool_id IS NULL) = (base_revision <> '')) "
        "CONSTRAINT fk_verification_projects_pool_id REFERENCES pools (id)"
    )
    op.execute(
        "ALTER TABLE verification_projects ADD COLUMN answers_wanted INTEGER "
        "CONSTRAINT ck_verification_projects_answers_wanted CHECK (answers_wanted BETWEEN 1 AND 100)"
    )
