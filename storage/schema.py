"""Tables, indexes and triggers of a new database. Triggers refuse changes of immutable rows on both databases.

Nothing is released, so there are no migrations: a revision is a digest of all that is made, and tables of any other are
refused. It stands where Alembic would look for it, which takes over with the first release.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import NamedTuple

from sqlalchemy import Connection, insert, inspect, text
from sqlalchemy.schema import CreateIndex, CreateTable

from storage import models
from storage.models.core import Base

for _module in iter_modules(models.__path__):
    import_module(f"{models.__name__}.{_module.name}")

VERSION_TABLE = "alembic_version"
NOT_DISCLOSED = "OLD.disclosure = 'public' OR NEW.disclosure <> 'public'"


class ImmutableRule(NamedTuple):
    """A statement that a table refuses."""

    table: str
    statement: str  # UPDATE, DELETE, or TRUNCATE, which SQLite does not know
    columns: str = ""  # refused where an UPDATE names one of them; none: whatever it names
    when: str = ""  # refused for these rows alone; they are OLD
    what: str = ""  # for the name, where the table refuses the statement for two reasons

    @property
    def name(self) -> str:
        """Return the trigger's name."""
        return f"{self.table}_no_{self.what or self.statement.lower()}"


# Table -> columns that are written with the row and never again.
WRITTEN_ONCE = {
    # Not the level of disclosure, which is as the settings say.
    "label_sets": "benchmark, revision, digest, items, commitment, salt, registered_at",
    # Not published_at: applying and undoing set it. Retiring sets retired_at and salt, once.
    "imported_labels": "revision, benchmark, spec, items, digest, commitment, difference, reason, requested_by, "
    "imported_at",
    # Not the owner and the description, which both are edited, nor `attempted_at`, from which quotas are counted: the
    # event has its own.
    "submissions": "id, benchmark, content_sha256, file_name, format, revision, votes_per_item, votes, "
    "parse_rate, first_shown_rate, self_consistency, report, created_at, orders, margins, salt, attempt, "
    "attempt_revision, policy",
}
NEVER_CHANGED = ("events", "scores", *WRITTEN_ONCE)
RULES = (
    *(ImmutableRule(table, "UPDATE", WRITTEN_ONCE.get(table, "")) for table in NEVER_CHANGED),
    *(ImmutableRule(table, "DELETE") for table in NEVER_CHANGED),
    *(ImmutableRule(table, "TRUNCATE") for table in ("events", "scores", "audit_head", *WRITTEN_ONCE)),
    *(ImmutableRule(table, "UPDATE") for table in ("snapshots", "relations")),
    ImmutableRule("audit_head", "DELETE"),  # without this row nothing says whether later events are gone
    # Labels that are not public may become so, and nothing else.
    ImmutableRule("imported_labels", "UPDATE", "disclosure", NOT_DISCLOSED, "other_level"),
    ImmutableRule("imported_labels", "UPDATE", "retired_at, salt", "OLD.retired_at IS NOT NULL", "other_salt"),
)
# SQLite's REPLACE removes the old row of the same key without the triggers that refuse a DELETE.
KEYS: dict[str, tuple[tuple[str, ...], ...]] = {
    "events": (("seq",), ("prev_hash",)),
    "scores": (("id",), ("submission_id", "label_revision", "scorer_version")),
    "label_sets": (("benchmark", "revision"),),
    "imported_labels": (("benchmark", "revision"),),
    "submissions": (("id",), ("benchmark", "owner", "content_sha256"), ("benchmark", "owner", "model", "version")),
}


@cache
def revision() -> str:
    """Return the revision that these models and triggers are."""
    made = [str(CreateTable(table)) for table in Base.metadata.sorted_tables]
    made += sorted(str(CreateIndex(index)) for table in Base.metadata.sorted_tables for index in table.indexes)
    digest = hashlib.sha256("\n".join((*made, *postgresql_triggers())).encode())
    return f"initial_{digest.hexdigest()[:16]}"


def revision_of(connection: Connection) -> str | None:
    """Return the revision of a database; None where nothing is made yet."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    return str(connection.scalar(text(f"SELECT version_num FROM {VERSION_TABLE}")))  # noqa: S608 - a constant name


def create(connection: Connection) -> None:
    """Make everything in the caller's transaction."""
    Base.metadata.create_all(connection)
    connection.execute(insert(Base.metadata.tables["audit_head"]).values(id=1, seq=0, hash="0" * 64))
    for statement in postgresql_triggers() if connection.dialect.name == "postgresql" else sqlite_triggers():
        connection.execute(text(statement))
    connection.exec_driver_sql(f"CREATE TABLE {VERSION_TABLE} (version_num VARCHAR(32) PRIMARY KEY)")
    connection.execute(text(f"INSERT INTO {VERSION_TABLE} VALUES (:revision)"), {"revision": revision()})  # noqa: S608


def sqlite_triggers() -> Iterator[str]:
    """Yield the statements that make the triggers on SQLite."""
    for rule in RULES:
        if rule.statement != "TRUNCATE":
            when = f"FOR EACH ROW WHEN ({rule.when}) " if rule.when else ""
            yield f"{_begin(rule)}{when}{_abort(rule.table)}"
    for table, keys in KEYS.items():
        same = " OR ".join(f"({' AND '.join(f'{column} = NEW.{column}' for column in key)})" for key in keys)
        exists = f"EXISTS (SELECT 1 FROM {table} WHERE {same})"  # noqa: S608 - constant names
        yield f"CREATE TRIGGER {table}_no_replace BEFORE INSERT ON {table} WHEN {exists} {_abort(table)}"


def postgresql_triggers() -> Iterator[str]:
    """Yield the statements that make the triggers on PostgreSQL, and the functions that these call."""
    refuse = "RAISE EXCEPTION '% may not be changed', TG_TABLE_NAME;"
    yield f"CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {refuse} END $$"
    for rule in RULES:
        each = f"FOR EACH ROW WHEN ({rule.when})" if rule.when else "FOR EACH STATEMENT"
        yield f"{_begin(rule)}{each} EXECUTE FUNCTION refuse_change()"


def _begin(rule: ImmutableRule) -> str:
    of = f" OF {rule.columns}" if rule.columns else ""
    return f"CREATE TRIGGER {rule.name} BEFORE {rule.statement}{of} ON {rule.table} "


def _abort(table: str) -> str:
    return f"BEGIN SELECT RAISE(ABORT, '{table} may not be changed'); END"
