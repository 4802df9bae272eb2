"""One annotation queue, without pools, drafts and adjudication; the response that was shown first in each vote; other
names of disclosure levels; and no stored receipts.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import sqlalchemy as sa
from alembic import op

from storage.migrations.triggers import ImmutableRule, create_replace_trigger, create_trigger

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

GONE = (
    "suspicions",
    "watch",
    "weak_hiding",
    "outgoing_webhooks",
    "webhooks",
    "maintainer_digests",
    "receipt_keys",
    "verification_first_answers",
    "verification_gold",
    "verification_adjudications",
    "verification_adjudicators",
    "pool_candidates",
)
"""Tables of earlier releases that no program reads any more, and pools, which projects referred to."""

QUEUE = ("verification_projects", "verification_annotators", "verification_items", "verification_answers")
ORDERS = "verification_orders"
VOTE_ORDERS = ImmutableRule("submissions", "UPDATE", ("orders",), what="update_of_orders")
ANSWERS = 2
"""Answers that a pair needs in a project that did not say so."""

LEVELS = {"stated_levels": "level", "imported_labels": "disclosure"}
"""Tables with a column of disclosure levels."""
RENAMED = {"categories": "hidden:categories", "overall": "hidden"}

Rows = Mapping[str, Sequence[Mapping[str, Any]]]


def upgrade() -> None:
    schema = sa.inspect(op.get_bind())
    known = {column["name"] for column in schema.get_columns("verification_items")}
    rows = None if "gold" in known else _read_queue(schema)
    old = (*GONE, *(() if rows is None else (ORDERS, *reversed(QUEUE))), "pools")
    for table in filter(schema.has_table, old):
        op.drop_table(table)
    if any(column["name"] == "receipt" for column in schema.get_columns("submissions")):
        _drop_receipts()
    if rows is not None:
        _create_queue(rows)
    rule = sa.CheckConstraint("length(orders) > 0", name=op.f("ck_submissions_orders"))
    op.add_column("submissions", sa.Column("orders", sa.LargeBinary(), rule, nullable=True))
    create_trigger(VOTE_ORDERS)
    if "measured" not in {column["name"] for column in schema.get_columns("stated_levels")}:
        _rename_levels()


def downgrade() -> None:
    """Keep the queue: 0001 and 0003 create it as it is here."""
    of_table = " ON submissions" if op.get_bind().dialect.name == "postgresql" else ""
    op.execute(f"DROP TRIGGER {VOTE_ORDERS.name}{of_table}")
    op.drop_column("submissions", "orders")


def _drop_receipts() -> None:
    """Receipts are derived from events."""
    table = " ON submissions" if op.get_bind().dialect.name == "postgresql" else ""
    op.execute(f"DROP TRIGGER submissions_no_other_receipt{table}")
    op.drop_column("submissions", "receipt")


def _read_queue(schema: sa.Inspector) -> Rows:
    """Return the rows of projects about labels; those about candidates of a pool go with it."""
    rows = {table: _rows(table) for table in (*QUEUE, ORDERS)}
    projects = [project for project in rows["verification_projects"] if project["base_revision"]]
    kept = {project["id"] for project in projects}
    gold = _rows("verification_gold") if schema.has_table("verification_gold") else []
    verdicts = {(row["project_id"], row["item"]): row["verdict"] for row in gold}
    result = {
        table: [
            {**row, "left_out": False, "gold": verdicts.get((row["project_id"], row.get("item")))}
            for row in own
            if row["project_id"] in kept
        ]
        for table, own in rows.items()
        if table != "verification_projects"
    }
    wanted = [
        {**project, "guidelines": "", "folder": "", "answers_wanted": project.get("answers_wanted") or ANSWERS}
        for project in projects
    ]
    return {"verification_projects": wanted, **result}


def _rows(table: str) -> list[dict[str, Any]]:
    bind = op.get_bind()
    columns = sa.Table(table, sa.MetaData(), autoload_with=bind)
    return [dict(row) for row in bind.execute(sa.select(columns)).mappings()]


def _rename_levels() -> None:
    """Make the tables with disclosure levels anew; SQLite changes no rule of a table that is there."""
    initial = import_module("storage.migrations.versions.0001_initial")
    for table, column in LEVELS.items():
        rows = [{**row, column: RENAMED.get(row[column], row[column])} for row in _rows(table)]
        op.drop_table(table)
        initial.TABLES[table]()
        op.bulk_insert(sa.Table(table, sa.MetaData(), autoload_with=op.get_bind()), rows)
    for rule in initial.RULES:
        if rule.table in LEVELS:
            create_trigger(rule)
    create_replace_trigger("imported_labels", *initial.KEYS["imported_labels"])
    if op.get_bind().dialect.name == "postgresql":
        op.execute(f"DROP FUNCTION {initial.REGISTERED}()")
    initial.refuse_registered()


def _create_queue(rows: Rows) -> None:
    """Create what 0001 and 0003 create today; SQLite changes no rule of a table that is there."""
    versions = "storage.migrations.versions"
    for table in QUEUE:
        import_module(f"{versions}.0001_initial").TABLES[table]()
    import_module(f"{versions}.0003_shown_orders").upgrade()
    for table in (*QUEUE, ORDERS):
        made = sa.Table(table, sa.MetaData(), autoload_with=op.get_bind())
        names = {column.name for column in made.c}
        op.bulk_insert(made, [{name: value for name, value in row.items() if name in names} for row in rows[table]])
    if op.get_bind().dialect.name == "postgresql":
        _set_next_number()


def _set_next_number() -> None:
    """Let PostgreSQL number new projects after those that were inserted with their numbers."""
    number = sa.column("id", sa.Integer)
    sequence = sa.func.pg_get_serial_sequence("verification_projects", "id")
    last = sa.func.coalesce(sa.func.max(number), 1)
    op.execute(
        sa.select(sa.func.setval(sequence, last, sa.func.count() > 0)).select_from(
            sa.table("verification_projects", number)
        )
    )
