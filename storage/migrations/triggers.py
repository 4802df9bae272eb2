"""Triggers that refuse changes of immutable rows, for the migration: the same rules on both databases."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

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


# Table -> columns that are written with the row and never again; none named: all of them.
WRITTEN_ONCE = {
    "label_sets": "",
    # Not published_at: applying and undoing set it. Retiring sets retired_at and salt, once.
    "imported_labels": "revision, benchmark, spec, items, digest, commitment, difference, reason, requested_by, "
    "imported_at",
    # Not the owner and the description, which both are edited.
    "submissions": "id, benchmark, content_sha256, size_bytes, file_name, format, revision, votes_per_item, votes, "
    "parse_rate, first_shown_rate, self_consistency, report, created_at, orders, margins, salt",
    # Not `at`, from which quotas are counted: the event has its own.
    "attempts": "submission_id, label_revision, number, policy",
}
NEVER_CHANGED = ("events", "scores", "edits", *WRITTEN_ONCE)
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
    "attempts": (("submission_id",),),
}


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
