"""Judge of an entry or a reported result, reporter of a result, and policies as judges."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

TYPES = "'generative-pairwise', 'generative-pointwise', 'scalar', 'critic'"
POLICY = ", 'policy-as-judge'"
# Table -> its new columns, and what they may hold.
COLUMNS = {
    "submissions": {"judge": "length(judge) <= 200"},
    "reported_results": {
        "judge_name": "length(judge_name) <= 200",
        "reported_by": "reported_by IN ('authors', 'benchmark', 'others')",
    },
}


def upgrade() -> None:
    for table, columns in COLUMNS.items():
        for name, rule in columns.items():
            check = f"CONSTRAINT ck_{table}_{name} CHECK ({rule})"
            op.execute(f"ALTER TABLE {table} ADD COLUMN {name} TEXT {check}")
        _change_types(table, TYPES, TYPES + POLICY)


def downgrade() -> None:
    for table, columns in COLUMNS.items():
        _change_types(table, TYPES + POLICY, TYPES)
        for name in reversed(columns):
            op.execute(f"ALTER TABLE {table} DROP COLUMN {name}")


def _change_types(table: str, before: str, after: str) -> None:
    rule = "judge_type IN ({})"
    if op.get_bind().dialect.name == "postgresql":
        name = f"ck_{table}_judge_type"
        op.drop_constraint(op.f(name), table, type_="check")
        op.create_check_constraint(op.f(name), table, rule.format(after))
    else:
        _rewrite(table, rule.format(before), rule.format(after))


def _rewrite(table: str, before: str, after: str) -> None:
    """Change a check as https://www.sqlite.org/lang_altertable.html (7) does where no stored content changes.

    A new table would lose its triggers, and dropping the old one would delete rows that others refer to.
    """
    connection = op.get_bind()
    version = connection.execute(sa.text("PRAGMA schema_version")).scalar_one()
    connection.execute(sa.text("PRAGMA writable_schema = ON"))
    connection.execute(
        sa.text("UPDATE sqlite_master SET sql = replace(sql, :before, :after) WHERE type = 'table' AND name = :table"),
        {"before": before, "after": after, "table": table},
    )
    connection.execute(sa.text(f"PRAGMA schema_version = {version + 1}"))
    connection.execute(sa.text("PRAGMA writable_schema = RESET"))
