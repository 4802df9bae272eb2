"""Triggers against changes of immutable rows, for migrations: the same rule on both databases.

On PostgreSQL they call refuse_change(), which the first migration makes. What these functions make must stay as it is:
databases that have a migration behind them do not run it again.
"""

from __future__ import annotations

from typing import NamedTuple

from alembic import op


class ImmutableRule(NamedTuple):
    """A statement that a table refuses."""

    table: str
    statement: str  # UPDATE, DELETE, or TRUNCATE, which SQLite does not know
    columns: tuple[str, ...] = ()  # refused where an UPDATE names one of them; none: whatever it names
    when: str = ""  # refused for these rows alone; they are OLD
    what: str = ""  # for the name, where the table refuses the statement for two reasons

    @property
    def name(self) -> str:
        """Return the trigger's name."""
        return f"{self.table}_no_{self.what or self.statement.lower()}"


def create_trigger(immutable_rule: ImmutableRule) -> None:
    """Make the trigger."""
    of = f" OF {', '.join(immutable_rule.columns)}" if immutable_rule.columns else ""
    begin = f"CREATE TRIGGER {immutable_rule.name} BEFORE {immutable_rule.statement}{of} ON {immutable_rule.table} "
    when = f"FOR EACH ROW WHEN ({immutable_rule.when}) " if immutable_rule.when else ""
    if _postgresql():
        op.execute(f"{begin}{when or 'FOR EACH STATEMENT '}EXECUTE FUNCTION refuse_change()")
    elif immutable_rule.statement != "TRUNCATE":
        op.execute(f"{begin}{when}{_abort(immutable_rule.table)}")


def create_replace_trigger(table: str, *keys: tuple[str, ...]) -> None:
    """Refuse REPLACE on SQLite: it removes the old row of the same key without the triggers that refuse a DELETE."""
    if not _postgresql():
        same = " OR ".join(_same(key) for key in keys)
        known = f"EXISTS (SELECT 1 FROM {table} WHERE {same})"  # noqa: S608 - names that migrations write
        op.execute(f"CREATE TRIGGER {table}_no_replace BEFORE INSERT ON {table} WHEN {known} {_abort(table)}")


def _postgresql() -> bool:
    return op.get_bind().dialect.name == "postgresql"


def _abort(table: str) -> str:
    return f"BEGIN SELECT RAISE(ABORT, '{table} may not be changed'); END"


def _same(key: tuple[str, ...]) -> str:
    rule = " AND ".join(f"{column} = NEW.{column}" for column in key)
    return f"({rule})" if len(key) > 1 else rule
