"""The row that holds the audit chain's end cannot be removed: without it nothing says whether later events are gone."""

from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        for statement in ("DELETE", "TRUNCATE"):
            op.execute(
                f"CREATE TRIGGER audit_head_no_{statement.lower()} BEFORE {statement} ON audit_head "
                "FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
            )
    else:
        op.execute(
            "CREATE TRIGGER audit_head_no_delete BEFORE DELETE ON audit_head "
            "BEGIN SELECT RAISE(ABORT, 'audit_head may not be changed'); END"
        )


def downgrade() -> None:
    on = " ON audit_head" if op.get_bind().dialect.name == "postgresql" else ""
    for statement in ("DELETE", "TRUNCATE") if on else ("DELETE",):
        op.execute(f"DROP TRIGGER audit_head_no_{statement.lower()}{on}")
